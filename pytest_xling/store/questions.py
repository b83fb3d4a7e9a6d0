"""What the cases of a run asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import select

from pytest_xling.store.schema import cases

if TYPE_CHECKING:
    from sqlalchemy import Connection

__all__ = ["questions"]


def questions(
    connection: Connection, run_id: str, *, benchmark: str, language: str
) -> dict[str, str]:
    """Return what was asked in one language, by sample.

    Args:
        connection: to the store.
        run_id: the run.
        benchmark: one of the run's.
        language: its code.
    """
    query = (
        select(cases.c.sample_id, cases.c.question)
        .where(
            cases.c.run_id == run_id,
            cases.c.benchmark == benchmark,
            cases.c.language == language,
        )
        .distinct()
    )
    return {sample: str(question) for sample, question in connection.execute(query)}
