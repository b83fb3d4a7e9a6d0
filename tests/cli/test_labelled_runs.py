"""Commands whose figures people's labels are not in say so."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_xling.records import Threshold
from pytest_xling.store.database import Database
from pytest_xling.store.human_labels import HumanLabel, keep_human_labels
from tests.runs import Asked, make_run

if TYPE_CHECKING:
    from tests.cli.conftest import Xling

LIMITS = Threshold(benchmark="culture", metric="no_answer", language="hi", max_rate=0.2, min_n=10)


@pytest.fixture
def labelled(tmp_path: Path, xling: Xling, monkeypatch: pytest.MonkeyPatch) -> Xling:
    """Two runs, one of which people labelled after its gate was judged."""
    path = tmp_path / "store.sqlite"
    for name, model in (("one", "model-1"), ("two", "model-2")):
        asked = [
            Asked(id=f"q{number}", language="hi", question=f"{number}?", text=f"{name} {number}")
            for number in range(30)
        ]
        make_run(path, asked, metrics=("no_answer",), gates=(LIMITS,), run_id=name, model=model)
    labels = {
        f"q{number}-hi": HumanLabel(said="no", value=0.0 if number < 25 else None)
        for number in range(30)
    }
    with Database(path).write() as connection:
        keep_human_labels(connection, "one", labels, benchmark="culture", metric="no_answer")
    monkeypatch.setenv("COLUMNS", "110")
    monkeypatch.chdir(tmp_path)
    return xling.on(path)


STALE = (
    "no_answer-hi was judged before people's labels, which count now: "
    "xling gate one --thresholds thresholds.yaml"
)
ALONE = "People labelled answers (no_answer: hi 25). Only `xling gate` counts them"


def test_a_verdict_from_before_labels(labelled: Xling) -> None:
    """Shown with what judges anew; of a run without labels there is nothing to say."""
    assert STALE in labelled("show", "one").out
    assert "before people's labels" not in labelled("show", "two").out
    read = json.loads(labelled("show", "one", "--json").out)
    assert [{"benchmark": "culture", "case": "no_answer-hi"}] == read["judged_before_labels"]
    labelled("report", "one", "-o", "one.html")
    assert STALE in Path("one.html").read_text(encoding="utf-8")
    assert f"note: {STALE}" in labelled("promote", "one").out
    assert "note" not in labelled("promote", "two").out


def test_figures_without_labels(labelled: Xling) -> None:
    """Comparing and tuning go by the judge alone."""
    assert ALONE in labelled("compare", "one", "two").out
    assert ALONE not in labelled("compare", "two", "one").out
    tuned = labelled("tune", "one", "--metric=no_answer")
    assert f"run one: {ALONE}" in tuned.out, tuned.err
