"""One pytest session with a model: puts the parts together and hands pytest's hooks to them."""

from __future__ import annotations

import contextlib
import gc
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from pytest_xling.errors import ConfigError, StoreError, XlingError
from pytest_xling.files.whole import file_errors
from pytest_xling.plugin.cases import CaseCheck, Cases
from pytest_xling.plugin.context import FAULT, GIVEN_UP, MISTAKE, Context
from pytest_xling.plugin.early_stopping import EarlyStopping
from pytest_xling.plugin.ending import REPORT_FAULTS, Ending
from pytest_xling.plugin.evaluation import Annotators, Evaluator, roles_asked
from pytest_xling.plugin.gates import GateCheck, Gates
from pytest_xling.plugin.output import ProgressLine, ProgressWatch, Reporting, sign_junit
from pytest_xling.plugin.run_header import begin_run, header
from pytest_xling.plugin.selection import MISCONFIGURED, Selection, gate_of
from pytest_xling.plugin.setup import read_setup
from pytest_xling.plugin.sharding import Sharding
from pytest_xling.scheduling.completeness import Completeness
from pytest_xling.scheduling.scrub import ReportGuard
from pytest_xling.store.cases import leave_out_cases

if TYPE_CHECKING:
    from collections.abc import Generator

    from pytest_xling.plugin.setup import Setup

MISTAKES = (MISCONFIGURED, f"{ConfigError.__module__}.{ConfigError.__name__}: ")
"""What shows in the report of a file that cannot be collected for a mistake of this kind; the
second where the file itself raises it."""
COLLECT_GARBAGE_AFTER = 10_000
"""Objects that a session makes between two looks for garbage; Python's own is 700. Nearly all that
grows with the cases (items, reports, properties) stays to the end, and looking at it is in vain."""


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
    context, register = session.context, config.pluginmanager.register
    register(session, "xling-session")
    register(session.stopping, "xling-stopping")
    register(ReportGuard(), "xling-report-guard")
    shard = context.setup.shard
    if shard is not None:
        register(Sharding(shard, session.selection), "xling-sharding")
    if not context.is_worker:
        register(Completeness(), "xling-completeness")
        register(Ending(context, session.selection), "xling-ending")
        register(Reporting(context), "xling-reporting")


