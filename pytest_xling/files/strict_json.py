"""Read JSON of unknown origin and say exactly what is wrong with it."""

from __future__ import annotations

import codecs
import hashlib
import json
import re
from typing import TYPE_CHECKING

from pytest_xling.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytest_xling.keys import JsonValue

_NAME = re.compile(r"[A-Za-z0-9_.-]+")
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_.-]+")
_SURROGATE = re.compile("[\ud800-\udfff]")


def read_text(path: Path) -> str:
    """Return the text of a UTF-8 file, with or without a byte order mark.

    Raises:
        DataError: missing, unreadable, empty or not UTF-8.
    """
    try:
        raw = path.read_bytes()
    except FileNotFoundError as error:
        msg = f"{path}: no such file; check the path"
        raise DataError(msg) from error
    except OSError as error:
        msg = f"{path}: cannot be read ({error.strerror}); check the path and its permissions"
        raise DataError(msg) from error
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        msg = f"{path}:1: the file is UTF-16 (byte 0 starts a UTF-16 mark); save it as UTF-8"
        raise DataError(msg)
    mark = len(codecs.BOM_UTF8) if raw.startswith(codecs.BOM_UTF8) else 0
    try:
        text = raw[mark:].decode()
    except UnicodeDecodeError as error:
        offset = mark + error.start
        line = raw.count(b"\n", 0, offset) + 1
        msg = (
            f"{path}:{line}: byte 0x{raw[offset]:02x} at offset {offset} of the file is not UTF-8; "
            "save the file as UTF-8"
        )
        raise DataError(msg) from error
    if not text.strip():
        msg = f"{path}: the file is empty; write one sample a line, or remove the file"
        raise DataError(msg)
    return text


def numbered_lines(path: Path) -> Iterator[tuple[int, str]]:
    r"""Yield the lines of a UTF-8 file that are not blank, with their numbers from 1.

    Only ``\n`` ends a line: str.splitlines would also cut at U+2028 within a question.

    Raises:
        DataError: as :func:`read_text`.
    """
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if line.strip():
            yield number, line


def parse(text: str, *, where: str, decoder: json.JSONDecoder | None = None) -> JsonValue:
    """Return the value of one JSON document.

    Raises:
        DataError: not one whole JSON document; *where* heads the message.
    """
    try:
        value: JsonValue = (decoder or _decoder).decode(text)
    except json.JSONDecodeError as error:
        # A document cut short fails at its end or in a string that never closes.
        cut = error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated")
        fix = "it looks cut short; restore the rest" if cut else "correct it"
        place = f"line {error.lineno} " if error.lineno > 1 else ""
        msg = f"{where}: not valid JSON: {error.msg} at {place}column {error.colno}; {fix}"
        raise DataError(msg) from error
    except (RecursionError, ValueError) as error:
        msg = f"{where}: not valid JSON for this reader: {error}; correct it"
        raise DataError(msg) from error
    return value


def unique_keys(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    """Return the object; as ``object_pairs_hook`` it refuses a key given twice.

    Raises:
        ValueError: names the key.
    """
    value = dict(pairs)
    if len(value) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        msg = f"key {twice!r} is given twice"
        raise ValueError(msg)
    return value


def require_text(value: JsonValue, *, where: str, key: str) -> str:
    """Return *value*, which must be a string with something in it that can be encoded.

    Raises:
        DataError: not a string, blank, or holding a lone surrogate or NUL.
    """
    if not isinstance(value, str):
        msg = f"{where}: key {key!r} must be a string, not {_KINDS.get(type(value), 'a number')}"
        raise DataError(msg)
    if not value.strip():
        msg = f"{where}: key {key!r} is empty; write its text"
        raise DataError(msg)
    if (surrogate := _SURROGATE.search(value)) is not None:
        msg = (
            f"{where}: key {key!r} holds the lone surrogate \\u{ord(surrogate.group()):04x} "
            f"at character {surrogate.start()}; write the whole character, not half of its pair"
        )
        raise DataError(msg)
    if "\0" in value:
        msg = f"{where}: key {key!r} holds a NUL at character {value.index(chr(0))}; remove it"
        raise DataError(msg)
    return value


def require_name(value: JsonValue, *, where: str, key: str) -> str:
    """Return *value*, which must be fit for a case id: ASCII letters, digits and ``_.-``.

    Raises:
        DataError: anything else.
    """
    text = require_text(value, where=where, key=key)
    if _NAME.fullmatch(text) is None:
        msg = (
            f"{where}: key {key!r} is {text!r}, but may hold only ASCII letters, digits, "
            "'_', '.' and '-'; rename it"
        )
        raise DataError(msg)
    return text


def plain_name(name: str) -> str:
    """Return *name* as it can stand in a case id, still unlike any other name; "" stays so."""
    if not name or _NAME.fullmatch(name):
        return name
    digest = hashlib.sha256(name.encode()).hexdigest()[:8]
    return f"{_NOT_IN_NAMES.sub('_', name).strip('_')}_{digest}".lstrip("_")


_decoder = json.JSONDecoder()
_KINDS: dict[type, str] = {type(None): "null", bool: "a boolean", dict: "an object", list: "a list"}
