"""Read tables with a head from CSV, TSV or JSONL: row by row, since UPHILL's are large."""

from __future__ import annotations

import codecs
import csv
import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeAlias

from pytest_xling.datasets._strict_json import parse, unique_keys
from pytest_xling.errors import DataError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

    from pytest_xling.keys import JsonValue

__all__ = ["SUFFIXES", "TableRow", "table_rows"]

SUFFIXES = (".csv", ".tsv", ".jsonl")

TableRow: TypeAlias = "tuple[int, dict[str, JsonValue]]"
"""The line a row begins on, and its cells by the names of their columns."""

_LONGEST_CELL = 2**31 - 1
"""UPHILL keeps whole articles in one; by default csv refuses what is over 131,072 characters."""

_decoder = json.JSONDecoder(object_pairs_hook=unique_keys)


def table_rows(file: Path, *, required: Collection[str]) -> Iterator[TableRow]:
    """Yield the rows of *file*; which of the formats it has, its suffix tells.

    Cells of CSV and TSV are texts; those of JSONL what they are.

    Args:
        file: CSV or TSV with a row of names above the others, or JSONL, in UTF-8.
        required: columns it must have.

    Raises:
        DataError: names the file, the line and the fix.
    """
    if file.suffix.lower() == ".jsonl":
        rows = _json_rows(file, required)
    else:
        rows = _csv_rows(file, required, delimiter="\t" if file.suffix.lower() == ".tsv" else ",")
    empty = True
    for row in rows:
        empty = False
        yield row
    if empty:
        msg = f"{file}: there is no row in it; write one below the other, or remove the file"
        raise DataError(msg)


def _lines(file: Path) -> Iterator[str]:
    """Yield the lines of *file*, decoded one by one, so that a wrong byte has a line."""
    try:
        with file.open("rb") as opened:
            for number, raw in enumerate(opened, start=1):
                line = raw.removeprefix(codecs.BOM_UTF8) if number == 1 else raw
                try:
                    yield line.decode()
                except UnicodeDecodeError as error:
                    msg = (
                        f"{file}:{number}: byte 0x{line[error.start]:02x} is not UTF-8; save the "
                        "file as UTF-8"
                    )
                    raise DataError(msg) from error
    except OSError as error:
        msg = f"{file}: cannot be read ({error.strerror or error}); check the path"
        raise DataError(msg) from error


def _json_rows(file: Path, required: Collection[str]) -> Iterator[TableRow]:
    for number, line in enumerate(_lines(file), start=1):
        if not line.strip():
            continue
        where = f"{file}:{number}"
        row = parse(line, where=where, decoder=_decoder)
        if not isinstance(row, dict):
            msg = f'{where}: each line must be one JSON object, such as {{"claim_id": …}}'
            raise DataError(msg)
        _check_columns(row, required, where=where)
        yield number, row


def _csv_rows(file: Path, required: Collection[str], *, delimiter: str) -> Iterator[TableRow]:
    reader = csv.reader(_lines(file), delimiter=delimiter, strict=True)
    head: list[str] = []
    while True:
        start = reader.line_num + 1  # a cell may hold line breaks
        try:
            with _long_cells():
                cells = next(reader, None)
        except csv.Error as error:
            msg = f"{file}:{start}: not valid CSV: {error}; check the quotes of this row"
            raise DataError(msg) from error
        if cells is None:
            return
        if not cells:
            continue
        if not head:
            head = [name.strip() for name in cells]
            _check_columns(head, required, where=f"{file}:{start}")
            if twice := sorted({name for name in head if name and head.count(name) > 1}):
                msg = f"{file}:{start}: column {twice[0]!r} is there twice; keep one"
                raise DataError(msg)
        elif len(cells) != len(head):
            msg = (
                f"{file}:{start}: the row has {len(cells)} cells, and the head {len(head)}; check "
                "its quotes and separators"
            )
            raise DataError(msg)
        else:
            yield start, dict(zip(head, cells, strict=True))


@contextmanager
def _long_cells() -> Iterator[None]:
    """Let cells be long while one row is read: the limit is that of the whole process."""
    before = csv.field_size_limit(_LONGEST_CELL)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _check_columns(head: Collection[str], required: Collection[str], *, where: str) -> None:
    for name in required:
        if name not in head:
            msg = (
                f"{where}: column {name!r} is missing.{did_you_mean(name, head)} Needed: "
                f"{', '.join(required)}"
            )
            raise DataError(msg)
