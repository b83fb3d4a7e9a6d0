"""A run evaluates jobs, and scores sets of their answers."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, ClassVar

import pytest

from pytest_xling.engine.client import Client
from pytest_xling.engine.job import Job
from pytest_xling.engine.run import Run
from pytest_xling.errors import PermanentFault
from pytest_xling.records import Message, Request, Response, RunRecord, Sample
from pytest_xling.store.cases import by_case
from pytest_xling.store.database import Database
from pytest_xling.store.runs import add_run
from pytest_xling.store.scores import scores

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_xling.keys import JsonValue
    from pytest_xling.records import PromptStyle, Score

TEXTS = (
    "Drink water and rest in a dark room.",
    "Rest in a dark room and drink some water.",
    "Wash the wound with soap and running water.",
    "Running water and soap clean the wound.",
    "Keep the leg raised and cool it with ice.",
    "Cool it with ice, with the leg raised.",
)


@dataclass(kw_only=True)
class Forgetful:
    """A provider that answers all but one question."""

    name: ClassVar[str] = "forgetful"
    style: ClassVar[PromptStyle] = "chat"
    paid: ClassVar[bool] = False
    max_connections: ClassVar[int] = 8

    forgets: str = ""

    def check(self) -> None:
        """Accept everything."""

    def identify(self, request: Request) -> dict[str, JsonValue]:
        """Return all that determines the answer."""
        return {"prompt": request.messages[0].content, "repeat": request.repeat}

    async def generate(self, request: Request) -> Response:
        """Say the prompt again, or fail."""
        if f"{request.sample_id}-{request.repeat}" == self.forgets:
            msg = "forgotten"
            raise PermanentFault(msg)
        return Response(text=request.messages[0].content, stop_reason="stop")

    async def aclose(self) -> None:
        """Hold nothing."""


def jobs() -> list[Job]:
    """Return six questions asked twice."""
    return [
        Job(
            case_id=f"q{number}-en-r{repeat}",
            benchmark="b",
            sample=Sample(id=f"q{number}", benchmark="b", language="en", prompt={"question": text}),
            condition=f"r{repeat}" if repeat else "",
            position=2 * number + repeat,
            request=Request(
                model="m",
                messages=(Message(role="user", content=text),),
                params={},
                repeat=repeat,
                sample_id=f"q{number}",
                language="en",
            ),
            metrics=("sim_1gram", "sim_lda_20"),
        )
        for number, text in enumerate(TEXTS)
        for repeat in range(2)
    ]


def run(path: Path, run_id: str, *, forgets: str = "") -> list[Score]:
    """Evaluate the jobs and return their scores."""
    database = Database(path)
    record = RunRecord(
        run_id=run_id,
        model="m",
        created_at="2026-11-21",
        status="running",
        settings={},
        versions={},
        git="",
        seed=0,
    )
    with database.write() as connection:
        add_run(connection, record)

    async def evaluate() -> None:
        provider = Forgetful(forgets=forgets)
        tested = Client(provider, "m")
        made = Run(run_id=run_id, database=database, tested=tested)
        await made.evaluate(jobs())
        with database.read() as connection:
            answered = set(by_case(connection, run_id, "case_id"))
        await made.score_corpora(jobs(), answered=answered)
        await made.aclose()

    asyncio.run(evaluate())
    with database.read() as connection:
        found = scores(connection, run_id)
    database.close()
    return found


def test_sets_and_corpora_are_scored(tmp_path: Path) -> None:
    """Each question once, under its first answer."""
    if find_spec("tomotopy") is None:  # not imported: the metric chooses its instructions
        pytest.skip("topic metrics need the extra [topics]")
    found = run(tmp_path / "s.sqlite", "r")
    for metric in ("sim_1gram", "sim_lda_20"):
        values = {(s.sample_id, s.condition): s.value for s in found if s.metric == metric}
        assert {(f"q{n}", ""): pytest.approx(1.0) for n in range(6)} == values


def test_a_fault_leaves_its_set_unscored(tmp_path: Path) -> None:
    """By metrics of a set and of a corpus, even where another run has the answer already."""
    if find_spec("tomotopy") is None:  # not imported: the metric chooses its instructions
        pytest.skip("topic metrics need the extra [topics]")
    lost = run(tmp_path / "s.sqlite", "r1", forgets="q3-1")
    for metric in ("sim_1gram", "sim_lda_20"):
        expected = {f"q{n}" for n in range(6)} - {"q3"}
        assert expected == {s.sample_id for s in lost if s.metric == metric}
    whole = run(tmp_path / "s.sqlite", "r2")
    assert 12 == len(whole)
    with Database(tmp_path / "s.sqlite", create=False).read() as connection:
        assert lost == scores(connection, "r1")
