"""How many columns of a terminal text takes, and rich made to count them likewise.

Rich gives a Devanagari vowel sign no column; most terminals, tmux among them, give it one, so that
a line that rich fits into 80 columns is wrapped. Terminals also differ in whether emoji are joined.
What is counted is therefore what the widest of them takes.
"""

from __future__ import annotations

import unicodedata
from typing import Final

from rich.cells import cell_len, get_character_cell_size
from rich.console import Console
from rich.text import Text

from pytest_xling.text.display import shorten

__all__ = ["as_drawn", "columns_of", "counted", "cut_to_columns", "lines_of"]

_SKIN_TONES: Final = range(0x1F3FB, 0x1F400)
_ZERO_WIDTH_JOINER: Final = 0x200D
# Characters that stand for others while rich lays text out; no font and no script has them.
_NO_COLUMN: Final = 0xE01EF
_ONE_COLUMN: Final = 0xF0000
_TWO_COLUMNS: Final = 0x3FE00


class _StandIns(dict[int, int]):
    """By character what stands for it: one with its columns, or itself where rich counts them."""

    def __init__(self) -> None:
        super().__init__({_ZERO_WIDTH_JOINER: _NO_COLUMN})
        self.back = {_NO_COLUMN: _ZERO_WIDTH_JOINER}

    def __missing__(self, code: int) -> int:
        takes = _columns(chr(code))
        self[code] = code
        if takes > get_character_cell_size(chr(code)):
            # Those of one column are all in the first two planes; of two there are nine.
            self[code] = _ONE_COLUMN + code if takes == 1 else _TWO_COLUMNS + code % 0x100
            self.back[self[code]] = code
        return self[code]


def _columns(character: str) -> int:
    """Return how many columns a character takes that rich takes for a part of another; else 0."""
    if ord(character) in _SKIN_TONES:
        return 2
    if unicodedata.category(character) != "Mc":
        return 0
    return 2 if unicodedata.east_asian_width(character) == "W" else 1


_STAND_INS: Final = _StandIns()


def columns_of(text: str) -> int:
    """Return how many columns *text* takes at most: its widest line, if it has several."""
    return max(map(cell_len, _for_rich(text).split("\n")))


def counted(text: str, style: str = "") -> Text:
    """Return *text* for rich to lay out; :func:`as_drawn` undoes what that takes."""
    return Text(_for_rich(text), style=style)


def _for_rich(text: str) -> str:
    return text if text.isascii() else text.translate(_STAND_INS)


def as_drawn(text: str) -> str:
    """Return what rich made of counted texts, with the characters that were meant."""
    return text.translate(_STAND_INS.back)


def lines_of(text: str, *, width: int, most: int | None = None) -> list[Text]:
    """Return *text* as counted lines of at most *width* columns.

    Args:
        text: with blanks but no line ends.
        width: of a line.
        most: lines at most, the last one then with an ellipsis.
    """
    lines = list(counted(text).wrap(Console(width=width), width, overflow="fold"))
    if most is not None and len(lines) > most:
        lines = lines[:most]
        lines[-1].truncate(width - 1, overflow="crop")
        lines[-1].rstrip()
        lines[-1].append("…")
    return lines


def cut_to_columns(text: str, columns: int) -> str:
    """Return *text* cut in its middle so that it takes at most *columns* columns."""
    limit = len(text)
    while limit > 1 and columns_of(shorten(text, limit=limit, cut="middle")) > columns:
        limit -= 1
    return shorten(text, limit=limit, cut="middle")
