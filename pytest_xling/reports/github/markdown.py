"""Words and texts as GitHub's Markdown, so that nothing in them is taken for markup.

Whatever a model wrote stands in code, where GitHub knows no markup, no mentions of people and no
references to issues.
"""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

from pytest_xling.text.display import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["code", "details", "html_text", "prose", "table"]

_MARKUP = re.compile(r"([\\`*_\[\]<>&|~$])")
# GitHub looks for these in the finished page, where what was escaped is plain again.
_LINKS = re.compile(r"([@#]|www(?=\.)|:(?=//)|\bGH-)", re.IGNORECASE)
_APART = "\u2060"
"""A word joiner: it is not seen and parts no line."""
_BACKTICKS = re.compile("`+")


def code(text: str, *, limit: int = 200) -> str:
    """Return *text* as one code span of one line, cut to *limit* characters; a dash for none."""
    shown = printable(text, limit=limit)
    if not shown:
        return "–"
    fence = "`" * (max(map(len, _BACKTICKS.findall(shown)), default=0) + 1)
    # A space beside a backtick belongs to the fence, and one on each side is taken away.
    room = " " if "`" in (shown[0], shown[-1]) else ""
    return f"{fence}{room}{shown}{room}{fence}"


def prose(text: str, *, limit: int = 400) -> str:
    """Return *text* as words of a line: no markup, no links, no mentions."""
    return _unlinked(_MARKUP.sub(r"\\\1", printable(text, limit=limit)))


def html_text(text: str, *, limit: int = 200) -> str:
    """Return *text* for the inside of an HTML element, where Markdown does not hold."""
    return _unlinked(html.escape(printable(text, limit=limit)))


def _unlinked(text: str) -> str:
    return _LINKS.sub(rf"\1{_APART}", text)


def table(head: Sequence[str], rows: Sequence[Sequence[str]], *, left: int = 1) -> str:
    """Return a table of cells that are Markdown already and hold no bare pipe.

    Args:
        head: of the columns.
        rows: of cells, one for each column.
        left: how many columns are flush left; the others are flush right.
    """
    ruler = [":--" if column < left else "--:" for column in range(len(head))]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in (head, ruler, *rows))


def details(summary: str, content: str) -> str:
    """Return *content*, Markdown, folded away under *summary*, HTML."""
    return f"<details><summary>{summary}</summary>\n\n{content.rstrip()}\n\n</details>\n"
