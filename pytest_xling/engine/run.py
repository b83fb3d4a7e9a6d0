"""A run: evaluates jobs through provider, annotators and metrics, and keeps everything."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import logging
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, fields, replace
from functools import cache, partial
from importlib.metadata import version as installed_version
from typing import TYPE_CHECKING, Any

from pytest_xling import registry
from pytest_xling.engine.annotating import Annotating
from pytest_xling.engine.answering import Answering
from pytest_xling.engine.ledger import Ledger
from pytest_xling.engine.memo import Memo
from pytest_xling.engine.scoring import Scorable, Scoring
from pytest_xling.errors import StoreError, XlingError
from pytest_xling.records import Annotation, Answer, Reading
from pytest_xling.store import runs as run_store
from pytest_xling.store.runs import CaseRow, Progress, signature_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pytest_xling.engine.limits import AdaptiveLimit, CostCap
    from pytest_xling.engine.scoring import Annotate
    from pytest_xling.keys import JsonValue
    from pytest_xling.providers import Provider
    from pytest_xling.records import Request, Response, Sample
    from pytest_xling.store.database import Database

__all__ = ["Job", "Result", "Run"]

_log = logging.getLogger(__name__)

PROGRESS_EVERY_S = 0.5
CLOSE_S = 20.0
"""How long to wait, when closing, for a store that another process holds."""
GRACE_S = 5.0
"""How long to wait, when stopped, for answers that are paid for already, and for the provider."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One case to be evaluated."""

    case_id: str
    benchmark: str
    sample: Sample
    condition: str
    position: int
    request: Request
    metrics: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What came of a job: a response and readings, or a fault."""

    job: Job
    response: Response | None = None
    scorable: Scorable | None = None
    readings: Mapping[str, Reading] = field(default_factory=dict)
    signatures: Mapping[str, str] = field(default_factory=dict)
    fault: XlingError | None = None


class Run:
    """Evaluates jobs on the running event loop.

    Args:
        run_id: the run they belong to; it must be in the store.
        database: the store.
        provider: who answers.
        limit: how many requests may be in flight.
        cap: what may be spent; None where nothing costs.
        worker: the name of this process in the run's progress.
    """

    def __init__(
        self,
        *,
        run_id: str,
        database: Database,
        provider: Provider,
        limit: AdaptiveLimit,
        cap: CostCap | None,
        worker: str = "main",
    ) -> None:
        self.run_id = run_id
        self.progress = Progress()
        self._worker = worker
        self._provider = provider
        self._cap = cap
        # What cannot be kept must not be paid for.
        self._ledger = Ledger(database, broken=self._stop_asking)
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="xling-score")
        self._answering = Answering(provider, limit=limit, cap=cap)
        self._answer: asyncio.Task[Memo[Request, Response]] | None = None
        self._memos: dict[tuple[str, str], asyncio.Task[Memo[Any, Any]]] = {}
        self._made: list[Any] = []
        self._preparing: asyncio.Task[None] | None = None
        self._known_steps: set[tuple[str, int]] = set()
        self._reported = 0.0

    def _stop_asking(self, error: StoreError) -> None:
        self._answering.gate.shut(f"nothing can be kept: {error}")

    async def evaluate(self, jobs: Sequence[Job]) -> list[Result]:
        """Answer and score *jobs*, in one batch per step; one result each, in order."""
        self._count(total=len(jobs))
        answer = await self._answerer()
        if self._preparing is None:
            self._preparing = asyncio.create_task(self._prepare(jobs))
            self._preparing.add_done_callback(_ignore)
        results = await asyncio.gather(*(self._answered(job, answer) for job in jobs))
        scorers = await self._scorers(jobs)
        scored = await self._scored(results, scorers)
        await self._record(scored, answer.step_id)
        return scored

    async def _prepare(self, jobs: Sequence[Job]) -> None:
        """Load what scoring needs while the first answers are awaited, if any is asked for."""
        await self._answering.asking.wait()
        await self._scorers(jobs)
        loop = asyncio.get_running_loop()
        for made in self._made:
            if isinstance(made, registry.Loads):
                await loop.run_in_executor(self._executor, made.load)
        # What is loaded by now stays: no need to look through it for garbage again and again.
        gc.freeze()

    async def _answerer(self) -> Memo[Request, Response]:
        if self._answer is None:
            self._answer = asyncio.create_task(Memo.open(self._answering, self._ledger))
        return await self._answer

    async def _answered(self, job: Job, answer: Memo[Request, Response]) -> Result:
        try:
            response = await answer(job.request)
        except XlingError as fault:
            self._count(errors=1, done=1)
            return Result(job=job, fault=fault)
        self._count(done=1)
        scorable = Scorable(Answer(sample=job.sample, response=response))
        return Result(job=job, response=response, scorable=scorable)

    async def _scored(
        self, results: Sequence[Result], scorers: Mapping[str, Memo[Any, Any]]
    ) -> list[Result]:
        """Score what was answered, each metric all its answers in one batch."""
        readings: list[dict[str, Reading]] = [{} for _ in results]
        faults: dict[int, XlingError] = {}

        async def score(name: str, memo: Memo[Any, Any]) -> None:
            wanted = [
                index
                for index, result in enumerate(results)
                if result.scorable is not None and name in result.job.metrics
            ]
            try:
                found = await memo.many([results[index].scorable for index in wanted])
            except XlingError as fault:
                faults.update(dict.fromkeys(wanted, fault))
                return
            for index, reading in zip(wanted, found, strict=True):
                readings[index][name] = reading

        await asyncio.gather(*(score(name, memo) for name, memo in scorers.items()))
        signatures = {name: _signature(memo) for name, memo in scorers.items()}
        return [
            replace(
                result,
                readings={name: found[name] for name in result.job.metrics if name in found},
                signatures=signatures,
                fault=faults.get(index, result.fault),
            )
            for index, (result, found) in enumerate(zip(results, readings, strict=True))
        ]

    async def _record(self, results: Sequence[Result], response_step: int) -> None:
        """Keep which answers and scores belong to this run."""
        rows = [
            CaseRow(
                case_id=job.case_id,
                benchmark=job.benchmark,
                sample_id=job.sample.id,
                language=job.sample.language,
                condition=job.condition,
                position=job.position,
                question=job.sample.prompt.get("question", ""),
                sample_metadata=json.dumps(dict(job.sample.metadata), ensure_ascii=False),
                response_key=self._answering.key(job.request),
                response_step=response_step,
                answer_key=result.scorable.key,
            )
            for result in results
            if result.scorable is not None and result.fault is None
            for job in (result.job,)
        ]
        await self._ledger.write(partial(run_store.add_cases, run_id=self.run_id, rows=rows))

    async def _scorers(self, jobs: Iterable[Job]) -> dict[str, Memo[Any, Any]]:
        """Open the metrics *jobs* need and note in the run what it is scored with."""
        wanted = {(job.benchmark, metric) for job in jobs for metric in job.metrics}
        names = sorted({metric for _, metric in wanted})
        opened = await asyncio.gather(*(self._memo("metric", name) for name in names))
        scorers = dict(zip(names, opened, strict=True))
        new = {(b, scorers[m].step_id) for b, m in wanted} - self._known_steps
        if new:
            steps_of: dict[str, list[int]] = {}
            for benchmark, step in sorted(new):
                steps_of.setdefault(benchmark, []).append(step)
            await self._ledger.write(
                partial(run_store.add_run_steps, run_id=self.run_id, steps_of=steps_of)
            )
            self._known_steps |= new
        return scorers

    async def _annotator(self, name: str) -> tuple[str, Annotate]:
        """Return an annotator's signature, and it as a function over answers."""
        memo = await self._memo("annotator", name)
        signature = _signature(memo)

        async def annotate(answers: Sequence[Answer]) -> list[Annotation]:
            values = await memo.many([(answer.text, answer.language) for answer in answers])
            return [Annotation(kind=name, value=value, signature=signature) for value in values]

        return signature, annotate

    async def _memo(self, kind: registry.Kind, name: str) -> Memo[Any, Any]:
        task = self._memos.get((kind, name))
        if task is None:
            task = asyncio.create_task(self._open(kind, name))
            self._memos[kind, name] = task
        return await task

    async def _open(self, kind: registry.Kind, name: str) -> Memo[Any, Any]:
        # Imports take their time; meanwhile the loop goes on.
        loop = asyncio.get_running_loop()
        made = (await loop.run_in_executor(self._executor, registry.load, kind, name))()
        self._made.append(made)
        parameters = _parameters(made)
        if kind == "annotator":
            return await Memo.open(
                Annotating(made, parameters=parameters, executor=self._executor), self._ledger
            )
        annotators: dict[str, Annotate] = {}
        for need in made.needs:
            parameters[need], annotators[need] = await self._annotator(need)
        scoring = Scoring(
            made, parameters=parameters, annotators=annotators, executor=self._executor
        )
        return await Memo.open(scoring, self._ledger)

    def _count(self, *, total: int = 0, done: int = 0, errors: int = 0) -> None:
        """Note how far we are; tell the store now and then, for whoever shows the progress."""
        state = self.progress
        self.progress = Progress(
            total=state.total + total,
            done=state.done + done,
            errors=state.errors + errors,
            cost_usd=self._cap.spent_usd if self._cap is not None else 0.0,
        )
        loop = asyncio.get_running_loop()
        if loop.time() - self._reported > PROGRESS_EVERY_S:
            self._reported = loop.time()
            task = loop.create_task(self._report())
            task.add_done_callback(_ignore)

    async def _report(self) -> None:
        await self._ledger.write(
            partial(
                run_store.put_progress, run_id=self.run_id, worker=self._worker, state=self.progress
            )
        )

    async def aclose(self) -> None:
        """Wait a little for answers paid for already, keep them, and give everything back."""
        await self._answering.gate.close(grace_s=GRACE_S)
        if self._preparing is not None:
            self._preparing.cancel()
        try:
            # A store that another process holds must not keep us from ending.
            async with asyncio.timeout(CLOSE_S):
                with contextlib.suppress(StoreError):  # said by those who lost something by it
                    await self._report()
                await self._ledger.aclose()
        except TimeoutError:
            _log.warning("xling: the store is held by another process; the last answers are lost")
        finally:
            await self._close_provider()
            self._executor.shutdown(wait=False, cancel_futures=True)

    async def _close_provider(self) -> None:
        """Let the provider go; whatever it makes of that must not cost the run's report."""
        closing = asyncio.create_task(self._provider.aclose())
        await asyncio.wait([closing], timeout=GRACE_S)
        if not closing.done():
            closing.cancel()
            _log.warning("xling: provider %r does not close", self._provider.name)
        elif not closing.cancelled() and (error := closing.exception()) is not None:
            _log.warning(
                "xling: provider %r broke as it was closed: %r", self._provider.name, error
            )


def _parameters(step: Any) -> dict[str, JsonValue]:  # noqa: ANN401  a metric or annotator
    """Return a step's fields and the versions of the libraries its numbers rest on."""
    values: dict[str, JsonValue] = {f.name: getattr(step, f.name) for f in fields(step)}
    for library in getattr(step, "libraries", ()):
        values[library] = installed_version(library)
    return values


def _signature(memo: Memo[Any, Any]) -> str:
    step = memo.step
    return _signature_once(step.name, step.version, tuple(sorted(step.parameters.items())))


@cache
def _signature_once(name: str, version: str, parameters: tuple[tuple[str, Any], ...]) -> str:
    return signature_of(name, version, dict(parameters))


def _ignore(task: asyncio.Task[None]) -> None:
    """Let a courtesy fail: what is wrong is said where it matters."""
    if not task.cancelled():
        task.exception()
