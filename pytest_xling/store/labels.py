"""What the cases of a run are known to be, such as right or wrong answers to be recognised."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import func, select

from pytest_xling.store.schema import cases

if TYPE_CHECKING:
    from sqlalchemy import Connection

__all__ = ["labels"]


def labels(
    connection: Connection, run_id: str, *, benchmark: str, key: str
) -> dict[tuple[str, str], str]:
    """Return a field of the samples' metadata, by sample and language.

    Args:
        connection: to the store.
        run_id: the run.
        benchmark: one of the run's.
        key: of the metadata, in letters; samples without it are left out.
    """
    field = func.json_extract(cases.c.sample_metadata, f"$.{key}")
    query = (
        select(cases.c.sample_id, cases.c.language, field)
        .where(cases.c.run_id == run_id, cases.c.benchmark == benchmark, field.is_not(None))
        .distinct()
    )
    return {(sample, language): str(value) for sample, language, value in connection.execute(query)}
