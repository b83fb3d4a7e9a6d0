"""One pytest session with a model: what is planned, evaluated, judged and reported."""

from __future__ import annotations

import contextlib
import os
import time
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from pytest_xling.errors import ConfigError, StoreError, XlingError
from pytest_xling.files.whole import file_errors
from pytest_xling.planning.plan import groups_of
from pytest_xling.plugin.checks import FAULT, GIVEN_UP, MISTAKE, CaseCheck, GateCheck
from pytest_xling.plugin.ending import (
    REPORT_FAULTS,
    Ending,
    Unjudged,
    keep_end,
    leave_unfinished,
    status_of,
)
from pytest_xling.plugin.environment import git_state, library_versions
from pytest_xling.plugin.naming import asked_beside, kept_in, made_up_name
from pytest_xling.plugin.places import given_paths
from pytest_xling.plugin.progress import ProgressLine, ProgressWatch
from pytest_xling.plugin.reporting import Reporting
from pytest_xling.plugin.selection import GROUP_CASES, MISCONFIGURED, Selection, check_of
from pytest_xling.plugin.setup import read_setup
from pytest_xling.plugin.stopping import Stopping
from pytest_xling.plugin.trusting import Trusting
from pytest_xling.plugin.updating import Updating
from pytest_xling.records import RunRecord
from pytest_xling.scheduling.completeness import Completeness
from pytest_xling.scheduling.scrub import ReportGuard

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_xling.engine.job import Result
    from pytest_xling.planning.plan import Case
    from pytest_xling.plugin.evaluation import Evaluation
    from pytest_xling.plugin.setup import Setup
    from pytest_xling.store.database import Database

__all__ = ["XlingSession", "start"]

LOOK_AHEAD, LOOK_AHEAD_IF_STOPPING = 32, 2
"""Cases begun before their tests, as a multiple of the connections. Where -x or --maxfail may end
the run, few: what is begun is paid for."""
MISTAKES = (MISCONFIGURED, f"{ConfigError.__module__}.{ConfigError.__name__}: ")
"""What shows in the report of a file that cannot be collected for a mistake of this kind; the
second where the file itself raises it."""
ONLY_SHOW = ("collectonly", "setupplan", "showfixtures", "show_fixtures_per_test")
"""Options of pytest's under which no test runs."""


def start(config: pytest.Config) -> None:
    """Check everything and register the session with pytest.

    Raises:
        pytest.UsageError: something is wrong; nothing has been asked.
    """
    try:
        with file_errors():
            session = XlingSession(config, read_setup(config))
    except XlingError as error:
        raise pytest.UsageError(str(error)) from error
    config.pluginmanager.register(session, "xling-session")
    config.pluginmanager.register(session.stopping, "xling-stopping")
    config.pluginmanager.register(ReportGuard(), "xling-report-guard")
    if not session.is_worker:
        config.pluginmanager.register(Completeness(), "xling-completeness")
        config.pluginmanager.register(Ending(session), "xling-ending")
        config.pluginmanager.register(Reporting(session), "xling-reporting")
        config.pluginmanager.register(Updating(session), "xling-updating")
        config.pluginmanager.register(Unjudged(session), "xling-unjudged")


