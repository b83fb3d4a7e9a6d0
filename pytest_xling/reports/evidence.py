"""Findings with question and answer side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich import box
from rich.cells import cell_len
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from pytest_xling.reports.matrix import language_name
from pytest_xling.text.display import printable, shorten

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from pytest_xling.reports.findings import Ranked, Standing

__all__ = ["side_by_side"]

_WORDS: dict[Standing, tuple[str, str]] = {
    "failed": ("gate failed", "bold red"),
    "undecided": ("gate undecided", "yellow"),
    "tolerated": ("within the budget", "green"),
    "ungated": ("no gate", "dim"),
}
INDENT = 2


def side_by_side(ranked: Ranked, *, width: int, lines: int) -> Iterator[RenderableType]:
    """Yield a finding's title, what was detected, and its question beside its answer.

    Args:
        ranked: the finding.
        width: of the terminal.
        lines: how many lines the texts may take.
    """
    finding = ranked.finding
    word, style = _WORDS[ranked.standing]
    language = f"{finding.language} {language_name(finding.language)}".rstrip()
    title = Text.assemble(
        (finding.metric, style), f"  {language}  {printable(finding.case)}  ", (word, style)
    )
    yield title
    if finding.reason.strip():
        reason = Text(printable(finding.reason, limit=lines * width))
        yield Padding(reason, (0, 0, 0, INDENT))
    inner = width - INDENT - 3
    left = inner * 2 // 5
    right = inner - left
    table = Table(
        box=box.MINIMAL,
        show_edge=False,
        show_header=False,
        pad_edge=False,
        padding=(0, 1),
        border_style="dim",
    )
    table.add_column(width=left, overflow="fold")
    table.add_column(width=right, overflow="fold")
    answer = _fitted(finding.answer, right, lines) if finding.answer.strip() else None
    table.add_row(
        Text(_fitted(finding.question, left, lines)),
        Text(answer) if answer else Text("(no answer)", style="dim"),
    )
    yield Padding(table, (0, 0, 0, INDENT))


def _fitted(text: str, width: int, lines: int) -> str:
    """Return *text* cleaned and cut so that it takes about *lines* lines of *width* columns."""
    room = width * lines
    shown = printable(text, limit=room)
    if (taken := cell_len(shown)) > room:  # Chinese takes two columns a character
        shown = shorten(shown, limit=max(1, len(shown) * room // taken))
    return shown
