"""Dataset readers: one file per layout, named as the layout."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pytest_xling.records import Sample

__all__ = ["DatasetReader"]


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
