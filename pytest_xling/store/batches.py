"""The batches submitted to services, and which requests are in them."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from sqlalchemy import bindparam, delete, exists, func, select, update

from pytest_xling.keys import canonical_json
from pytest_xling.store.dialects import insert
from pytest_xling.store.rows import columns_of, keep
from pytest_xling.store.schema import batched, batches, outputs

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sqlalchemy import ColumnElement, Connection

    from pytest_xling.interfaces.batching import BatchState

NOT_BEGUN = "not begun"
"""The status of a batch whose id is not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchRow:
    """A batch, as the store knows it."""

    id: int
    """In this store."""
    model: str
    """As it was named: ``batch:gpt-4o``."""
    service: str
    """Its address."""
    file: str
    """The service's id of the file of requests."""
    batch: str | None
    """The service's id of the batch; None: it may not have been begun."""
    created_at: float
    """Seconds since 1970."""
    status: str
    """As the service last reported."""
    completed: int
    failed: int
    total: int


Batched: TypeAlias = "tuple[BatchRow, tuple[str, ...]]"
"""The batch that a request is in, and the params it was sent without."""


_own_batch = batches.alias("own_batch")
# An answer older than the batch is an earlier one: --xling-max-age=0 has asked anew.
_IS_ANSWERED = exists(
    select(outputs.c.input_key)
    .where(
        outputs.c.input_key == batched.c.input_key,
        _own_batch.c.id == batched.c.batch,
        outputs.c.created_at >= _own_batch.c.created_at,
    )
    .correlate(batched)
)

_COLUMNS = [batches.c[name] for name in BatchRow.__slots__]
_batch_of = (
    select(*_COLUMNS, batched.c.left_out)
    .join(batched, batched.c.batch == batches.c.id)
    .where(batched.c.input_key == bindparam("key"))
)


def add(
    connection: Connection,
    *,
    model: str,
    service: str,
    file: str,
    keys: Mapping[bytes, tuple[str, ...]],
) -> BatchRow:
    """Add a batch that is about to be begun.

    Args:
        connection: inside a write transaction.
        model: as it was named.
        service: its address.
        file: the service's id of the requests' file.
        keys: the content keys of the requests, and which params each was sent without.
    """
    row = BatchRow(
        id=0,
        model=model,
        service=service,
        file=file,
        batch=None,
        created_at=time.time(),
        status=NOT_BEGUN,
        completed=0,
        failed=0,
        total=len(keys),
    )
    values = columns_of(row)
    del values["id"]
    number = connection.execute(
        insert(connection, batches).values(values).returning(batches.c.id)
    ).scalar_one()
    requests = [
        {"input_key": key, "batch": number, "left_out": canonical_json(left_out)}
        for key, left_out in keys.items()
    ]
    keep(connection, batched, requests, replacing=True)
    return replace(row, id=number)


def note(connection: Connection, row: BatchRow, state: BatchState) -> None:
    """Update a batch by what the service reports."""
    connection.execute(
        update(batches)
        .where(*_is(row))
        .values(batch=state.id, status=state.status, completed=state.completed, failed=state.failed)
    )


def batch_of(connection: Connection, key: bytes) -> Batched | None:
    """Return the batch that a request is in; None where it is in none."""
    row = connection.execute(_batch_of, {"key": key}).mappings().one_or_none()
    if row is None:
        return None
    values = dict(row)
    left_out = tuple(json.loads(values.pop("left_out")))
    return BatchRow(**values), left_out


def forget(connection: Connection, keys: Iterable[bytes]) -> None:
    """Remove requests from their batches: they were answered with a fault, or not at all."""
    rows = [{"k": key} for key in keys]
    if rows:
        connection.execute(delete(batched).where(batched.c.input_key == bindparam("k")), rows)


def drop(connection: Connection, row: BatchRow) -> int:
    """Remove a batch and return how many of its requests will be asked again."""
    if not connection.execute(select(exists().where(*_is(row)))).scalar():
        return 0  # another process has removed it
    requests = connection.execute(delete(batched).where(batched.c.batch == row.id)).rowcount
    connection.execute(delete(batches).where(*_is(row)))
    return requests


def tidy(connection: Connection) -> None:
    """Remove requests whose answers are stored, and batches without requests."""
    connection.execute(delete(batched).where(_IS_ANSWERED))
    connection.execute(delete(batches).where(~exists().where(batched.c.batch == batches.c.id)))


def list_batches(connection: Connection) -> list[tuple[BatchRow, int]]:
    """Return the batches, oldest first, each with how many answers are yet to be stored."""
    waiting = (
        select(func.count()).where(batched.c.batch == batches.c.id, ~_IS_ANSWERED).scalar_subquery()
    )
    query = select(*_COLUMNS, waiting.label("waiting")).order_by(batches.c.id)
    rows = [dict(row) for row in connection.execute(query).mappings()]
    return [(BatchRow(**row), waits) for row in rows for waits in (row.pop("waiting"),)]


def _is(row: BatchRow) -> tuple[ColumnElement[bool], ...]:
    """Return the condition for one batch: SQLite reuses the ids of removed rows."""
    return batches.c.id == row.id, batches.c.file == row.file
