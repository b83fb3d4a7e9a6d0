"""Compares the tests planned with the tests reported, so that a lost test is never a green run."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

import pytest

if TYPE_CHECKING:
    from collections.abc import Sequence

_PHASES: Final = frozenset({"setup", "call", "teardown"})
_OUTCOMES: Final = frozenset({"passed", "failed", "skipped"})
# The statuses that speak about results; others already say that the run did not end well ...
_RESULTS: Final = frozenset(
    {pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.NO_TESTS_COLLECTED}
)
# ... and these, that it was not meant to go on.
_STOPPED: Final = frozenset({pytest.ExitCode.INTERRUPTED, pytest.ExitCode.USAGE_ERROR})
_MAX_LISTED: Final = 10


class Completeness:
    """A pytest plugin, for the controller or the only process: exit 3 if the run is incomplete.

    Incomplete means: a planned test was not reported (unless -x, --maxfail or the like stopped
    the run), a worker died, or pytest had an internal error, in whichever process.

    Attributes:
        crashes: one line for each worker that died.
        internal_errors: the last line of each internal error.
    """

    def __init__(self) -> None:
        self.crashes: list[str] = []
        self.internal_errors: list[str] = []
        self._planned: Counter[str] = Counter()
        self._reported: Counter[str] = Counter()
        self._calls_run = True
        self._incomplete = False

    def missing(self) -> list[str]:
        """Return the node ids planned but not reported, in the order of collection."""
        return [nodeid for nodeid, count in self._planned.items() if self._reported[nodeid] < count]

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> None:
        """Plan what this process has selected: nothing where workers do the collecting."""
        option = session.config.option
        # --setup-only and --setup-plan run no call.
        self._calls_run = not getattr(option, "setuponly", False)
        if not option.collectonly:
            self._plan([item.nodeid for item in session.items])

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: Sequence[str]) -> None:
        """Plan what a worker has selected: each worker the same, if all is well."""
        self._plan(ids)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: object, error: object) -> None:
        """Take note of a worker that did not end by itself or by Ctrl-C."""
        if error and error != "keyboard-interrupt":
            gateway = getattr(node, "gateway", None)
            last_line = str(error).strip().rpartition("\n")[2]
            self.crashes.append(f"worker {getattr(gateway, 'id', node)} died: {last_line}")

    def pytest_internalerror(self, excrepr: object) -> None:
        """Take note of an internal error; xdist forwards those of its workers."""
        self.internal_errors.append(str(excrepr).strip().rpartition("\n")[2])

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count a test as reported when its outcome is known: at the call, or at a setup failed.

        A crash comes as a report without a real phase. Subtests and reruns are no outcomes yet.
        """
        if hasattr(report, "context") or str(report.outcome) not in _OUTCOMES:
            return
        phase = str(report.when)
        if (
            phase not in _PHASES
            or phase == ("call" if self._calls_run else "teardown")
            or (phase == "setup" and report.outcome != "passed" and self._calls_run)
        ):
            self._reported[report.nodeid] += 1

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Set exit status 3, unless pytest itself already says that the run did not end well."""
        if session.exitstatus in _STOPPED:
            return
        stopped = bool(session.shouldfail or session.shouldstop)
        lost = self.crashes or self.internal_errors or (not stopped and self.missing())
        self._incomplete = bool(lost)
        if lost and session.exitstatus in _RESULTS:
            session.exitstatus = pytest.ExitCode.INTERNAL_ERROR

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say why the run is incomplete."""
        if not self._incomplete:
            return
        terminalreporter.section("xling: the run is incomplete", red=True, bold=True)
        for line in (*self.crashes, *(f"internal error: {e}" for e in self.internal_errors)):
            terminalreporter.write_line(line)
        missing = self.missing()
        if missing:
            planned = self._planned.total()
            terminalreporter.write_line(f"{len(missing)} of {planned} tests gave no result:")
        for nodeid in missing[:_MAX_LISTED]:
            terminalreporter.write_line(f"  {nodeid}")
        if len(missing) > _MAX_LISTED:
            terminalreporter.write_line(f"  ... and {len(missing) - _MAX_LISTED} more")

    def _plan(self, nodeids: Sequence[str]) -> None:
        # The larger count of each: workers collect the same tests, a process may hold a test twice.
        self._planned |= Counter(nodeids)
