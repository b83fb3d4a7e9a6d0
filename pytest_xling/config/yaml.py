"""Read a YAML 1.2 file into plain values, with the line of each key."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.constructor import ConstructorError, DuplicateKeyError, RoundTripConstructor
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.reader import ReaderError
from ruamel.yaml.scalarbool import ScalarBoolean

from pytest_xling.errors import ConfigError, did_you_mean
from pytest_xling.files.whole import display_path

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping
    from pathlib import Path

    from ruamel.yaml.nodes import Node

YamlValue: TypeAlias = "str | int | float | bool | list[YamlValue] | dict[str, YamlValue] | None"

T = TypeVar("T")

Place: TypeAlias = tuple[str | int, ...]
"""A key path."""

MAX_NODES = 100_000
"""More values than any file of ours has; nested aliases could multiply without end."""

MAX_DEPTH = 50


class _Constructor(RoundTripConstructor):
    """Builds values as YAML 1.2 defines them: there, a date is text."""

    def construct_object(self, node: Node, deep: bool = False) -> Any:  # noqa: ANN401, FBT001, FBT002  as ruamel has it
        """Refuse an alias within its own anchor, which ruamel would turn into None."""
        if node in self.recursive_objects:
            what = "an alias (*name) stands within the value that it names"
            raise ConstructorError(problem=what, problem_mark=node.start_mark)
        return super().construct_object(node, deep=deep)


_Constructor.add_constructor(
    "tag:yaml.org,2002:timestamp", lambda loader, node: loader.construct_scalar(node)
)


@dataclass(frozen=True, slots=True, kw_only=True)
class YamlFile:
    """A mapping read from a file.

    A *key path* names a value: ``("benchmarks", "culture")``; list items go by their index.
    """

    path: Path
    data: dict[str, YamlValue]
    lines: Mapping[Place, int]
    """Line of each key path, counted from 1."""

    @property
    def name(self) -> str:
        """The path for messages: relative to the working directory where it lies below."""
        return display_path(self.path)

    def line(self, *keys: str | int) -> int:
        """Return the line of a key path, or of its nearest known ancestor."""
        while keys and keys not in self.lines:
            keys = keys[:-1]
        return self.lines.get(keys, 1)

    def get(self, *keys: str | int) -> YamlValue:
        """Return the value at a key path; None where there is none."""
        value: Any = self.data
        for key in keys:
            inside = key in value if isinstance(value, dict) else isinstance(value, list)
            value = value[key] if inside else None
        return value  # type: ignore[no-any-return]  # a walk through nested values

    def error(self, *keys: str | int, what: str) -> ConfigError:
        """Return the error to raise for the value at a key path."""
        where = ".".join(str(key) for key in keys)
        return ConfigError(f"{self.name}:{self.line(*keys)}: {where}{': ' if keys else ''}{what}")

    def entries(
        self, *keys: str | int, what: str, known: Collection[str] = ()
    ) -> dict[str, YamlValue]:
        """Return the mapping at a key path, which may not be empty.

        Args:
            keys: the key path.
            what: the message where there is none.
            known: the keys it may have; empty: any.

        Raises:
            ConfigError: there is none, or a key is unknown.
        """
        mapping = self.get(*keys)
        if not isinstance(mapping, dict) or not mapping:
            raise self.error(*keys, what=what)
        for key in mapping:
            if known and key not in known:
                listed = f"{did_you_mean(key, known)} Known: {', '.join(known)}"
                raise self.error(*keys, key, what=f"unknown key.{listed}")
        return mapping

    def read(self, *keys: str | int, by: Callable[[Any], T]) -> T:
        """Return the value at a key path, converted by *by*.

        Raises:
            ConfigError: *by* raised ValueError or ConfigError; adds the place to its message.
        """
        try:
            return by(self.get(*keys))
        except (ConfigError, ValueError) as error:
            raise self.error(*keys, what=str(error)) from error

    def optional(self, *keys: str | int, by: Callable[[Any], T]) -> T | None:
        """Return the value at a key path, converted by *by*; None where there is none.

        Raises:
            ConfigError: as :meth:`read`.
        """
        return None if self.get(*keys) is None else self.read(*keys, by=by)

    def items(self, *keys: str | int, by: Callable[[Any], T], what: str) -> list[T]:
        """Return the items of the list at a key path, each converted by *by*.

        Raises:
            ConfigError: there is no list, or it is empty: with the message *what*; or an item is
                wrong.
        """
        listed = self.get(*keys)
        if not isinstance(listed, list) or not listed:
            raise self.error(*keys, what=what)
        return [self.read(*keys, number, by=by) for number in range(len(listed))]


def read_yaml(path: Path) -> YamlFile:
    """Read the mapping in *path*.

    Raises:
        ConfigError: the file cannot be read, is not UTF-8 or not YAML, is empty, is no mapping,
            gives a key twice, or has a key that is not text.
    """
    name = display_path(path)
    text = _text(path, name)
    try:
        tree = _loader().load(text)
    except DuplicateKeyError as error:
        key = str(error.problem).partition('"')[2].partition('"')[0]
        msg = f"{_where(name, error)}: key {key!r} is given twice; keep one of them"
        raise ConfigError(msg) from error
    except MarkedYAMLError as error:
        what = error.problem or error.context or "cannot be parsed"
        msg = (
            f"{_where(name, error)}: not valid YAML: {what}; check quotes, brackets and indentation"
        )
        raise ConfigError(msg) from error
    except ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        character = text[error.position : error.position + 1]
        msg = f"{name}:{line}: character {character!r} is not allowed in YAML; remove it"
        raise ConfigError(msg) from error
    except (YAMLError, ValueError) as error:
        msg = f"{name}: not valid YAML: {error}"
        raise ConfigError(msg) from error
    except RecursionError as error:
        msg = f"{name}: nested too deeply; write it flatter"
        raise ConfigError(msg) from error
    if tree is None:
        msg = f"{name}: the file is empty; write its settings or remove it"
        raise ConfigError(msg)
    if not isinstance(tree, CommentedMap):
        msg = f"{name}:1: expected `key: value` lines at the top level, not {_kind(tree)}"
        raise ConfigError(msg)
    lines: dict[Place, int] = {(): 1}
    data = _Converter(name=name, lines=lines).mapping(tree, ())
    return YamlFile(path=path, data=data, lines=lines)


def _loader() -> YAML:
    yaml = YAML(typ="rt", pure=True)
    yaml.Constructor = _Constructor
    return yaml


def _text(path: Path, name: str) -> str:
    try:
        raw = path.read_bytes()
    except OSError as error:
        msg = f"{name}: cannot be read: {error.strerror or error}; check the path"
        raise ConfigError(msg) from error
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        msg = f"{name}:{line}: not UTF-8 (byte 0x{raw[error.start]:02x}); save the file as UTF-8"
        raise ConfigError(msg) from error
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    for number, content in enumerate(text.split("\n"), start=1):
        if content.startswith("%YAML") and content.split()[1:2] != ["1.2"]:
            # Under 1.1 the language code `no` would be read as False.
            msg = f"{name}:{number}: only YAML 1.2 is read; remove the %YAML line"
            raise ConfigError(msg)
    return text


@dataclass(slots=True, kw_only=True)
class _Converter:
    """Converts ruamel's values to plain ones and notes their lines."""

    name: str
    lines: dict[Place, int]
    nodes: int = 0

    def mapping(self, node: CommentedMap, place: Place) -> dict[str, YamlValue]:
        plain: dict[str, YamlValue] = {}
        for key, value in node.items():
            position = node.lc.data.get(key) if node.lc.data else None
            line = position[0] + 1 if position else self.lines[place]
            if not isinstance(key, str):
                msg = f"{self.name}:{line}: key {key!r} is not text; write it in quotes"
                raise ConfigError(msg)
            self.lines[*place, key] = line
            plain[self.text(key, (*place, key))] = self.value(value, (*place, key))
        return plain

    def value(self, node: object, place: Place) -> YamlValue:
        self.nodes += 1
        if self.nodes > MAX_NODES:
            msg = f"{self.name}: more than {MAX_NODES:,} values; look for aliases (*name) that nest"
            raise ConfigError(msg)
        if len(place) > MAX_DEPTH:
            msg = f"{self.name}:{self.lines[place]}: nested too deeply; write it flatter"
            raise ConfigError(msg)
        match node:
            case CommentedMap():
                return self.mapping(node, place)
            case CommentedSeq():
                return self.sequence(node, place)
            case str():
                return self.text(node, place)
            case _:
                return self.scalar(node, place)

    def scalar(self, node: object, place: Place) -> bool | float | None:
        match node:
            case None | bool():
                return node
            case ScalarBoolean():  # an int to Python
                return bool(node)
            case int():
                return int(node)
            case float():
                return float(node)
            case _:
                where = f"{self.name}:{self.lines[place]}"
                msg = f"{where}: {_kind(node)} is not supported; write it plain"
                raise ConfigError(msg)

    def sequence(self, node: CommentedSeq, place: Place) -> list[YamlValue]:
        plain = []
        for index, value in enumerate(node):
            position = node.lc.data.get(index) if node.lc.data else None
            self.lines[*place, index] = position[0] + 1 if position else self.lines[place]
            plain.append(self.value(value, (*place, index)))
        return plain

    def text(self, node: str, place: Place) -> str:
        if not node.isascii() and any("\ud800" <= c <= "\udfff" for c in node):
            msg = (
                f"{self.name}:{self.lines[place]}: holds half a surrogate pair; write the character"
            )
            raise ConfigError(msg)
        return str(node)


def _where(name: str, error: MarkedYAMLError) -> str:
    mark = error.problem_mark or error.context_mark
    return f"{name}:{mark.line + 1}" if mark else name


def _kind(value: object) -> str:
    if isinstance(value, CommentedSeq):
        return "a list"
    if tag := getattr(getattr(value, "tag", None), "value", None):
        return f"the tag {tag!r}"
    return f"the value {value!r}" if isinstance(value, str | int | float) else "such a value"
