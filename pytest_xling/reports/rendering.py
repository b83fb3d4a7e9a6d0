"""Turn rich renderables into text of a fixed width, with or without colour."""

from __future__ import annotations

from io import StringIO
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import RenderableType

__all__ = ["MIN_WIDTH", "listing", "ruled", "to_text"]

MIN_WIDTH = 40
"""Narrower terminals get lines of this width, which they wrap themselves."""


def to_text(renderables: Iterable[RenderableType], *, width: int, color: bool) -> str:
    """Return *renderables*, one below the other, as lines without trailing blanks."""
    buffer = StringIO()
    console = Console(
        file=buffer,
        width=max(width, MIN_WIDTH),
        force_terminal=color,
        force_interactive=False,
        color_system="standard" if color else None,
        no_color=not color,
        legacy_windows=False,
        highlight=False,
        markup=False,
        emoji=False,
        _environ={},  # width and colour are settled: COLUMNS and NO_COLOR were the caller's to heed
    )
    for renderable in renderables:
        console.print(renderable, soft_wrap=False)
    return "".join(f"{line.rstrip(' ')}\n" for line in buffer.getvalue().split("\n")[:-1])


def ruled() -> Table:
    """Return an empty table with a line below its head and nothing else drawn."""
    return Table(
        box=box.SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
        padding=(0, 1),
        border_style="dim",
        header_style="",
        collapse_padding=True,
    )


def listing(
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    right: Sequence[str] = (),
    whole: Sequence[str] = (),
) -> Table:
    """Return a table of plain texts.

    Args:
        head: names of the columns.
        rows: one text per column.
        right: names of the columns that are flush right.
        whole: names of the columns whose texts are never broken.
    """
    table = ruled()
    for name in head:
        table.add_column(
            Text(name, style="bold"),
            justify="right" if name in right else "left",
            overflow="fold",
            no_wrap=name in whole,
        )
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    return table
