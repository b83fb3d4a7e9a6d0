"""Dataset readers: one file per layout, named as the layout."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Literal, Protocol, TypeAlias, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from pytest_xling.records import Sample

Pair: TypeAlias = Literal["id", "parallel_id", "line"]
"""By what the versions of a question in several languages are known to belong together."""

Column: TypeAlias = "str | tuple[str, ...] | Mapping[str, str]"
"""A column, some columns together, or a column by language code; ``{language}`` in a name stands
for how the data spell a language."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DataMap:
    """Where the rows are, and which columns the fields are in: ``data:`` of prompts.yaml."""

    columns: Mapping[str, Column] = field(default_factory=dict)
    """By field; empty where the data's own names are meant."""
    file: str | Mapping[str, str] = ""
    """One with ``{language}`` in its path, or one by language code."""
    hub: str = ""
    """The name of a Hugging Face data set, or its folder."""
    subset: str | Mapping[str, str] = ""
    split: str | Mapping[str, str] = ""
    revision: str = ""
    header: bool = True
    """Whether CSV and TSV have a row of names; else columns are called 1, 2, 3."""
    quotes: bool = True
    """Whether a cell of CSV and TSV may stand in quotation marks."""
    pair: Pair | None = None
    prompt: frozenset[str] = frozenset()
    """Further columns that templates name."""
    origin: Mapping[str, str] = field(default_factory=dict)
    """By key, where it is written: ``prompts.yaml:3: data.question``."""


class DatasetReader(Protocol):
    """Reads the samples of one layout."""

    name: ClassVar[str]

    @staticmethod
    def recognises(path: Path) -> bool:
        """Tell whether *path* has this layout, by its names only."""
        ...

    @staticmethod
    def languages(path: Path) -> tuple[str, ...]:
        """Return the codes of the languages *path* has data for, sorted."""
        ...

    @staticmethod
    def read(path: Path, *, benchmark: str, languages: Sequence[str]) -> list[Sample]:
        """Return the samples of *languages*, in data order.

        Raises:
            DataError: names the file, the line and the fix.
        """
        ...


@runtime_checkable
class Notices(Protocol):
    """A reader that can tell what is odd about its data without being wrong."""

    @staticmethod
    def notices(path: Path, *, languages: Sequence[str]) -> list[str]:
        """Return what a user should know of the data of *languages*, a short line each.

        Raises:
            DataError: names the file, the line and the fix.
        """
        ...


@runtime_checkable
class Mappable(Protocol):
    """A reader whose columns prompts.yaml may name."""

    def mapped(self, data: DataMap) -> DatasetReader:
        """Return the reader that reads as *data* says."""
        ...
