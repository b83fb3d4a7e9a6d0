"""Evaluate cases in groups, ahead of the tests that wait for them."""

from __future__ import annotations

from concurrent.futures import wait
from functools import partial
from typing import TYPE_CHECKING

from pytest_xling.engine.loop_thread import LoopThread
from pytest_xling.engine.models import connections, make_models
from pytest_xling.engine.run import Run
from pytest_xling.errors import EvaluationError, XlingError
from pytest_xling.planning.plan import groups_of, make_job, make_request, turns_asked
from pytest_xling.plugin.selection import GROUP_CASES
from pytest_xling.registry import load
from pytest_xling.store.cases import by_case
from pytest_xling.store.scores import metric_steps

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from concurrent.futures import Future

    from pytest_xling.analysis.labelled import LabelledSet
    from pytest_xling.engine.executor import Executor
    from pytest_xling.engine.job import Job, Result
    from pytest_xling.engine.steps import StepFactory
    from pytest_xling.interfaces.annotator import Role
    from pytest_xling.planning.plan import Case
    from pytest_xling.plugin.context import Context
    from pytest_xling.plugin.selection import Selection
    from pytest_xling.plugin.setup import Setup
    from pytest_xling.records import Threshold
    from pytest_xling.store.database import Database
    from pytest_xling.store.measurements import Calibration
    from pytest_xling.store.runs import Progress

TICK_S = 0.5
LOOK_AHEAD, LOOK_AHEAD_IF_STOPPING = 32, 2
"""Cases begun before their tests, as a multiple of the connections. Where -x or --maxfail may end
the run, few: what is begun is paid for."""


