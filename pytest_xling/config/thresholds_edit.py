"""Change limits in the text of a thresholds file, and nothing else in it.

The text of a value is replaced at the position that ruamel.yaml reports; a new key gets a line of
its own below its siblings. The result is read again: where it is not as expected, as with unusual
YAML, ruamel.yaml writes the whole file, with its comments.
"""

from __future__ import annotations

import re
from io import StringIO
from typing import TYPE_CHECKING, Any, TypeAlias

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap
from ruamel.yaml.error import YAMLError

from pytest_xling.errors import ConfigError
from pytest_xling.files.whole import kept_mode, whole

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

Place: TypeAlias = tuple[str, ...]

_NUMBER = re.compile(r"[-+.0-9][-+.0-9eE_]*")
_STEP = 2
"""Spaces by which a new line is indented."""


def with_limits(text: str, changes: Mapping[Place, float]) -> str:
    """Return *text* with values set at key paths.

    Args:
        text: of a valid thresholds file; may be empty.
        changes: by key path; the last parts of a path may be missing in the file.

    Raises:
        ConfigError: other limits would change as well.
    """
    tree = _load(text)
    present = {place: value for place, value in changes.items() if _get(tree, place) is not None}
    edited = _with_numbers(text, tree, present)
    for place, value in changes.items():
        if place not in present:
            edited = _with_key(edited, place, value)
    expected = _plain(_load(text))
    for place, value in changes.items():
        _put(expected, place, value)
    if _is_as(expected, edited):
        return edited
    tree = _load(text)
    for place, value in changes.items():
        _put(tree, place, value)
    buffer = StringIO()
    _yaml().dump(tree, buffer)
    if _is_as(expected, buffer.getvalue()):
        return buffer.getvalue()
    # A value that an alias repeats would change wherever it is repeated.
    shared = ", ".join(".".join(place) for place in changes)
    msg = f"{shared}: written by an anchor that other limits share; write each of them out first"
    raise ConfigError(msg)


def replace_text(path: Path, text: str, *, read: str) -> None:
    """Replace the contents of a file atomically.

    Args:
        path: the file; of a link the target is replaced.
        text: the new contents.
        read: the contents when it was read; "" where there was no file.

    Raises:
        ConfigError: it was changed meanwhile, or it cannot be written.
    """
    target = path.resolve()
    try:
        with whole(target, newline="", mode=kept_mode(target)) as file:
            file.write(text)
            current = target.read_bytes().decode() if target.exists() else ""
            if current != read:
                msg = f"{path} was changed meanwhile; nothing is written, run this again"
                raise ConfigError(msg)
    except OSError as error:
        msg = f"cannot write {path}: {error.strerror or error}"
        raise ConfigError(msg) from error


def _with_numbers(text: str, tree: CommentedMap, changes: Mapping[Place, float]) -> str:
    """Replace the numbers at key paths."""
    lines = text.splitlines(keepends=True)
    positions = []
    for place, value in changes.items():
        parent = _get(tree, place[:-1])
        if place[-1] in (parent.lc.data or ()):  # else merged from another mapping (<<)
            positions.append((*parent.lc.value(place[-1]), value))
    for row, column, value in sorted(positions, reverse=True):  # from the end, so that they hold
        number = _NUMBER.match(lines[row], column)
        if number:
            lines[row] = lines[row][:column] + _number(value) + lines[row][number.end() :]
    return "".join(lines)


def _with_key(text: str, place: Place, value: float) -> str:
    """Add a line, or lines, for a key that is not there."""
    tree = _load(text)
    depth = next(n for n in range(len(place), -1, -1) if _get(tree, place[:n]) is not None)
    parent = _get(tree, place[:depth])
    if not isinstance(parent, CommentedMap):
        return text
    rest = place[depth:]
    lines = text.splitlines(keepends=True)
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n"
    if parent and parent.fa.flow_style():
        row, column = parent.lc.key(next(iter(parent)))
        inside = _in_braces(rest, value)
        lines[row] = f"{lines[row][:column]}{inside}, {lines[row][column:]}"
        return "".join(lines)
    if not parent:
        indent, row = 0, len(lines)
    else:
        keys = list(parent)
        indent = parent.lc.key(keys[0])[1]
        # Directly below the key where a language is added to it, else below everything.
        beside = place[-1] if place[-1] in keys and len(rest) > 1 else None
        row = (parent.lc.key(beside)[0] if beside else _last_line(parent)) + 1
    added = [
        f"{' ' * (indent + _STEP * level)}{_key(key)}:\n" for level, key in enumerate(rest[:-1])
    ]
    if len(rest) > 1 and rest[-2] == place[-2] and "languages" in place[:-2]:
        added[-1] = f"{added[-1][:-1]} {{{_in_braces(rest[-1:], value)}}}\n"
    else:
        added.append(f"{' ' * (indent + _STEP * (len(rest) - 1))}{rest[-1]}: {_number(value)}\n")
    return "".join([*lines[:row], *added, *lines[row:]])


def _in_braces(place: Place, value: float) -> str:
    """Return nested keys with a value in flow style, without the outer braces."""
    if len(place) == 1:
        return f"{_key(place[0])}: {_number(value)}"
    return f"{_key(place[0])}: {{{_in_braces(place[1:], value)}}}"


def _number(value: float) -> str:
    """Return a number without a needless fraction."""
    return f"{value:.12g}"


def _last_line(node: Any) -> int:  # noqa: ANN401  ruamel's nodes
    """Return the last line, from 0, of a mapping whose values are numbers, words or mappings."""
    last = int(node.lc.line)
    for key, value in node.items():
        last = max(last, node.lc.key(key)[0], node.lc.value(key)[0])
        if isinstance(value, CommentedMap):
            last = max(last, _last_line(value))
    return last


def _key(key: str) -> str:
    """Return a key in quotes where YAML 1.1 would read a Boolean, such as ``no`` for Norwegian."""
    return f'"{key}"' if key.lower() in {"no", "y", "n", "yes", "on", "off"} else key


def _get(tree: Any, place: Place) -> Any:  # noqa: ANN401  ruamel's nodes
    for key in place:
        if not isinstance(tree, dict) or key not in tree:
            return None
        tree = tree[key]
    return tree


def _put(tree: dict[str, Any], place: Place, value: float) -> None:
    for key in place[:-1]:
        if not isinstance(tree.get(key), dict):
            tree[key] = CommentedMap()
        tree = tree[key]
    tree[place[-1]] = value


def _is_as(expected: dict[str, Any], text: str) -> bool:
    try:
        return bool(_plain(_load(text)) == expected)
    except YAMLError:
        return False


def _plain(node: Any) -> Any:  # noqa: ANN401  ruamel's nodes
    """Return a copy in which aliases share nothing."""
    if isinstance(node, dict):
        return {key: _plain(value) for key, value in node.items()}
    return [_plain(value) for value in node] if isinstance(node, list) else node


def _load(text: str) -> CommentedMap:
    data = _yaml().load(text)
    return data if isinstance(data, CommentedMap) else CommentedMap()


def _yaml() -> YAML:
    yaml = YAML(typ="rt", pure=True)
    yaml.preserve_quotes = True
    yaml.width = 4096
    return yaml
