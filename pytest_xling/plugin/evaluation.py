"""Evaluate cases in groups, ahead of the tests that wait for them."""

from __future__ import annotations

from concurrent.futures import wait
from typing import TYPE_CHECKING

from pytest_xling.cases.plan import make_request
from pytest_xling.engine.limits import AdaptiveLimit, CostCap
from pytest_xling.engine.loop_thread import LoopThread
from pytest_xling.engine.run import Job, Run
from pytest_xling.errors import EvaluationError
from pytest_xling.store.database import Database

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from concurrent.futures import Future

    from pytest_xling.cases.plan import Case
    from pytest_xling.engine.run import Result
    from pytest_xling.plugin.setup import Setup
    from pytest_xling.store.runs import Progress

__all__ = ["Evaluation"]

TICK_S = 0.5
FIRST_PROMPT_TOKENS = 200
"""What a prompt is reckoned to hold until one has been counted."""


class Evaluation:
    """Gives the results of cases, evaluated a group at a time on a background loop.

    Args:
        setup: settings and provider.
        run_id: the run the results belong to.
        groups: cases evaluated together, in the order tests will ask for them.
        metrics: for each benchmark's folder, the metrics to score.
        look_ahead: cases to begin before they are asked for, as a multiple of the connections.
        workers: processes that share the connections.
        worker: this process's name.
    """

    def __init__(
        self,
        *,
        setup: Setup,
        run_id: str,
        groups: Sequence[Sequence[Case]],
        metrics: Mapping[str, tuple[str, ...]],
        look_ahead: int,
        workers: int,
        worker: str,
    ) -> None:
        self._setup = setup
        self._groups = groups
        self._metrics = metrics
        self._benchmarks = {b.name: b for b in setup.benchmarks.values()}
        self._group_of = {
            (case.benchmark, case.id): number
            for number, group in enumerate(groups)
            for case in group
        }
        self._futures: dict[int, Future[list[Result]]] = {}
        self._results: dict[tuple[str, str], Result] = {}
        self._next = 0
        settings, provider = setup.settings, setup.provider
        allowed = settings.max_connections or provider.max_connections
        connections = max(1, min(allowed, provider.max_connections) // workers)
        self._window = look_ahead * connections
        cap = None
        if settings.price is not None and provider.paid:
            price_in, price_out = settings.price
            allowed_usd = settings.max_cost_usd
            cap = CostCap(
                # Each process minds its own share, so that all together keep within the cap.
                max_usd=None if allowed_usd is None else allowed_usd / workers,
                price_in=price_in,
                price_out=price_out,
                first_usd=(FIRST_PROMPT_TOKENS * price_in + settings.max_tokens * price_out) / 1e6,
            )
        self._database = Database(settings.store)
        self._loop = LoopThread()
        self._run = self._loop.call(
            _make_run(
                run_id=run_id,
                database=self._database,
                setup=setup,
                limit=AdaptiveLimit(connections),
                cap=cap,
                worker=worker,
            )
        )

    @property
    def progress(self) -> Progress:
        """How far this process has come."""
        return self._run.progress

    def result(self, case: Case, *, waiting: Callable[[], None]) -> Result:
        """Return the result of *case*, calling *waiting* now and then until it is there."""
        key = (case.benchmark, case.id)
        if key not in self._results:
            number = self._group_of[key]
            self._begin(number)
            self._look_ahead(number)
            future = self._futures[number]
            while not wait([future], timeout=TICK_S).done:
                waiting()
            if (error := future.exception()) is not None:
                # The group stays begun: its other cases broke with it and are not asked for anew.
                msg = f"the evaluation of this case and those beside it broke: {error!r}"
                raise EvaluationError(msg) from error
            for result in future.result():
                self._results[result.job.benchmark, result.job.case_id] = result
            del self._futures[number]
        return self._results[key]

    def forget(self, case: Case) -> None:
        """Let go of a result nobody will ask for again."""
        self._results.pop((case.benchmark, case.id), None)

    def close(self) -> None:
        """Stop asking, keep what was answered, give back connections and memory."""
        try:
            self._loop.call(self._run.aclose())
        finally:
            self._loop.close()
            self._database.close()

    def _look_ahead(self, number: int) -> None:
        begun = sum(len(self._groups[n]) for n in self._futures)
        following = number + 1
        while begun < self._window and following < len(self._groups):
            if following not in self._futures:
                self._begin(following)
                begun += len(self._groups[following])
            following += 1

    def _begin(self, number: int) -> None:
        if number not in self._futures:
            jobs = [self._job(case) for case in self._groups[number]]
            self._futures[number] = self._loop.submit(self._run.evaluate(jobs))

    def _job(self, case: Case) -> Job:
        benchmark = self._benchmarks[case.benchmark]
        return Job(
            case_id=case.id,
            benchmark=case.benchmark,
            sample=case.sample,
            condition=case.condition.id,
            position=case.position,
            request=make_request(
                case,
                benchmark=benchmark,
                settings=self._setup.settings,
                provider=self._setup.provider,
                model=self._setup.model,
            ),
            metrics=self._metrics[case.benchmark],
        )


async def _make_run(
    *,
    run_id: str,
    database: Database,
    setup: Setup,
    limit: AdaptiveLimit,
    cap: CostCap | None,
    worker: str,
) -> Run:
    return Run(
        run_id=run_id,
        database=database,
        provider=setup.provider,
        limit=limit,
        cap=cap,
        worker=worker,
    )
