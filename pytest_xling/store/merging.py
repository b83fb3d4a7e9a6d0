"""Bring what several stores have of one run into one store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import select
from sqlalchemy.dialects.sqlite import insert

from pytest_xling.store.schema import (
    calibrations,
    cases,
    inputs,
    outputs,
    run_steps,
    sets,
    steps,
    translation_noise,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sqlalchemy import Connection, Table

__all__ = ["copy_memo", "copy_run", "copy_steps"]

AT_ONCE = 1000
"""Rows read and written together."""


def copy_steps(source: Connection, target: Connection) -> dict[int, int]:
    """Copy what answers, annotates and scores; return its numbers in *target*, by those here.

    Args:
        source: to copy from; may be the same store.
        target: in a transaction that writes.
    """
    of_source = [dict(row) for row in source.execute(select(steps)).mappings()]
    if of_source:
        rows = [{name: row[name] for name in row if name != "id"} for row in of_source]
        target.execute(insert(steps).on_conflict_do_nothing(), rows)
    there = {
        digest: number for number, digest in target.execute(select(steps.c.id, steps.c.digest))
    }
    return {row["id"]: there[row["digest"]] for row in of_source}


def copy_memo(source: Connection, target: Connection, *, numbers: Mapping[int, int]) -> None:
    """Copy all answers, annotations and scores of a store, and what is known of annotators.

    What the target has already stays.

    Args:
        source: to copy from.
        target: in a transaction that writes.
        numbers: of steps, as :func:`copy_steps` returns them.
    """
    for table in (inputs, outputs, calibrations, translation_noise):
        for rows in _rows(source, table):
            target.execute(insert(table).on_conflict_do_nothing(), _renumbered(rows, numbers))


def copy_run(
    source: Connection, target: Connection, run_id: str, *, into: str, numbers: Mapping[int, int]
) -> None:
    """Copy the cases of a run, and what they were scored with, into a run that is there.

    Args:
        source: has the run.
        target: in a transaction that writes.
        run_id: the run that is copied.
        into: the run that gets its cases.
        numbers: of steps, as :func:`copy_steps` returns them.
    """
    for table in (cases, sets, run_steps):
        for rows in _rows(source, table, run_id=run_id):
            own = [{**row, "run_id": into} for row in _renumbered(rows, numbers)]
            target.execute(insert(table).on_conflict_do_nothing(), own)


def _rows(
    source: Connection, table: Table, *, run_id: str | None = None
) -> Iterator[list[dict[str, Any]]]:
    query = select(table)
    if run_id is not None:
        query = query.where(table.c.run_id == run_id)
    result = source.execute(query, execution_options={"yield_per": AT_ONCE})
    for rows in result.mappings().partitions():
        yield [dict(row) for row in rows]


def _renumbered(rows: list[dict[str, Any]], numbers: Mapping[int, int]) -> list[dict[str, Any]]:
    """Return *rows* with the steps they name by number as the target counts them."""
    return [
        row | {name: numbers[row[name]] for name in ("step", "response_step") if name in row}
        for row in rows
    ]
