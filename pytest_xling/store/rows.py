"""Convert records to rows and JSON and back; insert rows and read records."""

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
    """Converts a stored value into a field's value; None: it is the value."""

T = TypeVar("T")

_COLUMN_TYPES = (str, int, float, bytes, NoneType)


def columns_of(record: Any) -> dict[str, Any]:  # noqa: ANN401  any dataclass
    """Return a record's fields as values of columns; other types are encoded as JSON."""
    values = {field.name: getattr(record, field.name) for field in fields(record)}
    return {name: _column(value) for name, value in values.items()}


def _column(value: Any) -> Any:  # noqa: ANN401  likewise
    if isinstance(value, bool):
        return int(value)
    return value if isinstance(value, _COLUMN_TYPES) else canonical_json(plain(value))


def plain(value: Any) -> JsonValue:  # noqa: ANN401  likewise
    """Return a record, or a value of one, as plain JSON values.

    A mapping by tuples becomes a list of lists, each a key's parts and the value.
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
    """Return the record of plain JSON values; missing fields have their defaults.

    Raises:
        TypeError: it has fields that the record has not, or lacks some.
    """
    readers = _json_readers(cls)  # type: ignore[arg-type]  # a class is hashable, which mypy denies
    return cls(
        **{
            name: value if (read := readers.get(name)) is None else read(value)
            for name, value in saved.items()
        }
    )


def read_records(connection: Connection, cls: type[T], query: Select[Any]) -> Iterator[T]:
    """Yield the rows of a query as records; columns that are no fields are left out."""
    result = connection.execute(query)
    readers = _column_readers(cls)  # type: ignore[arg-type]  # likewise
    columns = [(i, name, readers[name]) for i, name in enumerate(result.keys()) if name in readers]
    for row in result:
        yield cls(**{name: row[i] if read is None else read(row[i]) for i, name, read in columns})


def keep(
    connection: Connection,
    table: Table,
    rows: Sequence[Mapping[str, Any]],
    *,
    replacing: bool = False,
) -> None:
    """Insert rows; those already in the table, by primary key, stay as they are.

    Args:
        connection: in a transaction that writes.
        table: of the store.
        rows: values by column, all with the same columns.
        replacing: whether those already in the table are replaced instead.
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
def _json_readers(cls: Any) -> dict[str, Read]:  # noqa: ANN401  likewise
    return {name: _json_reader(hint) for name, hint in _hints(cls).items()}


@cache
def _column_readers(cls: Any) -> dict[str, Read]:  # noqa: ANN401  likewise
    return {name: _column_reader(hint) for name, hint in _hints(cls).items()}


def _column_reader(hint: Any) -> Read:  # noqa: ANN401  any type
    if (inner := _not_none(hint)) is not None:
        return _unless_none(_column_reader(inner))
    if hint is bool:
        return bool
    read = _json_reader(hint)
    if read is None and get_origin(hint) is not Mapping:
        return None
    return json.loads if read is None else lambda text: read(json.loads(text))


def _json_reader(hint: Any) -> Read:  # noqa: ANN401  likewise
    if (inner := _not_none(hint)) is not None:
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


def _not_none(hint: Any) -> Any:  # noqa: ANN401  likewise
    """Return X of the hint ``X | None``; None of other hints."""
    if get_origin(hint) in {Union, UnionType}:
        others = [part for part in get_args(hint) if part is not NoneType]
        return others[0] if len(others) == 1 else None
    return None


def _unless_none(read: Read) -> Read:
    return None if read is None else lambda value: None if value is None else read(value)
