"""Importers: each reads one layout of questions, answers or both, which others made."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias

from pytest_xling.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from pathlib import Path

    from pytest_xling.records import Sample, StopReason

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
    layout: str = ""
    """The importer that reads them; empty where they are tables."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A model's answer to a question, stored in a foreign layout."""

    place: str
    """Where it stands, for messages."""
    sample_id: str
    language: str
    model: str
    text: str | None
    """None where the model gave none."""
    stop_reason: StopReason = "stop"
    error: str = ""
    """What the model's API said instead of answering."""
    number: str | None = ""
    """Which of several responses to the question it is; None: they count in the order they come.
    Empty where the layout has one response a question."""
    repair: str = ""
    """What is not as it was stored, in some words; repairs are counted by them."""


class Importer:
    """Reads one layout. Questions get their benchmark's name when they are read for one."""

    name: ClassVar[str]

    def recognises(self, path: Path) -> bool:
        """Tell whether *path* has this layout, by its names only."""
        raise NotImplementedError

    def questions(
        self, path: Path, *, languages: Collection[str] | None = None
    ) -> Iterable[Sample]:
        """Yield the questions at *path*, each language's in data order.

        Args:
            path: a file or a folder.
            languages: codes of those that are needed, which others may cost time; None: all.

        Raises:
            DataError: names the file, the line and the fix.
        """
        raise NotImplementedError

    def answers(self, path: Path) -> Iterable[Answer]:
        """Yield the answers that are stored at *path*, of all models.

        Raises:
            DataError: names the file, the line and the fix.
        """
        del path
        return ()

    def languages(self, path: Path) -> tuple[str, ...]:
        """Return the codes of the languages *path* has questions in, sorted.

        Raises:
            DataError: names the file, the line and the fix.
        """
        return tuple(sorted({question.language for question in self.questions(path)}))

    def notices(self, path: Path, *, languages: Sequence[str]) -> list[str]:
        """Return what is odd in the questions in *languages* without being wrong, a line each.

        Raises:
            DataError: names the file, the line and the fix.
        """
        del path, languages
        return []

    def mapped(self, data: DataMap) -> Importer:
        """Return the importer that reads as *data* says, where a layout's columns may be named."""
        del data
        return self

    def read(self, path: Path, *, benchmark: str, languages: Sequence[str]) -> list[Sample]:
        """Return the samples of *benchmark* in *languages*, in that order, each in data order.

        Raises:
            DataError: names the file, the line and the fix; or there is none in a language.
        """
        samples: dict[str, list[Sample]] = {code: [] for code in languages}
        for question in self.questions(path, languages=samples.keys()):
            if question.language in samples:
                samples[question.language].append(replace(question, benchmark=benchmark))
        if missing := [code for code, questions in samples.items() if not questions]:
            msg = (
                f"{path}: there is no question in {missing[0]!r}; add some, or leave it out. There "
                f"is data for: {', '.join(self.languages(path))}"
            )
            raise DataError(msg)
        return [sample for code in samples for sample in samples[code]]
