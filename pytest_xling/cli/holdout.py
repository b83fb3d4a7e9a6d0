"""Keep a part of a benchmark's questions back: ``xling init --holdout=1/4 benchmarks/example``."""

from __future__ import annotations

import hashlib
import json
import re
from typing import TYPE_CHECKING

from pytest_xling.cli.printing import print_text
from pytest_xling.errors import ConfigError, DataError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["HOLDOUT", "hold_out", "parse_part"]

DATA, HOLDOUT = "data", "holdout"
"""Folders of a benchmark: what is asked every day, and what is kept back."""

TOLD = """\
{folder}: {kept} of {total} questions are kept back in {holdout}, the same in {languages}.
Every day:           pytest --model=MODEL                  does not ask them
Before a release:    pytest --model=MODEL --xling-data {name}={holdout}
Every few releases:  xling init {folder} --holdout={next}     the next part; these come back\
"""


def parse_part(text: str) -> tuple[int, int]:
    """Return which of how many parts is meant by such as ``1/4``.

    Raises:
        ValueError: that is no part of 2 to 100.
    """
    written = re.fullmatch(r"(\d{1,3})/(\d{1,3})", text)
    part, parts = (int(written[1]), int(written[2])) if written else (0, 0)
    if not 1 <= part <= parts or not 2 <= parts <= 100:  # noqa: PLR2004  all there is, and dust
        msg = f"expected such as 1/4, the first of four parts, not {text!r}"
        raise ValueError(msg)
    return part, parts


def hold_out(folder: Path, *, part: int, parts: int) -> None:
    """Move one of so many parts of the questions to ``holdout/``, and what was there back.

    Which part a question is in follows from its ``parallel_id`` or ``id`` alone, so that it is the
    same in all languages, and on every machine.

    Args:
        folder: a benchmark's, with a JSONL file a language in ``data/``.
        part: which, from 1.
        parts: of how many.

    Raises:
        ConfigError: there are no such files, or a part would be empty.
        DataError: a line is no row with an id.
    """
    data, holdout = folder / DATA, folder / HOLDOUT
    names = sorted({path.name for at in (data, holdout) for path in at.glob("*.jsonl")})
    if not names:
        msg = f"{data} has no JSONL files; name a benchmark's folder, such as benchmarks/example"
        raise ConfigError(msg)
    split: dict[Path, list[str]] = {}
    for name in names:
        asked, kept = split.setdefault(data / name, []), split.setdefault(holdout / name, [])
        for path in (data / name, holdout / name):
            for question, line in _rows(path):
                digest = hashlib.sha256(question.encode()).digest()
                is_kept = int.from_bytes(digest[:8]) % parts == part - 1
                (kept if is_kept else asked).append(line)
        for side, which in ((asked, "asked every day"), (kept, "kept back")):
            if not side:
                msg = f"{data / name}: no question would be {which}; take fewer parts than {parts}"
                raise ConfigError(msg)
    # All of it is written beside the files first: what fails half-way has moved nothing.
    holdout.mkdir(exist_ok=True)
    for path, lines in split.items():
        _beside(path).write_text("".join(lines), encoding="utf-8", newline="\n")
    for path in split:
        _beside(path).replace(path)
    first = names[0]
    moved = len(split[holdout / first])
    print_text(
        TOLD.format(
            folder=folder,
            kept=moved,
            total=moved + len(split[data / first]),
            holdout=holdout,
            languages=", ".join(name.removesuffix(".jsonl") for name in names),
            name=folder.resolve().name,
            next=f"{part % parts + 1}/{parts}",
        )
    )


def _beside(path: Path) -> Path:
    return path.with_name(f"{path.name}.new")


def _rows(path: Path) -> list[tuple[str, str]]:
    """Return the question and the line of each row of a file, if it is there.

    Raises:
        DataError: a line is no row with an id.
    """
    if not path.exists():
        return []
    rows = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            question = str(row.get("parallel_id") or row["id"])
        except (ValueError, AttributeError, KeyError, TypeError) as error:
            msg = f"{path}:{number}: expected a JSON object with an id"
            raise DataError(msg) from error
        rows.append((question, f"{line}\n"))
    return rows
