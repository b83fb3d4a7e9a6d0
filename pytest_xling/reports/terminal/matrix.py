"""The table of languages by metrics, cut into as many tables as the width asks for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.text import Text

from pytest_xling.records import ALL_LANGUAGES
from pytest_xling.reports.matrix import language_name
from pytest_xling.reports.rendering import GAP, columns_of, ruled_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rich.console import JustifyMethod
    from rich.table import Table

    from pytest_xling.records import Outcome
    from pytest_xling.reports.matrix import Column


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """How an outcome is shown; never by colour alone."""

    symbol: str
    style: str


OUTCOMES: dict[Outcome, Look] = {
    "pass": Look(symbol="✓", style="green"),
    "fail": Look(symbol="✗", style="bold red"),
    "inconclusive": Look(symbol="?", style="yellow"),
    "error": Look(symbol="!", style="bold magenta"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Drawn:
    """A column as it is drawn: its head, and a cell for each language that has one."""

    head: Text
    cells: Mapping[str, Text]
    justify: JustifyMethod

    @property
    def width(self) -> int:
        return max(columns_of(text.plain) for text in (self.head, *self.cells.values()))


def tables(
    columns: Sequence[Column],
    answers: Mapping[str, int],
    *,
    width: int,
    intervals: bool = True,
    counts: bool = True,
) -> Iterator[Table]:
    """Yield tables of languages by *columns*, each at most *width* wide.

    Args:
        columns: one per metric.
        answers: how many there are by language: the rows.
        width: of the terminal.
        intervals: whether to show those of metrics without a gate.
        counts: whether to show how many answers there are.
    """
    codes = max((len(code) for code in answers), default=2)
    labels = {code: f"{code:{codes}} {language_name(code)}".rstrip() for code in answers}
    fixed = max(map(columns_of, labels.values()), default=0)
    fixed += (GAP + max((len(str(n)) for n in answers.values()), default=1)) * counts
    drawn = [_drawn(column, intervals=intervals) for column in columns]
    for together in _cut(drawn, width - fixed):
        table = ruled_table()
        table.add_column(Text("language", style="bold"), no_wrap=True)
        if counts:
            table.add_column(Text("n", style="bold"), justify="right", no_wrap=True)
        for column in together:
            table.add_column(column.head, no_wrap=True, justify=column.justify)
        for code, n in answers.items():
            if code == ALL_LANGUAGES and not any(code in column.cells for column in together):
                continue
            cells = (column.cells.get(code, Text("")) for column in together)
            number = [Text(str(n), style="dim")] if counts else []
            table.add_row(Text(labels[code]), *number, *cells)
        yield table


def _drawn(column: Column, *, intervals: bool) -> _Drawn:
    gated = any(cell.outcome for cell in column.cells.values())
    intervals = gated or (intervals and any(cell.interval for cell in column.cells.values()))
    width = max(columns_of(cell.value) for cell in column.cells.values())
    cells = {}
    for language, cell in column.cells.items():
        look = OUTCOMES[cell.outcome] if cell.outcome else Look(symbol=" ", style="")
        text = Text(f"{look.symbol} " if gated else "", style=look.style)
        text.append(cell.value.rjust(width), style=look.style)
        if intervals and cell.interval:
            text.append(f"  {cell.interval}", style="dim not bold default")
        cells[language] = text
    lines = "".join(f"\n{'  ' * gated}{demand}" for demand in column.demands)
    # Without intervals the name is the widest part: break it where that helps.
    name = column.name if gated or intervals else column.name.replace("_", "_\n")
    head = Text.assemble((name, "bold"), (lines, "dim"))
    return _Drawn(head=head, cells=cells, justify="left" if gated or intervals else "right")


def _cut(columns: Sequence[_Drawn], width: int) -> Iterator[list[_Drawn]]:
    """Cut *columns* into pieces that fit beside each other; each has one at least."""
    together: list[_Drawn] = []
    taken = 0
    for column in columns:
        if together and taken + GAP + column.width > width:
            yield together
            together, taken = [], 0
        together.append(column)
        taken += GAP + column.width
    if together:
        yield together
