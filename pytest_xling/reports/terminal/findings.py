"""The answers a reader should see first, as text for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.padding import Padding
from rich.text import Text

from pytest_xling.reports.findings import STANDINGS
from pytest_xling.reports.matrix import language_label
from pytest_xling.reports.rendering import lines_of
from pytest_xling.text.display import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from pytest_xling.reports.findings import Ranked, Standing

_STYLES: dict[Standing, str] = {
    "failed": "bold red",
    "undecided": "yellow",
    "tolerated": "green",
    "ungated": "dim",
}
INDENT = 2
_LABEL_WIDTH = 8
_MOST_CHARS = 4
"""Characters of a column at most: letters with several signs each are cut sooner."""


def finding_parts(
    ranked: Ranked, *, width: int, lines: int, thoughts: bool = False
) -> Iterator[RenderableType]:
    """Yield a finding's title, what was detected, and its question above its answer.

    Each of the texts may take so many *lines*.
    """
    finding = ranked.finding
    word, style = STANDINGS[ranked.standing], _STYLES[ranked.standing]
    language = language_label(finding.language)
    yield Text.assemble(
        (finding.metric, style), f"  {language}  {printable(finding.case)}  ", (word, style)
    )
    yield from _indented("", finding.reason, width=width, lines=lines)
    yield from _indented("asked", finding.question, width=width, lines=lines)
    if finding.answer.strip():
        yield from _indented("answer", finding.answer, width=width, lines=lines)
    else:
        yield Padding(Text(f"{'answer':{_LABEL_WIDTH}}(none)", style="dim"), (0, 0, 0, INDENT))
    if thoughts:
        yield from _indented("thought", finding.thoughts, width=width, lines=lines)


def _indented(label: str, text: str, *, width: int, lines: int) -> Iterator[Text]:
    """Yield a text cleaned and cut to *lines* lines, its label before the first."""
    head = f"{label:{_LABEL_WIDTH}}" if label else ""
    room = width - INDENT - len(head)
    content = printable(text, limit=_MOST_CHARS * room * lines)
    for number, line in enumerate(lines_of(content, width=room, most=lines) if content else ()):
        start = " " * INDENT + (head if number == 0 else " " * len(head))
        yield Text.assemble((start, "dim"), line)
