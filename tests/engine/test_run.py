"""A run evaluates jobs, and scores sets of their answers."""

from __future__ import annotations

import asyncio
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest

from pytest_xling.engine.client import Client
from pytest_xling.engine.run import Run
from pytest_xling.errors import PermanentFault
from pytest_xling.providers.scripted import ScriptedProvider
from pytest_xling.records import Request, Response
from pytest_xling.store.cases import by_case
from pytest_xling.store.database import Database
from pytest_xling.store.scores import scores
from tests.engine.asking import asked_twice
from tests.runs import begin_run

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_xling.records import Score

METRICS = ("sim_1gram", "sim_lda_20")
TEXTS = (
    "Drink water and rest in a dark room.",
    "Rest in a dark room and drink some water.",
    "Wash the wound with soap and running water.",
    "Running water and soap clean the wound.",
    "Keep the leg raised and cool it with ice.",
    "Cool it with ice, with the leg raised.",
)


class Forgetful(ScriptedProvider):
    """Repeats all questions but one."""

    forgets = ""

    async def generate(self, request: Request) -> Response:
        """Say the prompt again, or fail."""
        if f"{request.sample_id}-{request.repeat}" == self.forgets:
            msg = "forgotten"
            raise PermanentFault(msg)
        return Response(text=request.messages[0].content, stop_reason="stop")


def run(path: Path, run_id: str, *, forgets: str = "") -> list[Score]:
    """Evaluate six questions asked twice, and return their scores."""
    jobs = asked_twice({"en": TEXTS}, METRICS)
    provider = Forgetful("")
    provider.forgets = forgets
    database = begin_run(path, run_id)

    async def evaluate() -> None:
        made = Run(run_id=run_id, database=database, tested=Client(provider, "m"))
        await made.evaluate(jobs)
        with database.read() as connection:
            answered = set(by_case(connection, run_id, "case_id"))
        await made.score_corpora(jobs, answered=answered)
        await made.aclose()

    asyncio.run(evaluate())
    with database.read() as connection:
        found = scores(connection, run_id)
    database.close()
    return found


@pytest.mark.skipif(
    find_spec("tomotopy") is None,  # not imported: the metric chooses its instructions
    reason="topic metrics need the extra [topics]",
)
def test_sets_and_corpora_are_scored_but_where_a_fault_was(tmp_path: Path) -> None:
    """Each question once, under its first answer; a set that lost one has no score in its run."""
    lost = run(tmp_path / "s.sqlite", "r1", forgets="q3-1")
    whole = run(tmp_path / "s.sqlite", "r2")
    for found, numbers in ((lost, {0, 1, 2, 4, 5}), (whole, set(range(6)))):
        values = {(s.metric, s.sample_id, s.condition): s.value for s in found}
        assert values == {
            (metric, f"q{n}", ""): pytest.approx(1.0) for metric in METRICS for n in numbers
        }
    with Database(tmp_path / "s.sqlite", create=False).read() as connection:
        assert lost == scores(connection, "r1")