class XlingSession:
    """The plugin's hooks, registered only where a model is named."""

    def __init__(self, config: pytest.Config, setup: Setup) -> None:
        self.context = Context(config, setup)
        self.selection = Selection(self.context)
        self._line = ProgressLine(config, self.selection.planned_cases)
        self._evaluator = Evaluator(self.context, self.selection, show=self._line.show)
        annotators = Annotators(self.context, self._evaluator)
        self.stopping = EarlyStopping(self.context, self.selection, annotators)
        parts = (self.context, self.selection, self._evaluator, annotators, self.stopping)
        self._cases, self._gates = Cases(*parts), Gates(*parts)
        self._continues = ""
        self._watch: ProgressWatch | None = None
        self._session: pytest.Session | None = None
        self._garbage_threshold = gc.get_threshold()

    # Before anything runs

    def pytest_report_header(self) -> list[str]:
        """Say what is about to be asked of whom, and where it is kept."""
        return header(self.context, continues=self._continues)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self) -> None:
        """Open the store and the run, unless nothing will be asked."""
        context = self.context
        first, *others = self._garbage_threshold
        if 0 < first < COLLECT_GARBAGE_AFTER:
            gc.set_threshold(COLLECT_GARBAGE_AFTER, *others)
        if context.is_worker or context.asks_nothing:
            return
        try:
            with file_errors():
                context.open_cluster()  # where it is not there, no run is begun
                self._continues = begin_run(context)
        except XlingError as error:
            raise pytest.UsageError(str(error)) from error
        if context.distributed:
            self._watch = ProgressWatch(self._line, context)

    # Collecting

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Make a test of every case, and of every gate, of the benchmark in the test's folder."""
        self.selection.parametrize(
            metafunc,
            case_test=partial(CaseCheck, self._cases),
            gate_test=partial(GateCheck, self._gates),
        )

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> Generator[None]:
        """Put gates after everything else, whoever else orders the tests, as ``--ff`` does."""
        yield
        items.sort(key=lambda item: gate_of(item) is not None)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Note what was selected."""
        workers = self.context.workers if self.context.is_worker else None
        self.selection.note(session.items, workers=workers, per_worker=self.stopping.per_worker)
        self._evaluator.barriers = self.stopping.begin()
        if not self.context.is_worker:
            self._leave_out()
        # What is imported and collected by now stays: no need to look through it for garbage.
        gc.freeze()

    def pytest_deselected(self, items: list[pytest.Item]) -> None:
        """Note what was not selected."""
        self.selection.deselected(items)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        """Note what the workers have collected; all the same."""
        if not self.selection.collected:
            self.selection.collected = ids
            self._leave_out()

    def _leave_out(self) -> None:
        """Leave out of a run that is gone on with what was selected earlier and is not now."""
        if self._continues and not self.selection.last_failed:
            kept = {(case.benchmark, case.id) for case in self.selection.to_score()}
            with self.context.database.write() as connection:
                leave_out_cases(connection, self.context.run_id, but=kept)

    # Running

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Evaluate the case a test is about."""
        if (check := _check_of(item)) and not self.context.asks_nothing:
            check.set_up(item)

    def pytest_runtest_teardown(self, item: pytest.Item) -> None:
        """Let go of what the test had."""
        check = _check_of(item)
        if isinstance(check, CaseCheck):
            check.tear_down()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Let go of what a case or a gate has reported; tests of others keep what they record."""
        ran = yield
        if _check_of(item):
            item.user_properties = []
        return ran

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Know a mistake in the configuration, whoever found it."""
        if report.failed and any(sign in str(report.longrepr) for sign in MISTAKES):
            self.context.mistaken = True

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
            self.context.mistaken = True
        elif FAULT in names:
            self.context.faults += 1
        elif report.when == "call" and "xling_case" in names:
            self.context.failed_cases += 1

    # xdist

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:  # noqa: ANN401  xdist's
        """Tell a worker which run it works for."""
        self.context.tell_worker(node.workerinput)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_make_scheduler(self, config: pytest.Config, log: Any) -> object:  # noqa: ANN401
        """Hand out samples in groups and gates last."""
        from pytest_xling.scheduling.waves import GroupedWaves  # noqa: PLC0415

        classify = self.selection.classify()
        return GroupedWaves(config, log, classify, per_worker=self.stopping.per_worker)

    # At the end

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Stop asking, and keep everything."""
        if self._watch is not None:
            self._watch.close()
        self._line.clear()
        results = (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)
        context = self.context
        if not context.is_worker and context.run_id and session.exitstatus in results:
            self._evaluator.score_rest()
        self._evaluator.close()
        if context.is_worker:
            return
        self._session = session
        if context.run_id:
            with contextlib.suppress(StoreError):  # those who lost something by it report it
                sign_junit(context)

    def _kept_so_far(self) -> str:
        """Say of a run that was interrupted how much of it is kept; "" of others."""
        if self._session is None or self._session.exitstatus != pytest.ExitCode.INTERRUPTED:
            return ""
        with contextlib.suppress(StoreError):  # those who lost something by it report it
            stored, planned = self.context.setup.stored_answers(
                self.context.database, since=self.context.since
            )
            return (
                f"interrupted: {len(stored):,} of {planned:,} answers are kept; run again to ask "
                "only the rest"
            )
        return ""

    def _judges_itself(self) -> bool:
        setup = self.context.setup
        if setup.settings.judge not in {(), (setup.settings.model,)}:
            return False
        with contextlib.suppress(StoreError):
            return "judge" in roles_asked(self.context.database, self.context.run_id, setup.factory)
        return False

    @pytest.hookimpl(trylast=True)
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Show what came of it."""
        context = self.context
        if context.is_worker or not context.run_id:
            return
        from pytest_xling.reports.terminal import summary  # noqa: PLC0415
        from pytest_xling.reports.terminal.closing import failed_cases, faults_met  # noqa: PLC0415

        terminalreporter.section(f"xling: {context.setup.model}")
        writer = terminalreporter._tw  # noqa: SLF001  what pytest's own plugins write to
        try:
            with context.database.read() as connection:
                text = summary(
                    connection,
                    context.run_id,
                    width=writer.fullwidth,
                    color=writer.hasmarkup,
                    verbose=terminalreporter.verbosity > 0,
                    store=context.setup.settings.store,
                    complete=not context.faults,
                    comparison=context.setup.compared(connection, context.run_id),
                )
        except REPORT_FAULTS as error:
            text = f"no summary: {error}\n"
            context.unwritten = True
        terminalreporter.write(text)
        if interrupted := self._kept_so_far():
            terminalreporter.write_line(interrupted, yellow=True)
        if self._judges_itself():
            terminalreporter.write_line(
                "Answers were judged by the model under test itself, as in XLingEval; name another "
                "judge with --xling-judge=MODEL."
            )
        if context.failed_cases:
            terminalreporter.write_line(
                f"{failed_cases(context.failed_cases)}: no budget in thresholds.yaml tolerates "
                "what they show"
            )
        if self._evaluator.corpora_fault is not None:
            terminalreporter.write_line(f"not scored: {self._evaluator.corpora_fault}", red=True)
        if context.faults:
            terminalreporter.write_line(
                f"{faults_met(context.faults)} of the provider or of a step: the run is "
                "incomplete (exit 3); run again to ask only what is missing",
                red=True,
            )

    def pytest_unconfigure(self) -> None:
        """Close the store."""
        gc.set_threshold(*self._garbage_threshold)
        self.context.close()


def _check_of(item: pytest.Item) -> CaseCheck | GateCheck | None:
    """Return what a test is about: a case, a gate or neither."""
    callspec = getattr(item, "callspec", None)
    if callspec is None:
        return None
    check = callspec.params.get("xling_case") or callspec.params.get("xling_gate")
    return check if isinstance(check, CaseCheck | GateCheck) else None


def _properties(report: pytest.CollectReport | pytest.TestReport) -> list[tuple[str, object]]:
    return report.user_properties if isinstance(report, pytest.TestReport) else []
