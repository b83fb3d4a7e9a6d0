"""Change limits in the text of a thresholds file, and nothing else of it.

Where ruamel.yaml finds a value to stand, its text is replaced; a new key gets a line of its own
below its siblings. What came of it is read again: where it does not say what it should, because
somebody writes YAML in an unusual way, ruamel.yaml writes the whole file, comments kept.
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
"""Blanks a new line is indented by."""


def edited(text: str, changes: Mapping[Place, float]) -> str:
    """Return *text* with values set at key paths.

    Args:
        text: of a thresholds file that is known to be right; may be empty.
        changes: by key path, of which only the last parts may be missing.

    Raises:
        ConfigError: other limits would change as well.
    """
    tree = _load(text)
    present = {place: value for place, value in changes.items() if _get(tree, place) is not None}
    made = _with_numbers(text, tree, present)
    for place, value in changes.items():
        if place not in present:
            made = _with_key(made, place, value)
    wanted = _plain(_load(text))
    for place, value in changes.items():
        _put(wanted, place, value)
    if _is(made, wanted):
        return made
    tree = _load(text)
    for place, value in changes.items():
        _put(tree, place, value)
    buffer = StringIO()
    _yaml().dump(tree, buffer)
    if _is(buffer.getvalue(), wanted):
        return buffer.getvalue()
    # What an alias repeats would change wherever it stands.
    shared = ", ".join(".".join(place) for place in changes)
    msg = f"{shared}: written by an anchor that other limits share; write each of them out first"
    raise ConfigError(msg)


def replace_text(path: Path, text: str, *, read: str) -> None:
    """Let *text* take the place of what *path* held, all at once.

    Args:
        path: the file; where it is a link, what it links to is replaced.
        text: what it shall hold.
        read: what it held when it was read; "" where there was none.

    Raises:
        ConfigError: somebody has changed it meanwhile, or it cannot be written.
    """
    target = path.resolve()
    try:
        with whole(target, newline="", mode=kept_mode(target)) as file:
            file.write(text)
            there = target.read_bytes().decode() if target.exists() else ""
            if there != read:
                msg = f"{path} was changed meanwhile; nothing is written, run this again"
                raise ConfigError(msg)
    except OSError as error:
        msg = f"cannot write {path}: {error.strerror or error}"
        raise ConfigError(msg) from error


def _with_numbers(text: str, tree: CommentedMap, changes: Mapping[Place, float]) -> str:
    """Replace the numbers that stand at key paths."""
    lines = text.splitlines(keepends=True)
    spots = []
    for place, value in changes.items():
        parent = _get(tree, place[:-1])
        if place[-1] in (parent.lc.data or ()):  # else merged from another mapping (<<)
            spots.append((*parent.lc.value(place[-1]), value))
    for row, column, value in sorted(spots, reverse=True):  # from the end, so that places hold
        number = _NUMBER.match(lines[row], column)
        if number:
            lines[row] = lines[row][:column] + _number(value) + lines[row][number.end() :]
    return "".join(lines)


def _with_key(text: str, place: Place, value: float) -> str:
    """Add a line, or lines, for a key that is not there."""
    tree = _load(text)
    depth = next(at for at in range(len(place), -1, -1) if _get(tree, place[:at]) is not None)
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
        # Beside the key itself where a language is added to it, else below everything.
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
    """Return a key, or one in another, as it stands between braces."""
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
    """Return a key as YAML 1.1 and 1.2 read it alike: Norwegian is not a Boolean."""
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


def _is(text: str, wanted: dict[str, Any]) -> bool:
    try:
        return bool(_plain(_load(text)) == wanted)
    except YAMLError:
        return False


def _plain(node: Any) -> Any:  # noqa: ANN401  ruamel's nodes
    """Return mappings by themselves, none of them shared with another place."""
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
