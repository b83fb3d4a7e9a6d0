"""How a session ended, as the store keeps it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

import pytest

from pytest_xling.errors import StoreError, XlingError

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

    from pytest_xling.plugin.context import Context
    from pytest_xling.plugin.selection import Selection
    from pytest_xling.store.database import Database

__all__ = ["REPORT_FAULTS", "Ending", "Unjudged", "keep_end", "leave_unfinished", "status_of"]

STATUS: Final[Mapping[int, str]] = {0: "complete", 1: "complete", 2: "interrupted", 5: "complete"}
"""How a run ended, by pytest's exit status; all others leave it incomplete."""

RESULTS: Final = (
    pytest.ExitCode.OK,
    pytest.ExitCode.TESTS_FAILED,
    pytest.ExitCode.NO_TESTS_COLLECTED,
)
"""Exit statuses that speak of results."""

REPORT_FAULTS: Final = (XlingError, OSError, ValueError, ArithmeticError)
"""What writing a report may meet: a store or a baseline that cannot be read, a file that cannot be
written, numbers that cannot be summed or shown. It is told, and hides nothing else."""


def status_of(session: pytest.Session, *, stopped: bool = False) -> str:
    """Tell how a run ended: complete, stopped, incomplete or interrupted.

    Args:
        session: pytest's.
        stopped: whether a gate that failed early ended the run.
    """
    status = STATUS.get(int(session.exitstatus), "incomplete")
    if status == "complete" and (session.shouldfail or session.shouldstop):
        return "incomplete"  # -x or --maxfail ended it
    return "stopped" if stopped and status == "complete" else status


def keep_end(database: Database, run_id: str, *, status: str, seconds: float) -> str:
    """Say in the store how the run ended.

    Returns:
        Why that could not be kept, such as a store that is full or was deleted; "" where it was.
    """
    from pytest_xling.store.runs import finish_run  # noqa: PLC0415  when a run is made

    try:
        database.transact(partial(finish_run, run_id=run_id, status=status, seconds=seconds))
    except StoreError as error:
        return str(error)
    return ""


def leave_unfinished(session: pytest.Session) -> None:
    """Turn a success into exit 3, as something that was asked for is missing."""
    if session.exitstatus in {pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED}:
        session.exitstatus = pytest.ExitCode.INTERNAL_ERROR


class Ending:
    """A pytest plugin, for the controller or the only process: keeps how the run ended."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._lines: list[str] = []

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Say in the store how the run ended; exit 3 where that cannot be kept."""
        ours = self._context
        if not ours.run_id:
            return
        ours.ended = status_of(session, stopped=ours.stopped_early)
        if lost := keep_end(ours.database, ours.run_id, status=ours.ended, seconds=ours.seconds):
            self._lines.append(f"how the run ended is not kept: {lost}")
            ours.ended = "incomplete"
            if session.exitstatus in RESULTS:
                session.exitstatus = pytest.ExitCode.INTERNAL_ERROR
        self._lines += ours.setup.warnings()  # the header says so, too, but not with -q

    @pytest.hookimpl(trylast=True)
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say what could not be kept, and what may not be meant."""
        for line in self._lines:
            terminalreporter.write_line(line, red=True)


class Unjudged:
    """A pytest plugin, for the controller or the only process: exit 3 where no gate was judged.

    Status 0 says that the gate is open. It says so of every benchmark that was asked and that
    thresholds.yaml limits, so one of its gates must have been judged. How the run ended stays as it
    is in the store: nothing is missing there, and ``xling gate`` can judge it.
    """

    def __init__(self, context: Context, selection: Selection) -> None:
        self._context = context
        self._selection = selection
        self._lines: list[str] = []

    @pytest.hookimpl(wrapper=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Generator[None]:
        """Change status 0, once nothing else does."""
        yield
        if session.exitstatus == pytest.ExitCode.OK and self._context.run_id:
            try:
                self._lines = self._unjudged()
            except StoreError as error:
                self._lines = [f"whether a gate was judged is not known (exit 3): {error}"]
            if self._lines:
                session.exitstatus = pytest.ExitCode.INTERNAL_ERROR

    def _unjudged(self) -> list[str]:
        """Say which benchmarks were asked, have limits, and had not one gate judged."""
        from pytest_xling.store.runs import read_verdicts  # noqa: PLC0415  when a run is made

        asked = sorted({case.benchmark for case in self._selection.selected()})
        with self._context.database.read() as connection:
            verdicts = read_verdicts(connection, self._context.run_id)
        judged = {verdict.threshold.benchmark for verdict in verdicts}
        return [
            f"no gate of {benchmark} was judged (exit 3): {why}"
            for benchmark in asked
            if benchmark not in judged and (why := self._selection.why_unjudged(benchmark))
        ]

    @pytest.hookimpl(trylast=True)
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say of which benchmarks, and what to do."""
        for line in self._lines:
            terminalreporter.write_line(line, red=True)
