"""Read and check the rows of a transcript."""

from __future__ import annotations

import codecs
import json
import math
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, get_args

from pytest_xling.errors import ConfigError, DataError, did_you_mean
from pytest_xling.languages import find
from pytest_xling.records import StopReason
from pytest_xling.text.clean import clean

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Row", "rows"]

_KEYS = (
    "sample_id", "language", "text", "temperature", "repeat", "stop_reason", "model", "error"
)  # fmt: skip
_KNOWN = frozenset(_KEYS)
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


def rows(raw: bytes, path: Path) -> list[Row]:
    """Return the rows of the file *path*, whose bytes are *raw*.

    Raises:
        DataError: names the file, the line, the key and the fix.
    """
    text = _decoded(raw, path)
    found = [
        _row(line, number, path)
        for number, line in enumerate(text.split("\n"), start=1)
        if line and not line.isspace()
    ]
    if not found:
        msg = f"{path}: the file is empty; write one answer a line"
        raise DataError(msg)
    return found


def _decoded(raw: bytes, path: Path) -> str:
    mark = len(codecs.BOM_UTF8) if raw.startswith(codecs.BOM_UTF8) else 0
    try:
        return raw[mark:].decode()
    except UnicodeDecodeError as error:
        offset = mark + error.start
        msg = (
            f"{path}:{raw.count(bytes([10]), 0, offset) + 1}: byte 0x{raw[offset]:02x} is not UTF-8; "
            "save the file as UTF-8"
        )
        raise DataError(msg) from error


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        keys = [key for key, _ in pairs]
        msg = f"key {next(key for key in keys if keys.count(key) > 1)!r} is given twice"
        raise ValueError(msg)
    return value


_decode = json.JSONDecoder(object_pairs_hook=_unique).decode


def _row(line: str, number: int, path: Path) -> Row:
    def fail(what: str) -> NoReturn:
        msg = f"{path}:{number}: {what}"
        raise DataError(msg)

    try:
        read = _decode(line.strip())
    except json.JSONDecodeError as error:
        cut = error.pos >= len(line.strip()) or error.msg.startswith("Unterminated")
        fix = "it looks cut short; restore the rest" if cut else "write one JSON object a line"
        fail(f"not valid JSON: {error.msg} at column {error.colno}; {fix}")
    except (ValueError, RecursionError) as error:
        fail(f"not valid JSON for this reader: {error}; correct it")
    if not isinstance(read, dict):
        fail("not a JSON object; write one object a line, such as " + _EXAMPLE)
    if not read.keys() <= _KNOWN:
        for key in read.keys() - _KNOWN:
            fail(f"unknown key {key!r}.{did_you_mean(key, _KEYS)} Known: {', '.join(_KEYS)}")
    for key in ("sample_id", "language", "text"):
        if key not in read:
            fail(f"key {key!r} is missing; a row looks like {_EXAMPLE}")
    for key in ("sample_id", "language"):
        if not isinstance(read[key], str) or not read[key].strip():
            fail(f"key {key!r} must be a text that is not empty, not {read[key]!r}")
    for key in ("text", "model", "error", "stop_reason"):
        if not isinstance(read.get(key), _TEXT_OR_NULL):
            fail(f"key {key!r} must be a text or null, not {read[key]!r}")
    try:
        language = _code(read["language"])
    except ConfigError as error:
        fail(f"key 'language': {error}")
    temperature = read.get("temperature")
    temperature = 0.0 if temperature is None else temperature
    if isinstance(temperature, bool) or not isinstance(temperature, (int, float)):
        fail(f"key 'temperature' must be a number, not {temperature!r}")
    if not math.isfinite(temperature) or temperature < 0:
        fail(f"key 'temperature' must be 0 or more, not {temperature!r}")
    repeat = read.get("repeat")
    repeat = 0 if repeat is None else repeat
    if isinstance(repeat, bool) or not isinstance(repeat, int) or repeat < 0:
        fail(f"key 'repeat' must be a whole number from 0, not {repeat!r}")
    text, stop_reason = read["text"], read.get("stop_reason")
    if stop_reason is not None and stop_reason not in _STOP_REASONS:
        suggestion = did_you_mean(stop_reason, _STOP_REASONS)
        fail(f"unknown stop_reason {stop_reason!r}.{suggestion} Known: {', '.join(_STOP_REASONS)}")
    if text is None and stop_reason not in _WITHOUT_TEXT:
        fail(f"key 'text' is null, so 'stop_reason' must say why: {', '.join(_WITHOUT_TEXT)}")
    return Row(
        line=number,
        sample_id=read["sample_id"],
        language=language,
        text=None if text is None else clean(text),
        temperature=float(temperature),
        repeat=repeat,
        stop_reason=stop_reason or "stop",
        model=clean(read.get("model") or ""),
        error=None if read.get("error") is None else clean(read["error"]),
    )


_EXAMPLE = '{"sample_id": "q0001", "language": "hi", "text": "…"}'


@cache
def _code(language: str) -> str:
    return find(language).code
