"""Why cases of a run have no answer or no score: each fault once, and the cases that met it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import Integer, bindparam, cast, delete, func, select

from pytest_xling.store.rows import columns_of, keep, read_records
from pytest_xling.store.schema import faulted, faults
from pytest_xling.text.display import shorten

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sqlalchemy import Connection

LONGEST = 600
"""Characters of a fault's text. The index of a PostgreSQL server has room for 2,704 bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultRow:
    """A case that met a fault, or was given up because others had met it."""

    benchmark: str
    case_id: str
    response_key: bytes
    given_up: bool
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFault:
    """A fault of a run, and how many cases have no score for it."""

    text: str
    cases: int
    given_up: int
    """Those of them that were given up because others had met it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseFault:
    """The fault that a case of a run met."""

    run_id: str
    benchmark: str
    case_id: str
    given_up: bool
    text: str


def put_faults(
    connection: Connection,
    run_id: str,
    rows: Sequence[FaultRow],
    *,
    without_fault: Iterable[tuple[str, str]] = (),
) -> None:
    """Keep the faults of cases.

    Args:
        connection: in a transaction that writes.
        run_id: the run.
        rows: of cases that met a fault.
        without_fault: benchmark and id of cases that met none; their earlier faults are deleted.
    """
    if answered := [{"b": benchmark, "c": case_id} for benchmark, case_id in without_fault]:
        # Looked up first: nearly all runs have no faults.
        known = select(faulted.c.case_id).where(faulted.c.run_id == run_id).limit(1)
        if connection.execute(known).first() is not None:
            connection.execute(
                delete(faulted).where(
                    faulted.c.run_id == run_id,
                    faulted.c.benchmark == bindparam("b"),
                    faulted.c.case_id == bindparam("c"),
                ),
                answered,
            )
    if not rows:
        return
    shortened = {row.text: shorten(row.text, limit=LONGEST, cut="middle") for row in rows}
    texts = sorted(set(shortened.values()))
    keep(connection, faults, [{"run_id": run_id, "text": text} for text in texts])
    query = select(faults.c.text, faults.c.id).where(faults.c.run_id == run_id)
    numbers = {row.text: row.id for row in connection.execute(query)}
    new = []
    for row in rows:
        columns = {"run_id": run_id, **columns_of(row)}
        columns["fault"] = numbers[shortened[columns.pop("text")]]
        new.append(columns)
    keep(connection, faulted, new, replacing=True)


def faulted_cases(connection: Connection, run_id: str) -> set[tuple[str, str]]:
    """Return benchmark and id of a run's cases that met a fault."""
    query = select(faulted.c.benchmark, faulted.c.case_id)
    query = query.join(faults, faults.c.id == faulted.c.fault).where(faults.c.run_id == run_id)
    return {(benchmark, case_id) for benchmark, case_id in connection.execute(query)}


def run_faults(connection: Connection, run_id: str) -> list[RunFault]:
    """Return the faults of a run, those of most cases first."""
    cases = func.count().label("cases")
    # PostgreSQL's sum of whole numbers is a decimal.
    given_up = cast(func.sum(faulted.c.given_up), Integer).label("given_up")
    query = (
        select(faults.c.text, cases, given_up)
        .join(faulted, faulted.c.fault == faults.c.id)
        .where(faults.c.run_id == run_id)
        .group_by(faults.c.id)
        .order_by(cases.desc(), faults.c.text)
    )
    return list(read_records(connection, RunFault, query))


def faults_of_key(connection: Connection, key: bytes, *, limit: int) -> list[CaseFault]:
    """Return the faults of cases whose request has *key*, of the newest runs first."""
    query = (
        select(faulted, faults.c.text)
        .join(faults, faults.c.id == faulted.c.fault)
        .where(faulted.c.response_key == key)
        .order_by(faulted.c.run_id.desc(), faulted.c.case_id)
        .limit(limit)
    )
    return list(read_records(connection, CaseFault, query))
