"""A store made by the commit before the house was rebuilt stays valid."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_xling.store.database import Database
from pytest_xling.store.runs import list_runs
from pytest_xling.store.scores import scores
from tests.store.kept_project import COMMAND, METRICS, counts, run, write_project

if TYPE_CHECKING:
    from pytest_xling.records import Score

STORE = Path(__file__).parent / "data" / "store-cf510ef.sqlite"
ASKING_IS_AN_ERROR = """
from pytest_xling.providers.scripted import ScriptedProvider


async def refuse(self, request):
    raise AssertionError(f"asked: {request}")


ScriptedProvider.generate = refuse
"""


def readings(store: Path) -> list[list[tuple[object, ...]]]:
    """Return by run, oldest first, all its scores."""

    def key(score: Score) -> tuple[object, ...]:
        place = (score.benchmark, score.sample_id, score.language, score.metric, score.signature)
        return (*place, str(score.value), score.reason)

    with Database(store, create=False).read() as connection:
        oldest_first = reversed(list_runs(connection))
        return [sorted(map(key, scores(connection, run.run_id))) for run in oldest_first]


def test_a_warm_run_asks_nothing_and_scores_nothing_anew(tmp_path: Path) -> None:
    """Neither an answer nor a judgement nor a score is made again; the run has the same scores."""
    write_project(tmp_path)
    (tmp_path / "conftest.py").write_text(ASKING_IS_AN_ERROR)
    store = tmp_path / ".xling" / "store.sqlite"
    store.parent.mkdir()
    shutil.copy(STORE, store)
    before = counts(store)
    done = run(tmp_path, *COMMAND)
    assert done.returncode == 0, done.stdout + done.stderr
    assert before == counts(store)
    then, now = readings(store)
    assert then == now
    assert {metric for metrics in METRICS.values() for metric in metrics} <= {
        str(r[3]) for r in now
    }
