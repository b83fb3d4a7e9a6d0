"""Read and check the rows of a transcript."""

from __future__ import annotations

import codecs
import json
import math
from collections import Counter
from difflib import get_close_matches
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

from pytest_xling.errors import ConfigError, DataError, did_you_mean
from pytest_xling.languages import find
from pytest_xling.records import StopReason
from pytest_xling.text.display import clean

if TYPE_CHECKING:
    from pathlib import Path

KEYS = (
    "sample_id", "language", "text", "temperature", "repeat", "stop_reason", "model", "error",
    "asked", "thoughts", "reasoning",
)  # fmt: skip
_KNOWN = frozenset(KEYS)
_STOP_REASONS: tuple[str, ...] = get_args(StopReason)
_TEXT_OR_NULL = (str, type(None))
_WITHOUT_TEXT = ("content_filter", "refusal", "error")


class Row(NamedTuple):
    """One stored answer; a tuple because it is made twice as fast as a frozen dataclass."""

    line: int
    sample_id: str
    language: str
    """Its code, whatever alias the file uses."""
    text: str | None
    temperature: float
    repeat: int
    stop_reason: StopReason
    model: str
    error: str | None
    asked: bool
    """False: nobody asked, and the case is to be left out."""
    thoughts: str


def rows(raw: bytes, path: Path) -> tuple[list[Row], Counter[str]]:
    """Return the rows of the file *path*, whose bytes are *raw*, and in how many a key is unknown.

    Raises:
        DataError: names the file, the line, the key and the fix.
    """
    rows_read = []
    unknown: Counter[str] = Counter()
    for number, line in enumerate(_decoded(raw, path).split("\n"), start=1):
        if not line or line.isspace():
            continue
        try:
            read = _parse(line.strip())
            unknown.update(read.keys() - _KNOWN)
            rows_read.append(_row(read, number))
        except _MistakeError as mistake:
            msg = f"{path}:{number}: {mistake}"
            raise DataError(msg) from mistake.__cause__
    if not rows_read:
        msg = f"{path}: the file is empty; write one answer a line"
        raise DataError(msg)
    return rows_read, unknown


class _MistakeError(Exception):
    """What is wrong with a row; the place is added where it is known."""


def _decoded(raw: bytes, path: Path) -> str:
    mark = len(codecs.BOM_UTF8) if raw.startswith(codecs.BOM_UTF8) else 0
    try:
        return raw[mark:].decode()
    except UnicodeDecodeError as error:
        offset = mark + error.start
        line = raw.count(b"\n", 0, offset) + 1
        msg = f"{path}:{line}: byte 0x{raw[offset]:02x} is not UTF-8; save the file as UTF-8"
        raise DataError(msg) from error


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        keys = [key for key, _ in pairs]
        msg = f"key {next(key for key in keys if keys.count(key) > 1)!r} is given twice"
        raise ValueError(msg)
    return value


_decode = json.JSONDecoder(object_pairs_hook=_unique).decode


def _row(read: dict[str, Any], number: int) -> Row:
    _check_keys(read)
    text, stop_reason = _answer(read)
    error = read.get("error")
    return Row(
        line=number,
        sample_id=read["sample_id"],
        language=_code(read["language"]),
        text=None if text is None else clean(text),
        temperature=_temperature(read.get("temperature")),
        repeat=_repeat(read.get("repeat")),
        stop_reason=stop_reason,
        model=clean(read.get("model") or ""),
        error=None if error is None else clean(error),
        asked=read.get("asked", True),
        thoughts=clean(read.get("thoughts") or read.get("reasoning") or "").strip(),
    )


def _parse(line: str) -> dict[str, Any]:
    try:
        read = _decode(line)
    except json.JSONDecodeError as error:
        # A row cut short fails at its end or in a string that never closes.
        cut = error.pos >= len(line) or error.msg.startswith("Unterminated")
        fix = "it looks cut short; restore the rest" if cut else "write one JSON object a line"
        msg = f"not valid JSON: {error.msg} at column {error.colno}; {fix}"
        raise _MistakeError(msg) from error
    except (ValueError, RecursionError) as error:
        msg = f"not valid JSON for this reader: {error}; correct it"
        raise _MistakeError(msg) from error
    if not isinstance(read, dict):
        msg = f"not a JSON object; write one object a line, such as {_EXAMPLE}"
        raise _MistakeError(msg)
    return read


def _check_keys(read: dict[str, Any]) -> None:
    for key in ("sample_id", "language", "text"):
        if key not in read:
            close = get_close_matches(key, read.keys() - _KNOWN, n=1)
            meant = f"{close[0]!r} may be meant to be it; " if close else ""
            msg = f"key {key!r} is missing; {meant}a row looks like {_EXAMPLE}"
            raise _MistakeError(msg)
    for key in ("sample_id", "language"):
        if not isinstance(read[key], str) or not read[key].strip():
            msg = f"key {key!r} must be a text that is not empty, not {read[key]!r}"
            raise _MistakeError(msg)
    for key in ("text", "model", "error", "stop_reason", "thoughts", "reasoning"):
        if not isinstance(read.get(key), _TEXT_OR_NULL):
            msg = f"key {key!r} must be a text or null, not {read[key]!r}"
            raise _MistakeError(msg)
    if not isinstance(read.get("asked", True), bool):
        msg = f"key 'asked' must be true or false, not {read['asked']!r}"
        raise _MistakeError(msg)


def _answer(read: dict[str, Any]) -> tuple[str | None, StopReason]:
    text, stop_reason = read["text"], read.get("stop_reason")
    if not read.get("asked", True):
        if text is not None or stop_reason is not None:
            msg = "key 'asked' is false, so 'text' must be null and 'stop_reason' not there"
            raise _MistakeError(msg)
        return None, "stop"
    if stop_reason is not None and stop_reason not in _STOP_REASONS:
        suggestion = did_you_mean(stop_reason, _STOP_REASONS)
        msg = f"unknown stop_reason {stop_reason!r}.{suggestion} Known: {', '.join(_STOP_REASONS)}"
        raise _MistakeError(msg)
    if text is None and stop_reason not in _WITHOUT_TEXT:
        msg = f"key 'text' is null, so 'stop_reason' must say why: {', '.join(_WITHOUT_TEXT)}"
        raise _MistakeError(msg)
    return text, stop_reason or "stop"


def _temperature(value: object) -> float:
    if value is None:
        return 0.0
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        msg = f"key 'temperature' must be a number, not {value!r}"
        raise _MistakeError(msg)
    if not math.isfinite(value) or value < 0:
        msg = f"key 'temperature' must be 0 or more, not {value!r}"
        raise _MistakeError(msg)
    return float(value)


def _repeat(value: object) -> int:
    if value is None:
        return 0
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        msg = f"key 'repeat' must be a whole number from 0, not {value!r}"
        raise _MistakeError(msg)
    return value


_EXAMPLE = '{"sample_id": "q0001", "language": "hi", "text": "…"}'


@cache
def _code(language: str) -> str:
    try:
        return find(language).code
    except ConfigError as error:
        msg = f"key 'language': {error}"
        raise _MistakeError(msg) from error
