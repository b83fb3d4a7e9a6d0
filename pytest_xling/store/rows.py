"""Rows and records: the one codec between them, and how rows are kept and read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache, partial
from types import NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Any,
    TypeAlias,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from pytest_xling.keys import canonical_json
from pytest_xling.store.dialects import insert

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from sqlalchemy import Connection, Select, Table

    from pytest_xling.keys import JsonValue

    Read: TypeAlias = Callable[[Any], Any] | None
    """Turns what is kept into a field's value; None: it is the value."""

T = TypeVar("T")

_AS_THEY_ARE = (str, int, float, bytes, NoneType)


def columns_of(record: Any) -> dict[str, Any]:  # noqa: ANN401  any dataclass
    """Return a record's fields as columns keep them: what is no number, text or bytes as JSON."""
    values = {field.name: getattr(record, field.name) for field in fields(record)}
    return {name: _column(value) for name, value in values.items()}


def _column(value: Any) -> Any:  # noqa: ANN401  likewise
    if isinstance(value, bool):
        return int(value)
    return value if isinstance(value, _AS_THEY_ARE) else canonical_json(plain(value))


def plain(value: Any) -> JsonValue:  # noqa: ANN401  likewise
    """Return a record, or what one holds, as JSON has it.

    A mapping by tuples is a list of lists, each a key's parts and the value.
    """
    if isinstance(value, Mapping):
        if any(isinstance(key, tuple) for key in value):
            return [[*key, plain(inner)] for key, inner in value.items()]
        return {key: plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    if is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    unchanged: JsonValue = value
    return unchanged


def record_of(cls: type[T], saved: Mapping[str, Any]) -> T:
    """Return the record that was kept as JSON; fields that are not there have their defaults.

    Raises:
        TypeError: it has fields that the record has not, or lacks some.
    """
    readers = _of_json(cls)  # type: ignore[arg-type]  # a class is hashable, which mypy denies
    return cls(
        **{
            name: value if (read := readers.get(name)) is None else read(value)
            for name, value in saved.items()
        }
    )


def read_records(connection: Connection, cls: type[T], query: Select[Any]) -> Iterator[T]:
    """Yield what a query selects as records; a column that is none of the fields is left out."""
    result = connection.execute(query)
    readers = _of_columns(cls)  # type: ignore[arg-type]  # likewise
    taken = [(at, name, readers[name]) for at, name in enumerate(result.keys()) if name in readers]
    for row in result:
        yield cls(**{name: row[at] if read is None else read(row[at]) for at, name, read in taken})


def keep(
    connection: Connection,
    table: Table,
    rows: Sequence[Mapping[str, Any]],
    *,
    replacing: bool = False,
) -> None:
    """Insert rows, by name of column; those with a key that is there stay as they are.

    Args:
        connection: in a transaction that writes.
        table: of the store.
        rows: all with the same columns.
        replacing: whether those that are there are replaced instead.
    """
    if not rows:
        return
    statement = insert(connection, table)
    key = [column.name for column in table.primary_key]
    if replacing:
        changed = {name: statement.excluded[name] for name in rows[0] if name not in key}
        statement = statement.on_conflict_do_update(index_elements=key, set_=changed)
    else:
        statement = statement.on_conflict_do_nothing()
    connection.execute(statement, rows)


@cache
def _hints(cls: Any) -> dict[str, Any]:  # noqa: ANN401  any dataclass
    hints = get_type_hints(cls, localns={"Mapping": Mapping, "JsonValue": Any})
    return {field.name: hints[field.name] for field in fields(cls)}


@cache
def _of_json(cls: Any) -> dict[str, Read]:  # noqa: ANN401  likewise
    return {name: _json_reader(hint) for name, hint in _hints(cls).items()}


@cache
def _of_columns(cls: Any) -> dict[str, Read]:  # noqa: ANN401  likewise
    return {name: _column_reader(hint) for name, hint in _hints(cls).items()}


def _column_reader(hint: Any) -> Read:  # noqa: ANN401  any type
    if (inner := _of_optional(hint)) is not None:
        return _unless_none(_column_reader(inner))
    if hint is bool:
        return bool
    read = _json_reader(hint)
    if read is None and get_origin(hint) is not Mapping:
        return None
    return json.loads if read is None else lambda text: read(json.loads(text))


def _json_reader(hint: Any) -> Read:  # noqa: ANN401  likewise
    if (inner := _of_optional(hint)) is not None:
        return _unless_none(_json_reader(inner))
    if isinstance(hint, type) and is_dataclass(hint):
        return partial(record_of, hint)
    parts = get_args(hint)
    if get_origin(hint) is tuple:
        each = [_json_reader(part) for part in parts if part is not Ellipsis]
        if len(each) == 1 and each[0] is not None:
            read = each[0]
            return lambda values: tuple(map(read, values))
        return tuple if len(each) == 1 else partial(_tuple, each)
    if get_origin(hint) is Mapping and get_origin(parts[0]) is tuple:
        return lambda rows: {tuple(key): value for *key, value in rows}
    return None


def _tuple(each: list[Read], values: Iterable[Any]) -> tuple[Any, ...]:
    pairs = zip(each, values, strict=True)
    return tuple(value if read is None else read(value) for read, value in pairs)


def _of_optional(hint: Any) -> Any:  # noqa: ANN401  likewise
    """Return the type that may be None instead; None of others."""
    if get_origin(hint) in {Union, UnionType}:
        others = [part for part in get_args(hint) if part is not NoneType]
        return others[0] if len(others) == 1 else None
    return None


def _unless_none(read: Read) -> Read:
    return None if read is None else lambda value: None if value is None else read(value)
