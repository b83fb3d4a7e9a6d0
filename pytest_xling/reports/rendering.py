"""Turn rich renderables into text of a fixed width, with or without colour."""

from __future__ import annotations

from io import StringIO
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from pytest_xling.reports.columns import as_drawn, columns_of, counted, cut_to_columns

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from rich.console import JustifyMethod, RenderableType

__all__ = [
    "GAP",
    "MIN_SHORTENED",
    "MIN_WIDTH",
    "listing",
    "ruled",
    "taken",
    "to_text",
    "widest",
]

MIN_WIDTH = 40
"""Narrower terminals get lines of this width, which they wrap themselves."""
GAP = 2
"""Blanks between columns."""
MIN_SHORTENED = 12
"""Columns left at least of a text that is shortened."""


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
    # As a group, or rich would put each text into one of its own, which may be wrapped.
    console.print(Group(*renderables), crop=False)
    lines = as_drawn(buffer.getvalue()).split("\n")[:-1]
    return "".join(f"{line.rstrip(' ')}\n" for line in lines)


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
    columns: Mapping[str, Sequence[str]],
    *,
    width: int,
    color: bool,
    right: Collection[str] = (),
    shortened: str = "",
) -> str:
    """Return a table of plain texts, none of them broken: people copy what stands there.

    Args:
        columns: texts by the head they stand below, as many in each.
        width: of the terminal; lines are longer where shortening does not help.
        color: whether it understands colours.
        right: heads of the columns that are flush right.
        shortened: head of the column whose texts are cut in the middle to fit *width*.
    """
    shown = dict(columns)
    excess = taken(shown) - width
    if shortened in shown and excess > 0:
        room = max(widest(shortened, shown[shortened]) - excess, MIN_SHORTENED)
        shown[shortened] = [cut_to_columns(text, room) for text in shown[shortened]]
    table = ruled()
    for head in shown:
        justify: JustifyMethod = "right" if head in right else "left"
        table.add_column(Text(head, style="bold"), justify=justify, no_wrap=True)
    for row in zip(*shown.values(), strict=True):
        table.add_row(*map(counted, row))
    return to_text([table], width=max(width, taken(shown)), color=color)


def taken(columns: Mapping[str, Sequence[str]]) -> int:
    """Return how wide a listing of *columns* is that need not be shortened."""
    sizes = [widest(head, texts) for head, texts in columns.items()]
    return sum(sizes) + GAP * (len(sizes) - 1)


def widest(head: str, texts: Sequence[str]) -> int:
    """Return how wide a column of *texts* below its *head* is."""
    return max(map(columns_of, (head, *texts)))