class Evaluation:
    """Gives the results of cases, evaluated a group at a time on a background loop.

    Args:
        setup: settings and provider.
        database: the store. A process has one, as it waits once for a server that is away.
        run_id: the run the results belong to.
        groups: cases evaluated together, in the order tests will ask for them.
        metrics: for each benchmark, by its name, the metrics to score.
        look_ahead: cases to begin before they are asked for, as a multiple of the connections.
        workers: processes that share the connections.
        worker: this process's name.
        executor: makes what runs metrics.
        parent: the process it works for, by its number; None where it works for itself.
        barriers: numbers of groups that are not begun before they are asked for.
        unasked: why nobody is asked; what the store has not met a fault then. "" where they are.
        since: answers that were made before, in seconds since 1970, are asked anew.
    """

    def __init__(
        self,
        *,
        setup: Setup,
        database: Database,
        run_id: str,
        groups: Sequence[Sequence[Case]],
        metrics: Mapping[str, tuple[str, ...]],
        look_ahead: int,
        workers: int,
        worker: str,
        executor: Callable[[], Executor],
        parent: int | None = None,
        barriers: Collection[int] = (),
        unasked: str = "",
        since: float = 0.0,
    ) -> None:
        self._setup = setup
        self._barriers = barriers
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
        self._database = database
        self._loop = LoopThread()
        self._run = self._loop.call(
            _make_run(
                run_id=run_id,
                database=self._database,
                setup=setup,
                workers=workers,
                worker=worker,
                executor=executor,
                since=since,
            )
        )
        # Moved by now, a model may have more connections.
        self._window = look_ahead * connections(setup.settings, setup.provider, workers=workers)
        if unasked:
            self._loop.call(self._run.ask_nothing(unasked))
        if parent is not None:
            self._loop.submit(self._run.watch(parent))

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
                if isinstance(error, XlingError):
                    msg = f"this case and those beside it could not be evaluated: {error}"
                    raise EvaluationError(msg) from error
                msg = f"the evaluation of this case and those beside it broke: {error!r}"
                raise RuntimeError(msg) from error
            for result in future.result():
                self._results[result.job.benchmark, result.job.case_id] = result
            del self._futures[number]
        return self._results[key]

    def recall(self, *, waiting: Callable[[], None]) -> None:
        """Evaluate all cases, group by group, keeping nothing but what goes into the store."""
        for group in self._groups:
            self.result(group[0], waiting=waiting)
            self._results.clear()

    def begun(self, case: Case) -> bool:
        """Tell whether *case* has been answered, or is about to be."""
        key = (case.benchmark, case.id)
        return key in self._results or self._group_of.get(key) in self._futures

    def score_corpora(self, planned: Sequence[Case]) -> None:
        """Score all answers of the run with the metrics that are fitted to all of them.

        Which those metrics are, and what was answered, is in the store: other processes may have
        got the answers.

        Args:
            planned: all cases of the run, by whatever process.

        Raises:
            XlingError: a metric, or an annotator it needs, failed.
        """
        metrics = _fitted_metrics(self._database, self._run.run_id)
        with self._database.read() as connection:
            answered = set(by_case(connection, self._run.run_id, "case_id"))
        jobs = [
            self._job(case, metrics=metrics[case.benchmark])
            for case in sorted(planned, key=lambda case: (case.benchmark, case.position))
            if case.benchmark in metrics
        ]
        self._loop.call(self._run.score_corpora(jobs, answered=answered))

    def calibrate(self, annotator: str, language: str, labelled: LabelledSet) -> None:
        """Measure an annotator on labelled answers in a language, and keep what comes of it.

        Raises:
            XlingError: the annotator failed.
        """
        from pytest_xling.analysis.calibration import calibrate  # noqa: PLC0415  imports numpy

        calibrating = calibrate(
            self._run,
            self._database,
            annotator=annotator,
            labelled=labelled,
            languages=[language],
        )
        self._loop.call(calibrating)

    def judge_again(self, measured: Sequence[Calibration]) -> None:
        """Ask a judge about its anchors in a language again; keep what comes of it.

        Raises:
            XlingError: the judge failed.
        """
        from pytest_xling.analysis.drift import judge_again  # noqa: PLC0415  imports numpy

        again = judge_again(
            self._run,
            self._database,
            measured,
            run_id=self._run.run_id,
        )
        self._loop.call(again)

    def forget(self, case: Case) -> None:
        """Let go of a result nobody will ask for again."""
        self._results.pop((case.benchmark, case.id), None)

    def close(self) -> None:
        """Stop asking, keep what was answered, give back connections and memory."""
        try:
            self._loop.call(self._run.aclose())
        finally:
            self._loop.close()

    def _look_ahead(self, number: int) -> None:
        begun = sum(len(self._groups[n]) for n in self._futures)
        following = number + 1
        while (
            begun < self._window
            and following < len(self._groups)
            and following not in self._barriers
        ):
            if following not in self._futures:
                self._begin(following)
                begun += len(self._groups[following])
            following += 1

    def _begin(self, number: int) -> None:
        if number not in self._futures:
            jobs = [self._job(case) for case in self._groups[number]]
            self._futures[number] = self._loop.submit(self._run.evaluate(jobs))

    def _job(self, case: Case, *, metrics: tuple[str, ...] | None = None) -> Job:
        benchmark = self._benchmarks[case.benchmark]
        request = make_request(
            case,
            benchmark=benchmark,
            settings=self._setup.settings,
            provider=self._setup.provider,
            model=self._setup.model,
        )
        named = self._metrics[case.benchmark] if metrics is None else metrics
        return make_job(
            case,
            benchmark=benchmark,
            metrics=named,
            request=request,
            turns=turns_asked(case, self._setup.provider),
        )


