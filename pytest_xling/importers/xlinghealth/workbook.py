"""The sheets of an xlsx file as rows of text, or a clear word on why the file cannot be read."""

from __future__ import annotations

import re
import unicodedata
import warnings
import zlib
from collections import Counter
from dataclasses import dataclass
from datetime import date, datetime, time
from io import BytesIO
from itertools import zip_longest
from typing import TYPE_CHECKING
from zipfile import BadZipFile, ZipFile

from pytest_xling.errors import DataError, did_you_mean
from pytest_xling.text.display import clean

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from openpyxl.workbook import Workbook

# What a formula leaves in its cell when it fails is not a text that anybody wrote.
_EXCEL_ERRORS = {"#DIV/0!", "#N/A", "#NAME?", "#NULL!", "#NUM!", "#REF!", "#VALUE!"}
# How Excel writes characters that XML cannot hold; a carriage return is the usual one.
_ESCAPE = re.compile("_x([0-9A-Fa-f]{4})_")
# Far more than any set of questions has; a file of some kilobytes can unpack to gigabytes.
_MOST_ROWS = 100_000
_MOST_BYTES = 64 << 20
_INVISIBLE = "\u200b\u200c\u200d\u2060\ufeff"
# What openpyxl and the modules below it raise at files that are no workbooks, or damaged or
# encrypted ones. Errors in XML are SyntaxErrors.
_BROKEN = (
    ArithmeticError,
    AttributeError,
    BadZipFile,
    EOFError,
    LookupError,
    OSError,
    RuntimeError,
    SyntaxError,
    TypeError,
    ValueError,
    zlib.error,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One row that is not blank."""

    number: int
    """As Excel shows it."""
    where: str
    """How to name it in a message."""
    texts: Mapping[str, str]
    """By the names of the columns, as they are compared; blank cells are empty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """One worksheet; the first row that is not blank is its header."""

    where: str
    """How to name it in a message."""
    title: str
    header: tuple[str, ...]
    rows: tuple[Row, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns as they are compared: case and blanks around do not matter."""
        return tuple(map(_name, self.header))

    def require(self, *names: str) -> None:
        """Refuse a sheet without one of these columns, or with more than one of a name.

        Raises:
            DataError: names the column, and those there are.
        """
        for name in names:
            count = Counter(self.names)[name]
            if count > 1:
                msg = f"{self.where}: {count} columns are called {name!r}; keep one"
                raise DataError(msg)
            if not count:
                present = [column for column in self.names if column]
                hint = did_you_mean(name, present).replace("Did you mean", "Is it")
                columns = ", ".join(present)
                msg = f"{self.where}: column {name!r} is missing.{hint} Its columns: {columns}"
                raise DataError(msg)


def read_sheets(file: Path) -> tuple[Sheet, ...]:
    """Return the worksheets of *file* that have a header, in their order.

    Numbers become text (``3.0`` is ``3``), formulas the value that was stored with them. Texts are
    trimmed; a failed formula is blank.

    Raises:
        DataError: the file cannot be read, is no workbook, or a larger one than any of questions.
    """
    # Heavy for a plugin, and needed only by those who have such a file.
    from openpyxl import load_workbook  # noqa: PLC0415  takes 150 ms
    from openpyxl.utils.exceptions import InvalidFileException  # noqa: PLC0415  comes with it

    try:
        raw = file.read_bytes()
    except OSError as error:
        msg = f"{file}: cannot be read ({error.strerror}); check the path and its permissions"
        raise DataError(msg) from error
    try:
        with warnings.catch_warnings():
            # openpyxl warns of styles and validations it leaves out; only values matter here.
            warnings.simplefilter("ignore", UserWarning)
            _check_size(raw, file)
            book = load_workbook(BytesIO(raw), read_only=True, data_only=True)
            return tuple(_sheets(book, file))
    except (*_BROKEN, InvalidFileException) as error:
        msg = f"{file}: not a workbook that can be read ({error}); {_remedy(raw)}"
        raise DataError(msg) from error


def _check_size(raw: bytes, file: Path) -> None:
    """Refuse what would unpack to too much; no more than it says is ever unpacked of a part."""
    with ZipFile(BytesIO(raw)) as parts:
        size = sum(part.file_size for part in parts.infolist())
    if size > _MOST_BYTES:
        msg = (
            f"{file}: unpacks to {size >> 20:,} MB, and at most {_MOST_BYTES >> 20} are read; keep "
            "only the sheets and columns of the questions, without pictures"
        )
        raise DataError(msg)


def _remedy(raw: bytes) -> str:
    if raw.startswith(b"\xd0\xcf\x11\xe0"):
        return "it is an old .xls or has a password: save it as .xlsx without one"
    if raw.startswith(b"version https://git-lfs"):
        return "it is a Git LFS pointer: fetch the file itself"
    if not raw:
        return "the file is empty: take it again from where it came"
    return "it may be cut short or something else under this name: take it again"


def _sheets(book: Workbook, file: Path) -> Iterator[Sheet]:
    for worksheet in book.worksheets:
        # Some programs write a size that is too small, and the rest would be left out in silence.
        worksheet.reset_dimensions()
        where = f"{file}: sheet {worksheet.title!r}"
        rows = _rows(worksheet.iter_rows(values_only=True), where=where)
        _, header = next(rows, (0, ()))
        if header:
            names = [*map(_name, header)]
            yield Sheet(
                where=where,
                title=worksheet.title,
                header=header,
                rows=tuple(
                    Row(
                        number=number,
                        where=f"{where}, row {number}",
                        texts=dict(zip_longest(names, texts[: len(names)], fillvalue="")),
                    )
                    for number, texts in rows
                ),
            )


def _name(title: str) -> str:
    return title.strip().casefold()


def _rows(
    rows: Iterable[tuple[object, ...]], *, where: str
) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield those that are not blank, with their numbers."""
    for number, values in enumerate(rows, start=1):
        if number > _MOST_ROWS:
            msg = (
                f"{where} has more than {_MOST_ROWS:,} rows, blank ones included; delete those "
                "that hold no question, or split the file"
            )
            raise DataError(msg)
        texts = tuple(_text(value) for value in values)
        if any(texts):
            yield number, texts


def _text(value: object) -> str:
    """Return a cell's value as trimmed text; empty where there is nothing to see."""
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, datetime) and value.time() == time():
        return value.date().isoformat()
    if isinstance(value, date | time):
        return value.isoformat()
    text = str(value)
    if "_x" in text:
        text = _ESCAPE.sub(_unescaped, text)
    text = clean(text).strip()
    return "" if text in _EXCEL_ERRORS or not text.strip(_INVISIBLE) else text


def _unescaped(match: re.Match[str]) -> str:
    char = chr(int(match[1], 16))
    return "" if unicodedata.category(char) == "Cc" and char not in "\n\t" else char
