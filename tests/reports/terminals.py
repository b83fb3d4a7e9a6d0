"""How many columns terminals give to text: by the rules of wcwidth, and by asking tmux."""

from __future__ import annotations

import shutil
import subprocess
import unicodedata
import uuid
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


TMUX = shutil.which("tmux")


_WIDE_UNASSIGNED = (
    range(0x3400, 0x4DC0),
    range(0x4E00, 0xA000),
    range(0xF900, 0xFB00),
    range(0x20000, 0x2FFFE),
    range(0x30000, 0x3FFFE),
)
"""Code points of which those without a character yet are wide, by EastAsianWidth.txt."""


def widest_columns(text: str) -> int:
    """Return how many columns a terminal takes that joins no emoji and draws no conjuncts."""
    return sum(map(_columns, text))


def _columns(character: str) -> int:
    category = unicodedata.category(character)
    if category in {"Mn", "Me", "Cf"} and character != "\u00ad":
        return 0
    if category == "Cn":  # CPython calls these fullwidth; EastAsianWidth.txt says what they are
        return 2 if any(ord(character) in block for block in _WIDE_UNASSIGNED) else 1
    return 2 if unicodedata.east_asian_width(character) in {"W", "F"} else 1


def rows_in_tmux(path: Path, *, width: int) -> int:
    """Return how many rows the file at *path* takes in a tmux window of *width* columns."""
    name = f"xling-{uuid.uuid4().hex}"

    def tmux(*arguments: str) -> str:
        command = [TMUX or "tmux", "-f", "/dev/null", "-u", "-L", name, *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    size = ("-x", str(width), "-y", "24")
    shell = f"cat '{path}'; printf END; tmux -L {name} wait-for -S shown; sleep 60"
    try:
        tmux("new-session", "-d", *size, "sh", "-c", shell)
        tmux("wait-for", "shown")
        rows = tmux("capture-pane", "-p", "-S", "-").split("\n")
    finally:
        tmux("kill-server")
    return rows.index("END")