class Evaluator:
    """The evaluation of a session's cases, begun when the first of them is asked for.

    Args:
        context: of the session.
        selection: the cases and their metrics.
        show: shows how far the evaluation has come.
    """

    def __init__(
        self, context: Context, selection: Selection, *, show: Callable[[Progress], None]
    ) -> None:
        self._context = context
        self._selection = selection
        self._show = show
        self.barriers: Collection[int] = ()
        """Numbers of groups that are not begun before they are asked for."""
        self.corpora_fault: XlingError | None = None
        """Why what is scored last could not be."""
        self._corpora_scored = False
        self._evaluation: Evaluation | None = None
        self._recalled: set[str] = set()

    def result(self, case: Case) -> Result:
        """Return the result of *case*, evaluating its group if need be."""
        evaluation = self._begun()
        result = evaluation.result(case, waiting=lambda: self._show(evaluation.progress))
        if self._selection.used(case):
            evaluation.forget(case)
        return result

    def is_begun(self, case: Case) -> bool:
        """Tell whether *case* has been answered, or is about to be."""
        return self._evaluation is not None and self._evaluation.begun(case)

    def recall(self, benchmark: str) -> None:
        """Take what the store has for the cases a gate rests on, where they are not selected.

        Nothing is asked: what is missing is missing to the gate.
        """
        if benchmark in self._recalled or benchmark not in self._selection.recalled:
            return
        self._recalled.add(benchmark)
        evaluation = self._make(
            groups_of(self._selection.recalled[benchmark], size=GROUP_CASES),
            look_ahead=0,
            worker=f"{self._context.worker} stored",
            unasked="its test is not selected",
        )
        try:
            evaluation.recall(waiting=lambda: self._show(evaluation.progress))
        finally:
            evaluation.close()

    def score_corpora(self) -> None:
        """Score the whole run with the metrics that are fitted to all answers, once.

        Raises:
            XlingError: that failed; the run is incomplete, and every gate that asks for it errs.
        """
        if self.corpora_fault is not None:
            raise self.corpora_fault
        if self._corpora_scored or self._context.early_stop() is not None:
            return
        self._corpora_scored = True
        try:
            self._begun().score_corpora(self._selection.to_score())
        except XlingError as error:
            self.corpora_fault = error
            raise

    def score_rest(self) -> None:
        """Score what is scored last, where no gate has asked for it; a fault is kept.

        In a shard nothing is: what is fitted to all answers is not fitted to a part of them.
        """
        if self._context.setup.shard is not None:
            return
        try:
            if _fitted_metrics(self._context.database, self._context.run_id):
                self.score_corpora()
        except XlingError as error:
            self._context.faults += 1
            self.corpora_fault = error

    def calibrate(self, annotator: str, language: str, labelled: LabelledSet) -> None:
        """Measure an annotator on labelled answers; see :meth:`Evaluation.calibrate`."""
        self._begun().calibrate(annotator, language, labelled)

    def judge_again(self, measured: Sequence[Calibration]) -> None:
        """Ask a judge about its anchors again; see :meth:`Evaluation.judge_again`."""
        self._begun().judge_again(measured)

    def close(self) -> None:
        """Stop asking, and keep what was answered."""
        if self._evaluation is not None:
            self._evaluation.close()
            self._evaluation = None

    def _begun(self) -> Evaluation:
        if self._evaluation is None:
            # Workers do not look ahead: which groups they will get, only the controller knows.
            stopping = self._context.config.option.maxfail
            ahead = LOOK_AHEAD_IF_STOPPING if stopping else LOOK_AHEAD
            self._evaluation = self._make(
                self._selection.groups,
                look_ahead=0 if self._context.is_worker else ahead,
                worker=self._context.worker,
                barriers=self.barriers,
            )
        return self._evaluation

    def _make(
        self,
        groups: Sequence[Sequence[Case]],
        *,
        look_ahead: int,
        worker: str,
        barriers: Collection[int] = (),
        unasked: str = "",
    ) -> Evaluation:
        return Evaluation(
            setup=self._context.setup,
            database=self._context.database,
            run_id=self._context.run_id,
            groups=groups,
            metrics=self._selection.metrics,
            look_ahead=look_ahead,
            workers=self._context.workers,
            worker=worker,
            executor=self._context.make_executor,
            parent=self._context.parent,
            barriers=barriers,
            unasked=unasked,
            since=self._context.since,
        )


