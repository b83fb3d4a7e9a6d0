"""Which run later ones of a model are compared with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import select

from pytest_xling.store.insertion import insert
from pytest_xling.store.schema import baselines

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy import Connection


@dataclass(frozen=True, slots=True, kw_only=True)
class Promoted:
    """A run that was promoted to be a baseline."""

    model: str
    benchmark: str
    run_id: str
    promoted_at: str
    """UTC, ISO 8601."""


def promote(
    connection: Connection, *, model: str, benchmarks: Iterable[str], run_id: str, at: str
) -> None:
    """Make a run the baseline of *model* for *benchmarks*; what was it before is so no more."""
    for benchmark in benchmarks:
        row = {"run_id": run_id, "promoted_at": at}
        statement = insert(connection, baselines).values(model=model, benchmark=benchmark, **row)
        connection.execute(
            statement.on_conflict_do_update(index_elements=["model", "benchmark"], set_=row)
        )


def promoted(connection: Connection, *, model: str | None = None) -> list[Promoted]:
    """Return all baselines, or those of *model*, by model and benchmark."""
    query = select(baselines).order_by(baselines.c.model, baselines.c.benchmark)
    if model is not None:
        query = query.where(baselines.c.model == model)
    return [
        Promoted(
            model=row.model,
            benchmark=row.benchmark,
            run_id=row.run_id,
            promoted_at=row.promoted_at,
        )
        for row in connection.execute(query)
    ]
