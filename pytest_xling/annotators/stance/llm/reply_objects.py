"""Objects in a judge's reply: JSON wherever it stands, else a literal of Python's."""

from __future__ import annotations

import ast
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["JsonObject", "json_objects", "literal_entries"]

_MOST_OBJECTS = 50
_LONGEST_LITERAL = 20_000
_MOST_BRACKETS = 100
_DEEPEST = 4
_STRING = re.compile(
    r"""'''(?:[^\\]|\\.)*?'''|\"{3}(?:[^\\]|\\.)*?\"{3}|'(?:[^'\\]|\\.)*+'|"(?:[^"\\]|\\.)*+\"""",
    re.DOTALL,
)
# What a literal may hold beside strings: no sums, no names, nothing the parser would warn about.
_BESIDE_STRINGS = re.compile(
    r"(?:[\s{}\[\](),:]|\b(?:True|False|None)\b|(?<!\w)-?\d{1,9}(?:\.\d{1,9})?(?!\w))*+"
)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_KNOWN_ESCAPES = frozenset("\\'\"abfnrtv0xuN\n")


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonObject:
    """An object and where it stands."""

    entries: tuple[tuple[str, Any], ...]
    """Its keys and values, and those of objects within it."""
    start: int
    end: int


class _Pairs(tuple[tuple[Any, Any], ...]):
    """An object as its pairs, so that a key that occurs twice does not hide one of its values."""

    __slots__ = ()


def json_objects(text: str) -> list[JsonObject]:
    """Return the JSON objects in *text* that stand in no other."""
    decoder = json.JSONDecoder(object_pairs_hook=_Pairs)
    found: list[JsonObject] = []
    place = text.find("{")
    for _ in range(_MOST_OBJECTS):
        if place < 0:
            break
        try:
            value, end = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):  # also a number, or brackets, without end
            end = place + 1
        else:
            found.append(JsonObject(entries=tuple(_entries(value)), start=place, end=end))
        place = text.find("{", end)
    return found


def literal_entries(text: str) -> list[tuple[str, Any]]:
    """Return keys and values of what is between the first brace and the last, read as Python.

    Only strings, numbers, True, False and None in brackets are read, and nothing is run.
    """
    literal = text[text.find("{") : text.rfind("}") + 1]
    if not literal or len(literal) > _LONGEST_LITERAL:
        return []
    rest = _STRING.sub(" ", literal)
    if _BESIDE_STRINGS.fullmatch(rest) is None or len(re.findall(r"[{\[(]", rest)) > _MOST_BRACKETS:
        return []
    try:
        tree = ast.parse(_ESCAPE.sub(_readable, literal), mode="eval")
        return list(_entries(_value(tree.body)))
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return []


def _readable(escape: re.Match[str]) -> str:
    """Return an escape Python knows as it is; of another, both characters."""
    return escape[0] if escape[1] in _KNOWN_ESCAPES else f"\\{escape[0]}"


def _value(node: ast.expr) -> Any:  # noqa: ANN401  any literal
    if isinstance(node, ast.Dict):
        keys = [None if key is None else _value(key) for key in node.keys]
        return _Pairs(zip(keys, map(_value, node.values), strict=True))
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        return [_value(element) for element in node.elts]
    return ast.literal_eval(node)


def _entries(value: Any, depth: int = 0) -> Iterator[tuple[str, Any]]:  # noqa: ANN401  any JSON
    """Go through the entries of an object, and of those within it."""
    if depth > _DEEPEST:
        return
    if isinstance(value, _Pairs):
        for key, held in value:
            if isinstance(key, str):
                yield key, held
            yield from _entries(held, depth + 1)
    elif isinstance(value, list):
        for held in value[:_MOST_OBJECTS]:
            yield from _entries(held, depth + 1)
