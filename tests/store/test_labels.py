"""Labels of samples are read back by sample and language."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from pytest_xling.store.database import Database
from pytest_xling.store.questions import labels
from tests.runs import Scored, put_run

if TYPE_CHECKING:
    from pathlib import Path


def test_labels_of_one_benchmark(tmp_path: Path) -> None:
    """Once per sample and language, whatever the conditions; samples without one left out."""
    scored = partial(Scored, language="en", readings={"m": 1.0})
    answers = [
        scored(id="q1-a1", metadata={"gold": "right"}),
        scored(id="q1-a1", metadata={"gold": "right"}, condition="t1"),
        scored(id="q1-a1", metadata={"gold": "wrong"}, language="hi"),
        scored(id="q2-a1", metadata={"set": "agnostic"}),
        scored(id="q3-a1", metadata={"gold": "wrong"}, benchmark="other"),
    ]
    path = put_run(tmp_path / "s.sqlite", answers)
    with Database(path).read() as connection:
        found = labels(connection, "run-1", benchmark="health-consistency", key="gold")
        assert {("q1-a1", "en"): "right", ("q1-a1", "hi"): "wrong"} == found
        assert {} == labels(connection, "run-2", benchmark="health-consistency", key="gold")
