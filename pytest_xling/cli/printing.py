"""Print results: text as wide as the terminal, or JSON for programs; files appear whole or not."""

from __future__ import annotations

import csv
import json
import os
import shutil
import sys
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING

from pytest_xling.errors import ConfigError
from pytest_xling.files.whole import OWNER_ONLY, kept_mode, whole
from pytest_xling.text.display import csv_cell, inert_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from pytest_xling.reports.sheet import Sheet

DEFAULT_WIDTH = 80


def print_text(text: str) -> None:
    """Write *text* to standard output, ending in a new line."""
    sys.stdout.write(text if text.endswith("\n") else f"{text}\n")


def print_sheets(sheets: Iterable[Sheet]) -> None:
    """Write tables, as wide as the terminal."""
    from pytest_xling.reports.sheet import plain  # noqa: PLC0415  imports rich; not for --help

    print_text("\n".join(plain(sheet, width=width(), color=color()) for sheet in sheets))


def print_json(value: object) -> None:
    """Write *value* to standard output as JSON that people can read too."""
    print_text(inert_json(json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False)))


def write_csv(file: IO[str], columns: Sequence[str], rows: Iterable[Mapping[str, object]]) -> None:
    """Write *rows* as CSV that holds no formula."""
    writer = csv.DictWriter(file, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: csv_cell(row[name]) for name in columns} for row in rows)


def width() -> int:
    """Return the terminal's width, or what COLUMNS says; 80 where neither is known."""
    return shutil.get_terminal_size((DEFAULT_WIDTH, 24)).columns


def color() -> bool:
    """Tell whether to use colours: on a terminal, unless NO_COLOR is set."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return bool(os.environ.get("FORCE_COLOR")) or sys.stdout.isatty()


def check_free(path: Path, *, force: bool) -> None:
    """Check that a file may be written to *path*.

    Raises:
        ConfigError: there is a file already and *force* is off, or it is a folder.
    """
    if path.is_dir():
        msg = f"{path} is a folder; name a file"
        raise ConfigError(msg)
    if path.exists() and not force:
        msg = f"{path} exists already; say --force to replace it"
        raise ConfigError(msg)


@contextmanager
def written(path: Path, *, force: bool) -> Iterator[IO[str]]:
    """Give a file to write; it takes *path*'s place when all is written, or not at all.

    A new one is for its owner only: it may hold answers.

    Raises:
        ConfigError: there is a file already and *force* is off, it is a folder, or it cannot be
            written.
    """
    check_free(path, force=force)
    try:
        with whole(path, mode=kept_mode(path, new=OWNER_ONLY)) as file:
            yield file
    except OSError as error:
        msg = f"cannot write {path}: {error.strerror or error}"
        raise ConfigError(msg) from error
