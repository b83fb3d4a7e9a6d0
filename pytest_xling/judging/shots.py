"""Examples that a base model continues: read from a file, each text a line."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING

from pytest_xling.text.display import clean, shorten

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


@cache
def read_shots(path: Path) -> tuple[Mapping[str, str], ...]:
    """Return the examples in a JSON Lines file."""
    with path.open(encoding="utf-8") as lines:
        return tuple(json.loads(line) for line in lines)


def one_line(text: str, *, limit: int) -> str:
    """Return *text* as one line, cut where it has more than *limit* characters."""
    return shorten(" ".join(clean(text).split()), limit=limit)
