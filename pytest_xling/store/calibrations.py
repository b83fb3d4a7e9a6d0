"""How well annotators did on labelled answers, as the store keeps it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import select
from sqlalchemy.dialects.sqlite import insert

from pytest_xling.store.schema import calibrations

if TYPE_CHECKING:
    from sqlalchemy import Connection

__all__ = ["add_calibration", "read_calibrations"]


def add_calibration(
    connection: Connection,
    *,
    signature: str,
    language: str,
    source: str,
    created_at: str,
    result: str,
) -> None:
    """Keep a result, as JSON; a later one on the same labels replaces it.

    Args:
        connection: to the store.
        signature: of the annotator.
        language: of the labelled answers.
        source: which labelled answers.
        created_at: UTC, ISO 8601.
        result: JSON.
    """
    row = {"source": source, "created_at": created_at, "result": result}
    statement = insert(calibrations).values(signature=signature, language=language, **row)
    connection.execute(
        statement.on_conflict_do_update(
            index_elements=["signature", "language", "source"], set_=row
        )
    )


def read_calibrations(
    connection: Connection, *, signature: str | None = None, language: str | None = None
) -> list[str]:
    """Return the results there are, as JSON, the latest last."""
    query = select(calibrations.c.result).order_by(
        calibrations.c.created_at, calibrations.c.source, calibrations.c.language
    )
    for column, wanted in (
        (calibrations.c.signature, signature),
        (calibrations.c.language, language),
    ):
        if wanted is not None:
            query = query.where(column == wanted)
    return list(connection.execute(query).scalars())
