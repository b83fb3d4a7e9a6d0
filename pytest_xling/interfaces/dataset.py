"""Dataset readers: one file per layout, named as the layout."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pytest_xling.records import Sample

__all__ = ["DatasetReader", "Notices"]


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
