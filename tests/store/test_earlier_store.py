"""A store made by commit cf510ef, before the house was rebuilt, stays valid.

It holds steps whose signatures name no library's version, so that it stays of use when those move.
``data/kept`` has the project that was run with `COMMAND` there, but for its tests.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_xling.store.database import Database
from pytest_xling.store.runs import list_runs
from pytest_xling.store.scores import scores

if TYPE_CHECKING:
    from pytest_xling.records import Score

DATA = Path(__file__).parent / "data"
METRICS = {
    "bread": [
        *("no_answer", "contradictory", "dissimilar"),
        *("less_comprehensive", "more_comprehensive"),
    ],
    "judging": ["misjudged", "says_right", "unknown_verdict"],
    "claims": [
        *("stance_score", "factual_accuracy", "agrees_with_false", "rejects_true"),
        *("stance_consistency", "neutral_consistency", "stance_agreement"),
        *("flip_to_false", "stance_unparsed"),
    ],
}
COMMAND = (
    *(sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "benchmarks", "-n0", "-q"),
    *("--model=scripted:script.yaml", "--xling-judge=scripted:judge.yaml"),
    *("--xling-samples=2", "--xling-temperatures=1", "--xling-param=stance=llm"),
)
TEST_FILE = """
import pytest

pytestmark = pytest.mark.xling(metrics={metrics!r})


def test_answer(xling_case):
    xling_case.check()


def test_gate(xling_gate):
    xling_gate.check()
"""
ASKING_IS_AN_ERROR = """
from pytest_xling.providers.scripted import ScriptedProvider


async def refuse(self, request):
    raise AssertionError(f"asked: {request}")


ScriptedProvider.generate = refuse
"""


def counts(store: Path) -> dict[str, int]:
    """Return how many outputs a store holds, by ``kind name version``."""
    query = (
        "SELECT kind || ' ' || name || ' ' || version, count(*) FROM outputs"
        " JOIN steps ON steps.id = outputs.step GROUP BY 1"
    )
    with closing(sqlite3.connect(store)) as connection:
        return dict(connection.execute(query))


def readings(store: Path) -> list[list[tuple[object, ...]]]:
    """Return by run, oldest first, all its scores."""

    def key(score: Score) -> tuple[object, ...]:
        place = (score.benchmark, score.sample_id, score.language, score.metric, score.signature)
        return (*place, str(score.value), score.reason)

    with Database(store, create=False).read() as connection:
        oldest_first = reversed(list_runs(connection))
        return [sorted(map(key, scores(connection, run.run_id))) for run in oldest_first]


@pytest.mark.slow
def test_a_warm_run_asks_nothing_and_scores_nothing_anew(tmp_path: Path) -> None:
    """Neither an answer nor a judgement nor a score is made again; the run has the same scores."""
    shutil.copytree(DATA / "kept", tmp_path, dirs_exist_ok=True)
    for name, metrics in METRICS.items():
        file = tmp_path / "benchmarks" / name / f"test_{name}.py"
        file.write_text(TEST_FILE.format(metrics=metrics))
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "conftest.py").write_text(ASKING_IS_AN_ERROR)
    store = tmp_path / ".xling" / "store.sqlite"
    store.parent.mkdir()
    shutil.copy(DATA / "store-cf510ef.sqlite", store)
    before = counts(store)
    ours = ("XLING_", "OPENAI_", "PYTEST_", "GITHUB_")
    environment = {k: v for k, v in os.environ.items() if not k.startswith(ours)}
    done = subprocess.run(
        COMMAND, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert before == counts(store)
    then, now = readings(store)
    assert then == now
    assert {name for names in METRICS.values() for name in names} <= {str(r[3]) for r in now}
