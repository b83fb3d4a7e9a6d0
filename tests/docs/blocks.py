"""Read the fenced blocks of a Markdown file that a comment above them marks.

The comment, which no reader sees, stands on the line above the fence::

    <!-- file: NAME -->        write the block to NAME
    <!-- run -->               run it; `<!-- run: exit 1 -->` where it ends with that code
    <!-- shows -->             its lines are in the last output, each within a line of it and in
                               this order; `…` alone says that others are left out
    <!-- not run: REASON -->   a command the tests cannot run
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias, cast, get_args

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Block", "Mark", "read_blocks", "table_between"]

Mark: TypeAlias = Literal["file", "run", "shows", "not run", ""]

_FENCE = re.compile(r"^```(\w*)$")
_MARK = re.compile(r"^<!-- ([a-z ]+?)(?:: (.*?))? -->$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A fenced block."""

    text: str
    language: str
    mark: Mark
    argument: str
    line: int
    """Where the block begins, counted from 1."""


def read_blocks(path: Path) -> list[Block]:
    """Return the fenced blocks of *path* in order, marked or not.

    Raises:
        ValueError: a fence is not closed, or a mark is unknown.
    """
    lines = path.read_text(encoding="utf-8").split("\n")
    blocks = []
    number = 0
    while number < len(lines):
        fence = _FENCE.match(lines[number])
        if fence is None:
            number += 1
            continue
        end = lines.index("```", number + 1)
        mark = _MARK.match(lines[number - 1]) if number else None
        name, argument = (mark[1], mark[2] or "") if mark else ("", "")
        if name not in get_args(Mark):
            msg = f"{path.name}:{number}: unknown mark {name!r}"
            raise ValueError(msg)
        blocks.append(
            Block(
                text="\n".join([*lines[number + 1 : end], ""]),
                language=fence[1],
                mark=cast("Mark", name),
                argument=argument,
                line=number + 2,
            )
        )
        number = end + 1
    return blocks


def table_between(text: str, name: str) -> str:
    """Return what stands between ``<!-- table: NAME -->`` and ``<!-- end -->``.

    Raises:
        ValueError: it is not there.
    """
    start = f"<!-- table: {name} -->\n\n"
    begin = text.index(start) + len(start)
    return text[begin : text.index("\n<!-- end -->", begin)]
