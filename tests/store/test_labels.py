"""Labels of samples are read back by sample and language."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_xling.store.database import Database
from pytest_xling.store.questions import labels
from tests.reports.scored_runs import Scored, put_run

if TYPE_CHECKING:
    from pathlib import Path


def test_labels_of_one_benchmark(tmp_path: Path) -> None:
    """Once per sample and language, whatever the conditions; samples without one left out."""
    answers = [
        Scored(id="q1-a1", language="en", readings={"m": 1.0}, metadata={"gold": "right"}),
        Scored(
            id="q1-a1",
            language="en",
            readings={"m": 1.0},
            metadata={"gold": "right"},
            condition="t1",
        ),
        Scored(id="q1-a1", language="hi", readings={"m": 1.0}, metadata={"gold": "wrong"}),
        Scored(id="q2-a1", language="en", readings={"m": 1.0}, metadata={"set": "agnostic"}),
        Scored(
            id="q3-a1",
            language="en",
            readings={"m": 1.0},
            metadata={"gold": "wrong"},
            benchmark="other",
        ),
    ]
    path = put_run(tmp_path / "s.sqlite", answers)
    with Database(path).read() as connection:
        found = labels(connection, "run-1", benchmark="health-consistency", key="gold")
        assert {("q1-a1", "en"): "right", ("q1-a1", "hi"): "wrong"} == found
        assert {} == labels(connection, "run-2", benchmark="health-consistency", key="gold")