class Annotators:
    """Measures the annotators behind gates, where nobody has, on the labelled answers bundled.

    Args:
        context: of the session.
        evaluator: annotates.
    """

    def __init__(self, context: Context, evaluator: Evaluator) -> None:
        self._context = context
        self._evaluator = evaluator
        self._faults: dict[tuple[str, str], XlingError] = {}
        """By annotator and language; what failed once is not asked again for every gate."""

    def measure(self, threshold: Threshold, *, gap: bool) -> None:
        """Measure what a gate rests on, where its threshold demands that, and a gate is judged.

        Args:
            threshold: the gate's.
            gap: whether it is of the gap to the pivot language.

        Raises:
            XlingError: an annotator failed while it was measured.
        """
        if threshold.min_judge_f1 is None or self._context.setup.shard is not None:
            return
        missing = self._context.stored_run.unmeasured(threshold, gap=gap)
        if not missing:
            return
        from pytest_xling.analysis.labelled import bundled_labels, task_of  # noqa: PLC0415  when needed

        for annotator, wanted in missing.items():
            labelled = bundled_labels(task_of(annotator))
            for language in (code for code in wanted if code in labelled.languages):
                place = (annotator, language)
                self._once(place, partial(self._evaluator.calibrate, *place, labelled))

    def vouch(self, threshold: Threshold, *, gap: bool) -> None:
        """Measure what a gate rests on, and ask judges that were measured earlier again.

        A judge that is paid is asked about some of the answers it was measured on, once in a run
        and language, where it was not since the gate's scores were made, in whichever run.

        Args:
            threshold: the gate's.
            gap: whether it is of the gap to the pivot language.

        Raises:
            XlingError: an annotator failed.
        """
        self.measure(threshold, gap=gap)
        setup, run = self._context.setup, self._context.stored_run
        paid = any(judge.paid for judge in setup.roles.get("judge", ()))
        if threshold.min_judge_f1 is None or not paid:
            return
        measured: dict[tuple[str, str], list[Calibration]] = {}
        for made in run.unvouched(threshold, gap=gap):
            measured.setdefault((made.annotator, made.language), []).append(made)
        for place, calibrations in measured.items():
            self._once(place, partial(self._evaluator.judge_again, calibrations))

    def _once(self, place: tuple[str, str], ask: Callable[[], None]) -> None:
        """Ask an annotator in a language, unless that has failed before: then fail again."""
        if (fault := self._faults.get(place)) is not None:
            raise fault
        try:
            ask()
        except XlingError as error:
            self._faults[place] = error
            raise

    def are_doubted(self, threshold: Threshold | None) -> bool:
        """Tell whether a raised flag rests on an annotator that is not trusted to decide.

        Where it cannot be measured it is not; its gate then says what happened.
        """
        if threshold is None or threshold.min_judge_f1 is None:
            return False
        try:
            self.measure(threshold, gap=False)
        except XlingError:
            return True
        return self._context.stored_run.is_doubted(threshold)


def _fitted_metrics(database: Database, run_id: str) -> dict[str, tuple[str, ...]]:
    """Return by benchmark the metrics of a run that are fitted to all its answers."""
    metrics: dict[str, tuple[str, ...]] = {}
    with database.read() as connection:
        for step in metric_steps(connection, run_id):
            if load("metric", step.metric).fitted:
                metrics[step.benchmark] = (*metrics.get(step.benchmark, ()), step.metric)
    return metrics


def roles_asked(database: Database, run_id: str, factory: StepFactory) -> set[Role]:
    """Return the roles whose models a run's metrics rest on."""
    with database.read() as connection:
        metrics = {step.metric for step in metric_steps(connection, run_id)}
    annotators = (
        annotator
        for metric in metrics
        for annotator in factory.annotators_of(factory.make("metric", metric)).values()
    )
    return {annotator.asks for annotator in annotators if annotator.asks is not None}


async def _make_run(
    *,
    run_id: str,
    database: Database,
    setup: Setup,
    workers: int,
    worker: str,
    executor: Callable[[], Executor],
    since: float,
) -> Run:
    runs_on = executor()
    tested, roles = make_models(
        setup.settings,
        setup.provider,
        setup.roles,
        model=setup.model,
        executor=runs_on,
        workers=workers,
    )
    return Run(
        run_id=run_id,
        database=database,
        tested=tested,
        roles=roles,
        factory=setup.factory,
        worker=worker,
        executor=runs_on,
        since=since,
    )