class XlingSession:
    """The plugin's state and hooks, registered only where a model is named."""

    def __init__(self, config: pytest.Config, setup: Setup) -> None:
        self.config = config
        self.setup = setup
        worker: dict[str, Any] | None = getattr(config, "workerinput", None)
        self.is_worker = worker is not None
        self.worker = worker["workerid"] if worker else "main"
        self.workers = worker["workercount"] if worker else 1
        self._began = 0.0
        self._continues = ""
        self._parent = os.getppid() if worker else None
        self.run_id: str = worker["xling_run_id"] if worker else ""
        self.distributed = not self.is_worker and config.getoption("dist", "no") != "no"
        if self.distributed and config.getoption("dist") == "each":
            msg = "--dist=each would ask every question once per worker; use another --dist"
            raise ConfigError(msg)
        self.asks_nothing = any(getattr(config.option, name, False) for name in ONLY_SHOW)
        self.faults = 0
        self._failed_cases = 0
        self._told: set[str] = set()
        self.ended = ""
        """How the run ended, once the store has been told."""
        self.selection = Selection(
            setup,
            roots=[config.rootpath, *given_paths(config)],
            check_case=partial(CaseCheck, self),
            check_gate=partial(GateCheck, self),
        )
        self._collected: list[str] = []
        self._evaluation: Evaluation | None = None
        self._database: Database | None = None
        self._line = ProgressLine(config, self.planned)
        self._watch: ProgressWatch | None = None
        self._session: pytest.Session | None = None
        self._misconfigured = False
        self.stopping = Stopping(self)
        self._barriers: frozenset[int] = frozenset()
        self._recalled: set[str] = set()
        self._corpora_scored = False
        self._corpora_fault: XlingError | None = None
        self.trusting = Trusting(
            database=lambda: self.database,
            run_id=lambda: self.run_id,
            evaluation=self._evaluator,
            pivots=setup.pivots,
        )
        """By annotator and language; what failed once is not asked again for every gate."""

    # Before anything runs

    def pytest_report_header(self) -> list[str]:
        """Say what is about to be asked of whom, and where it is kept."""
        setup = self.setup
        cases = {b.name: setup.plans[f] for f, b in setup.benchmarks.items()}
        languages = sorted({case.sample.language for plan in cases.values() for case in plan})
        planned = ", ".join(f"{name} ({len(plan)} cases)" for name, plan in cases.items())
        return [
            f"xling: model {setup.model}; languages {', '.join(languages)}",
            f"xling: benchmarks {planned}",
            kept_in(setup.settings),
            *([f"xling: run {self.run_id}"] if self.run_id else []),
            *filter(None, [self._continues, asked_beside(setup.settings)]),
            *([f"xling: {patience}"] if (patience := setup.patience()) else []),
            *(f"xling: {notice}" for notice in setup.notices()),
        ]

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self) -> None:
        """Open the store and the run, unless nothing will be asked."""
        if self.is_worker or self.asks_nothing:
            return
        try:
            with file_errors():
                self._start_run()
        except XlingError as error:
            raise pytest.UsageError(str(error)) from error
        if self.distributed:
            self._watch = ProgressWatch(self._line, self.database, self.run_id)

    def _start_run(self) -> None:
        from pytest_xling.engine.leases import this_process  # noqa: PLC0415  when a run is made
        from pytest_xling.plugin.continuing import begin  # noqa: PLC0415  likewise

        self._began = time.monotonic()
        settings = self.setup.settings
        now = datetime.now(UTC)
        self.run_id = settings.run_name or made_up_name(self.setup.model, now)
        record = RunRecord(
            run_id=self.run_id,
            model=self.setup.model,
            created_at=now.isoformat(timespec="milliseconds"),
            status="running",
            settings={
                **settings.as_json(),
                "pivots": self.setup.pivots(),
                "unpriced": self.setup.unpriced(),
            },
            versions=library_versions(),
            git=git_state(self.config.rootpath),
            seed=settings.seed,
            owner=this_process(),
            seen_at=time.time(),
            whole=self.setup.whole(),
        )
        self._continues = begin(self.database, record, self.setup)

    @property
    def seconds(self) -> float:
        """How long this session has taken so far."""
        return time.monotonic() - self._began

    @property
    def database(self) -> Database:
        """The store, opened when first used."""
        if self._database is None:
            from pytest_xling.store.database import Database  # noqa: PLC0415

            # A worker must not make a store anew where the run's is gone.
            self._database = Database(self.setup.settings.store, create=not self.is_worker)
        return self._database

    # Collecting

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Make a test of every case, and of every gate, of the benchmark in the test's folder."""
        self.selection.parametrize(metafunc)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Put gates after everything else."""
        items.sort(key=lambda item: isinstance(check_of(item), GateCheck))

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Note what was selected."""
        workers = self.workers if self.is_worker else None
        self.selection.note(
            session.items,
            workers=workers,
            per_worker=self.stopping.per_worker,
            last_failed=self._last_failed,
        )
        self._barriers = self.stopping.begin()

    def pytest_deselected(self, items: list[pytest.Item]) -> None:
        """Note what was not selected."""
        self.selection.deselected(items)

    @property
    def _last_failed(self) -> bool:
        return bool(self.config.getoption("lf", default=False))

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        """Note what the workers have collected; all the same."""
        self._collected = ids

    def planned(self) -> int:
        """Return how many cases were selected, here or by the workers."""
        if self.distributed:
            return self.selection.count(self._collected)
        return self.selection.planned.total()

    # Running

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Evaluate the case a test is about."""
        if (check := check_of(item)) and not self.asks_nothing:
            check.set_up(item)

    def pytest_runtest_teardown(self, item: pytest.Item) -> None:
        """Let go of what the test had."""
        check = check_of(item)
        if isinstance(check, CaseCheck):
            check.tear_down()

    def _evaluator(self) -> Evaluation:
        if self._evaluation is None:
            self._evaluation = self._evaluating(
                self.selection.groups,
                look_ahead=self._look_ahead(),
                worker=self.worker,
                barriers=self._barriers,
            )
        return self._evaluation

    def _evaluating(
        self, groups: Sequence[Sequence[Case]], *, look_ahead: int, worker: str, **how: Any
    ) -> Evaluation:
        from pytest_xling.plugin.evaluation import Evaluation  # noqa: PLC0415

        return Evaluation(
            setup=self.setup,
            run_id=self.run_id,
            groups=groups,
            metrics=self.selection.metrics,
            look_ahead=look_ahead,
            workers=self.workers,
            worker=worker,
            parent=self._parent,
            **how,
        )

    def recall(self, benchmark: str) -> None:
        """Take what the store has for the cases a gate rests on, where they are not selected.

        Nothing is asked: what is missing is missing to the gate.
        """
        if benchmark in self._recalled or benchmark not in self.selection.recalled:
            return
        self._recalled.add(benchmark)
        evaluation = self._evaluating(
            groups_of(self.selection.recalled[benchmark], size=GROUP_CASES),
            look_ahead=0,
            worker=f"{self.worker} stored",
            unasked="its test is not selected",
        )
        try:
            evaluation.recall(waiting=lambda: self._line.show(evaluation.progress))
        finally:
            evaluation.close()

    def stopped_before(self, case: Case) -> str:
        """Say why *case* is not asked any more; "" where it is, or has been."""
        begun = self._evaluation is not None and self._evaluation.begun(case)
        return "" if begun else self.stopping.before(case)

    def result(self, case: Case) -> Result:
        """Return the result of *case*, evaluating its group if need be."""
        evaluation = self._evaluator()
        result = evaluation.result(case, waiting=lambda: self._line.show(evaluation.progress))
        if self.selection.used(case):
            evaluation.forget(case)
        return result

    def is_told(self, cause: str) -> bool:
        """Tell whether a case of this process has shown *cause* in full; from now on it has."""
        told = cause in self._told
        self._told.add(cause)
        return told

    def score_corpora(self) -> None:
        """Score the whole run with the metrics that are fitted to all answers, once.

        Raises:
            XlingError: that failed; the run is incomplete, and every gate that asks for it errs.
        """
        if self._corpora_fault is not None:
            raise self._corpora_fault
        if self._corpora_scored or self.stopping.stop() is not None:
            return
        self._corpora_scored = True
        try:
            self._evaluator().score_corpora(self._to_score())
        except XlingError as error:
            self._corpora_fault = error
            raise

    def _to_score(self) -> list[Case]:
        """Return the cases that gates rest on, selected or not, here or by the workers."""
        if self.distributed:
            return self.selection.cases_of(self._collected, whole=self._last_failed)
        return self.selection.to_score()

    def _selected(self) -> list[Case]:
        """Return the cases that were selected, here or by the workers."""
        if self.distributed:
            return self.selection.cases_of(self._collected)
        return [case for group in self.selection.groups for case in group]

    def unjudged(self) -> list[str]:
        """Say which benchmarks were asked, have limits, and had not one gate judged."""
        from pytest_xling.store.runs import read_verdicts  # noqa: PLC0415

        asked = sorted({case.benchmark for case in self._selected()})
        with self.database.read() as connection:
            verdicts = read_verdicts(connection, self.run_id)
        judged = {verdict.threshold.benchmark for verdict in verdicts}
        return [
            f"no gate of {benchmark} was judged (exit 3): {why}"
            for benchmark in asked
            if benchmark not in judged and (why := self.selection.why_unjudged(benchmark))
        ]

    def _look_ahead(self) -> int:
        """Workers do not look ahead: which groups they will get, only the controller knows."""
        if self.is_worker:
            return 0
        return LOOK_AHEAD_IF_STOPPING if self.config.option.maxfail else LOOK_AHEAD

    def has_budget(self, case: Case) -> Callable[[str], bool]:
        """Return whether a metric's gate tolerates some flagged answers like *case*'s.

        That is so, too, where nobody trusts what raised the flag.
        """
        from pytest_xling.gates.rate import tolerated  # noqa: PLC0415

        def answer(metric: str) -> bool:
            file, level = self.setup.thresholds, case.sample.level
            if file is None:
                return False
            place = (case.benchmark, metric, case.sample.language, self.setup.model)
            at_level = None if level is None else file.resolve(*place, level=level)
            limits = file.resolve(*place)
            return tolerated(limits, at_level) or self.trusting.doubted(limits or at_level)

        return answer

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Know a mistake in the configuration, whoever found it."""
        if report.failed and any(sign in str(report.longrepr) for sign in MISTAKES):
            self._misconfigured = True

    def pytest_report_teststatus(
        self, report: pytest.CollectReport | pytest.TestReport
    ) -> tuple[str, str, tuple[str, dict[str, bool]]] | None:
        """Count cases that were given up, instead of listing each among the errors."""
        if not report.failed or GIVEN_UP not in {name for name, _ in _properties(report)}:
            return None
        return "given up", "E", ("GIVEN UP", {"red": True})

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count faults, wherever they happened."""
        self._line.clear()
        # A plugin that runs a test again calls the outcome of the first time something else.
        if not report.failed:
            return
        names = {name for name, _ in report.user_properties}
        if MISTAKE in names:
            self._misconfigured = True
        elif FAULT in names:
            self.faults += 1
        elif report.when == "call" and "xling_case" in names:
            self._failed_cases += 1

    # xdist

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:  # noqa: ANN401  xdist's
        """Tell a worker which run it works for."""
        node.workerinput["xling_run_id"] = self.run_id

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_make_scheduler(self, config: pytest.Config, log: Any) -> object:  # noqa: ANN401
        """Hand out samples in groups and gates last."""
        from pytest_xling.scheduling.waves import GroupedWaves  # noqa: PLC0415

        classify = self.selection.classify()
        return GroupedWaves(config, log, classify, per_worker=self.stopping.per_worker)

    # At the end

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Stop asking, keep everything, and say 3 where faults left the run incomplete."""
        if self._watch is not None:
            self._watch.close()
        self._line.clear()
        results = (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)
        if not self.is_worker and self.run_id and session.exitstatus in results:
            self._score_rest()
        if self._evaluation is not None:
            self._evaluation.close()
            self._evaluation = None
        if self.is_worker:
            return
        self._session = session
        if self._misconfigured:
            session.exitstatus = pytest.ExitCode.USAGE_ERROR
        if self.faults and session.exitstatus in results:
            session.exitstatus = pytest.ExitCode.INTERNAL_ERROR

    def _score_rest(self) -> None:
        """Score what is scored last, where no gate has asked for it."""
        from pytest_xling.plugin.evaluation import fitted_metrics  # noqa: PLC0415

        try:
            if fitted_metrics(self.database, self.run_id):
                self.score_corpora()
        except XlingError as error:
            self.faults += 1
            self._corpora_fault = error

    def _kept_so_far(self) -> str:
        """Say of a run that was interrupted how much of it is kept; "" of others."""
        if self._session is None or self._session.exitstatus != pytest.ExitCode.INTERRUPTED:
            return ""
        with contextlib.suppress(StoreError):  # said by those who lost something by it
            kept, planned = self.setup.kept(self.database)
            return (
                f"interrupted: {kept:,} of {planned:,} answers are kept; run again to ask only the "
                "rest"
            )
        return ""

    def _judges_itself(self) -> bool:
        from pytest_xling.plugin.evaluation import roles_asked  # noqa: PLC0415

        if self.setup.settings.judge not in {None, self.setup.settings.model}:
            return False
        with contextlib.suppress(StoreError):
            return "judge" in roles_asked(self.database, self.run_id, self.setup.factory)
        return False

    @pytest.hookimpl(trylast=True)
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Show what came of it."""
        if self.is_worker or not self.run_id:
            return
        from pytest_xling.reports.terminal import summary  # noqa: PLC0415
        from pytest_xling.reports.terminal.closing import failed_cases, faults_met  # noqa: PLC0415

        terminalreporter.section(f"xling: {self.setup.model}")
        writer = terminalreporter._tw  # noqa: SLF001  what pytest's own plugins write to
        try:
            with self.database.read() as connection:
                text = summary(
                    connection,
                    self.run_id,
                    width=writer.fullwidth,
                    color=writer.hasmarkup,
                    verbose=terminalreporter.verbosity > 0,
                    complete=not self.faults,
                    comparison=self.setup.compared(connection, self.run_id),
                )
        except REPORT_FAULTS as error:
            text = f"no summary: {error}\n"
            if self._session is not None:
                leave_unfinished(self._session)
        terminalreporter.write(text)
        if kept := self._kept_so_far():
            terminalreporter.write_line(kept, yellow=True)
        if self._judges_itself():
            terminalreporter.write_line(
                "Answers were judged by the model under test itself, as in XLingEval; name another "
                "judge with --xling-judge=MODEL."
            )
        if self._failed_cases:
            terminalreporter.write_line(
                f"{failed_cases(self._failed_cases)}: no budget in thresholds.yaml tolerates what "
                "they show"
            )
        if self._corpora_fault is not None:
            terminalreporter.write_line(f"not scored: {self._corpora_fault}", red=True)
        if self.faults:
            terminalreporter.write_line(
                f"{faults_met(self.faults)} of the provider or of a step: the run is "
                "incomplete (exit 3); run again to ask only what is missing",
                red=True,
            )

    def pytest_unconfigure(self) -> None:
        """Say in the store how the run ended, and close it."""
        if self._session is not None and self.run_id and not self.ended:
            status = status_of(self._session, stopped=self.stopping.ended)
            keep_end(self.database, self.run_id, status=status, seconds=self.seconds)
        if self._database is not None:
            self._database.close()


def _properties(report: pytest.CollectReport | pytest.TestReport) -> list[tuple[str, object]]:
    return report.user_properties if isinstance(report, pytest.TestReport) else []
