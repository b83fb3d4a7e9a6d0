"""How good the annotators are whose labels a run's gates rest on."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from pytest_xling.gates.evidence import annotators_behind
from pytest_xling.registry import names
from pytest_xling.reports.pivot import named_pivot

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy import Connection

    from pytest_xling.gates.evidence import Behind
    from pytest_xling.records import RunRecord, Verdict


def judges_behind(
    connection: Connection, run: RunRecord, verdicts: Iterable[Verdict]
) -> list[Behind]:
    """Return what the gates of a run rest on, sorted by annotator, aspect and language.

    Gates of metrics that are not known here are left out.

    Args:
        connection: to the store.
        run: the run.
        verdicts: of its gates.
    """
    known = names("metric")
    gates = [
        (verdict.threshold, bool(verdict.estimate.pivot))
        for verdict in verdicts
        if verdict.threshold.metric in known
    ]
    behind = annotators_behind(connection, run.run_id, gates, pivot=partial(named_pivot, run))
    return sorted(behind, key=lambda each: (each.annotator, each.aspect, each.language))


def name_of_labels(behind: Behind) -> str:
    """Return the name of the labels it was measured on, without their digest; "" for none."""
    return "" if behind.measured is None else behind.measured.source.rpartition("@")[0]


def measured_day(behind: Behind) -> str:
    """Return the day on which it was measured, such as 2026-11-22, in UTC; "" for none."""
    return "" if behind.measured is None else behind.measured.created_at[:10]
