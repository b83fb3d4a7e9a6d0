"""Merge the parts of a run that several stores have into one store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import select

from pytest_xling.store.cases import answer_of_case, read_response
from pytest_xling.store.rows import keep
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

    from sqlalchemy import Connection, Select

    from pytest_xling.store.database import Database

AT_ONCE = 1000
"""Rows read and written together."""


def copy_steps(source: Database, target: Connection) -> dict[int, int]:
    """Copy all steps; return their ids in *target*, by those in *source*.

    Args:
        source: to copy from; may be the same store.
        target: in a transaction that writes.
    """
    of_source = [row for rows in _rows(source, select(steps)) for row in rows]
    without_numbers = [{name: row[name] for name in row if name != "id"} for row in of_source]
    keep(target, steps, without_numbers)
    query = select(steps.c.id, steps.c.digest)
    numbers = {digest: number for number, digest in target.execute(query)}
    return {row["id"]: numbers[row["digest"]] for row in of_source}


def answered_differently(
    source: Database, target: Connection, run_id: str, *, numbers: Mapping[int, int]
) -> str | None:
    """Return a case of a run that has another answer in *target*; None where there is none.

    Args:
        source: has the run.
        target: to compare it with.
        run_id: the run.
        numbers: of steps, as :func:`copy_steps` returns them.
    """
    query = select(
        cases.c.case_id, outputs.c.input_key, outputs.c.step, outputs.c.output
    ).join_from(cases, outputs, answer_of_case)
    for rows in _rows(source, query.where(cases.c.run_id == run_id)):
        keys = [row["input_key"] for row in rows]
        same_keys = select(outputs.c.input_key, outputs.c.step, outputs.c.output).where(
            outputs.c.input_key.in_(keys)
        )
        answers = {(key, step): output for key, step, output in target.execute(same_keys)}
        for row in _renumbered(rows, numbers):
            answer = answers.get((row["input_key"], row["step"]), row["output"])
            if read_response(answer)["text"] != read_response(row["output"])["text"]:
                case: str = row["case_id"]
                return case
    return None


def copy_memo(source: Database, target: Connection, *, numbers: Mapping[int, int]) -> None:
    """Copy all answers, annotations, scores and measurements of a store.

    Rows that the target has already stay.

    Args:
        source: to copy from.
        target: in a transaction that writes.
        numbers: of steps, as :func:`copy_steps` returns them.
    """
    for table in (inputs, outputs, calibrations, translation_noise):
        for rows in _rows(source, select(table)):
            keep(target, table, _renumbered(rows, numbers))


def copy_run(
    source: Database, target: Connection, run_id: str, *, into: str, numbers: Mapping[int, int]
) -> None:
    """Copy the cases of a run, and their metric steps, into another run.

    Args:
        source: has the run.
        target: in a transaction that writes.
        run_id: the run that is copied.
        into: the run that gets its cases.
        numbers: of steps, as :func:`copy_steps` returns them.
    """
    for table in (cases, sets, run_steps):
        for rows in _rows(source, select(table).where(table.c.run_id == run_id)):
            keep(target, table, [{**row, "run_id": into} for row in _renumbered(rows, numbers)])


def _rows(source: Database, query: Select[Any]) -> Iterator[list[dict[str, Any]]]:
    # Opened here: its errors must not be reported as those of the store that is written to.
    with source.read() as connection:
        result = connection.execute(query, execution_options={"yield_per": AT_ONCE})
        for rows in result.mappings().partitions():
            yield [dict(row) for row in rows]


def _renumbered(rows: list[dict[str, Any]], numbers: Mapping[int, int]) -> list[dict[str, Any]]:
    """Return *rows* with the target's ids of steps."""
    return [
        row | {name: numbers[row[name]] for name in ("step", "response_step") if name in row}
        for row in rows
    ]
