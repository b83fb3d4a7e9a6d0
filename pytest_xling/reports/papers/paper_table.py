"""What a table of a paper is made of: its rows, and how they are laid out or drawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from sqlalchemy import Connection

    from pytest_xling.reports.sheet import Sheet

Row: TypeAlias = "dict[str, str | int | float | None]"


class _Rows(Protocol):
    """Reads the rows of one table; some tables know further keywords."""

    def __call__(
        self, connection: Connection, run_id: str, *, benchmark: str | None = None
    ) -> list[Row]: ...


class _DataRows(Protocol):
    """Makes the rows of data that no run has asked; knows the same keywords."""

    def __call__(self, place: Path) -> list[Row]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperTable:
    """One table of a paper, or several that are made of the same rows."""

    about: str
    rows: _Rows
    columns: tuple[str, ...]
    """Of each row."""
    sheets: Callable[[Sequence[Row]], list[Sheet]]
    options: frozenset[str] = frozenset()
    """Further keywords of ``rows``, such as ``pairwise``; given only where they are asked for."""
    together: bool = False
    """Whether ``sheets`` takes the rows of all runs at once, each with its ``run``."""
    drawing: Callable[[Sequence[Row]], str] | None = None
    """Draws the rows of one run as an SVG; None where there is no drawing."""
    of_data: _DataRows | None = None
    """Makes the same rows of a folder of data; None where answers are needed."""
