"""What a run's scores are of: its answers, and its sets of answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import select, union_all

from pytest_xling.store.json_fields import text_at
from pytest_xling.store.schema import cases, sets

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, CompoundSelect

LEVEL = text_at(cases.c.sample_metadata, "$.level").label("level")
"""How strongly a case's query presupposes its claim, as its metadata say."""


def level_of(stored: object) -> int | None:
    """Read what :data:`LEVEL` gives: digits are a level, all else is the data's own business."""
    return int(stored) if isinstance(stored, str) and stored.isdecimal() else None


def scored_inputs(run_id: str | ColumnElement[str], *columns: Any) -> CompoundSelect[Any]:
    """Select *columns* of a run's cases, and ``input_key``: what their scores are kept under.

    A case is there once for its own answer, and once more for each set it is the first answer of.

    Args:
        run_id: the run.
        columns: of the table ``cases``.
    """
    answers = select(*columns, cases.c.answer_key.label("input_key")).where(
        cases.c.run_id == run_id
    )
    of_case = (
        (sets.c.run_id == cases.c.run_id)
        & (sets.c.benchmark == cases.c.benchmark)
        & (sets.c.case_id == cases.c.case_id)
    )
    together = (
        select(*columns, sets.c.set_key.label("input_key"))
        .select_from(sets)
        .join(cases, of_case)
        .where(sets.c.run_id == run_id)
    )
    return union_all(answers, together)
