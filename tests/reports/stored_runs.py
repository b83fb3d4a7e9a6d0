"""Make runs in a store as pytest would: through the engine, the metrics and the gates."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from pytest_xling.engine.client import Client
from pytest_xling.engine.job import Job
from pytest_xling.engine.limits import Slots
from pytest_xling.engine.run import Run
from pytest_xling.gates.estimate import Measure, estimate
from pytest_xling.gates.judge import judge
from pytest_xling.records import Message, Request, Response, RunRecord, Sample
from pytest_xling.registry import load
from pytest_xling.store.database import Database
from pytest_xling.store.runs import add_run, finish_run
from pytest_xling.store.scores import scores
from pytest_xling.store.verdicts import put_verdict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from pytest_xling.config.store_location import ServerUrl
    from pytest_xling.keys import JsonValue
    from pytest_xling.records import PromptStyle, StopReason, Threshold

__all__ = ["Asked", "StoredRun", "make_run"]


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A question and what the model said."""

    id: str
    language: str
    text: str | None
    question: str = "What is it?"
    stop_reason: StopReason = "stop"
    set: str = "agnostic"
    benchmark: str = "culture"
    repeat: int = 0
    error: str | None = None


@dataclass(frozen=True, kw_only=True)
class StoredRun:
    """Where a run was put."""

    path: Path | ServerUrl
    run_id: str


@dataclass(kw_only=True)
class Known:
    """A provider that knows its answers beforehand."""

    name: ClassVar[str] = "known"
    style: ClassVar[PromptStyle] = "chat"
    paid: ClassVar[bool] = False
    max_connections: ClassVar[int] = 64

    answers: dict[tuple[str, str, str, int], Asked] = field(default_factory=dict)

    def check(self) -> None:
        """Accept everything."""

    def identify(self, request: Request) -> dict[str, JsonValue]:
        """Return all that determines the answer."""
        return {
            "model": request.model,
            "prompt": request.messages[0].content,
            "params": dict(request.params),
            "id": request.sample_id,
            "language": request.language,
        }

    async def generate(self, request: Request) -> Response:
        """Look the answer up."""
        benchmark = str(request.params["benchmark"])
        asked = self.answers[benchmark, request.sample_id, request.language, request.repeat]
        return Response(text=asked.text, stop_reason=asked.stop_reason, error=asked.error)

    async def aclose(self) -> None:
        """Hold nothing."""


def make_run(
    path: Path | ServerUrl,
    asked: Sequence[Asked],
    *,
    metrics: Sequence[str],
    gates: Sequence[Threshold] = (),
    run_id: str = "run-1",
    model: str = "model-1",
    status: str = "complete",
    created_at: str = "2026-11-21T10:00:00.000+00:00",
    settings: Mapping[str, JsonValue] | None = None,
) -> StoredRun:
    """Answer, score and judge *asked* in the store at *path*."""
    database = Database(path)
    record = RunRecord(
        run_id=run_id,
        model=model,
        created_at=created_at,
        status="running",
        settings={"model": model, **(settings or {})},
        versions={"python": "3.11"},
        git="",
        seed=0,
    )
    with database.write() as connection:
        add_run(connection, record)
    asyncio.run(_evaluate(database, asked, metrics=tuple(metrics), run_id=run_id, model=model))
    with database.write() as connection:
        for threshold in gates:
            name, language = threshold.metric, threshold.language
            made = estimate(
                scores(
                    connection,
                    run_id,
                    benchmark=threshold.benchmark,
                    metric=name,
                    language=language,
                ),
                Measure(
                    metric=name,
                    language=language,
                    share=load("metric", name).kind == "flag",
                    alpha=threshold.alpha,
                ),
            )
            verdict = judge(made, threshold, case=f"{name}-{language}")
            put_verdict(connection, run_id, benchmark=threshold.benchmark, verdict=verdict)
        if status != "running":
            finish_run(connection, run_id, status=status)
    database.close()
    return StoredRun(path=path, run_id=run_id)


async def _evaluate(
    database: Database, asked: Sequence[Asked], *, metrics: tuple[str, ...], run_id: str, model: str
) -> None:
    provider = Known(answers={(a.benchmark, a.id, a.language, a.repeat): a for a in asked})
    tested = Client(provider, model, slots=Slots(64))
    run = Run(run_id=run_id, database=database, tested=tested)
    jobs = [
        Job(
            case_id="-".join((one.id, one.language, *([f"r{one.repeat}"] if one.repeat else []))),
            benchmark=one.benchmark,
            sample=Sample(
                id=one.id,
                benchmark=one.benchmark,
                language=one.language,
                prompt={"question": one.question},
                metadata={"set": one.set},
            ),
            condition=f"r{one.repeat}" if one.repeat else "",
            position=position,
            request=Request(
                model=model,
                messages=(Message(role="user", content=one.question),),
                params={"benchmark": one.benchmark, "temperature": 0.0},
                repeat=one.repeat,
                sample_id=one.id,
                language=one.language,
            ),
            metrics=metrics,
        )
        for position, one in enumerate(asked)
    ]
    results = await run.evaluate(jobs)
    await run.aclose()
    assert [] == [result.fault for result in results if result.fault is not None]
