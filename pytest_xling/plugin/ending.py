"""How a session ends: what was found out is put together, decides the exit status, and is kept."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

import pytest

from pytest_xling.errors import StoreError, XlingError
from pytest_xling.plugin.exit_status import RunFacts, exit_status, run_status

if TYPE_CHECKING:
    from collections.abc import Generator

    from pytest_xling.plugin.context import Context
    from pytest_xling.plugin.selection import Selection

REPORT_FAULTS: Final = (XlingError, OSError, ValueError, ArithmeticError)
"""What writing a report may meet: a store or a baseline that cannot be read, a file that cannot be
written, numbers that cannot be summed or shown. It is told, and hides nothing else."""


class Ending:
    """A pytest plugin, for the controller or the only process: decides the exit status.

    Whatever other plugins make of a test or of the session, as by xfail or by an option that
    suppresses failures: a verdict that closes the gate ends it with 1.

    Args:
        context: of the session.
        selection: knows which gates there should be.
    """

    def __init__(self, context: Context, selection: Selection) -> None:
        self._context = context
        self._selection = selection
        self._session: pytest.Session | None = None
        self._facts = RunFacts(pytest=pytest.ExitCode.OK)
        self._lines: list[str] = []

    @pytest.hookimpl(wrapper=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Generator[None]:
        """Decide once nothing else does, before pytest shows its summary."""
        self._session = session
        yield
        self._end(session)

    def _end(self, session: pytest.Session) -> None:
        ours = self._context
        self._facts = RunFacts(
            pytest=int(session.exitstatus),
            mistaken=ours.mistaken,
            faults=ours.faults,
            shard=ours.setup.shard is not None,
            closed=ours.stopped_early,
        )
        if ours.run_id:
            try:
                self._read_verdicts()
            except StoreError as error:
                self._lines.append(f"whether all gates were judged is not known (exit 3): {error}")
                self._facts = replace(self._facts, unjudged=True)
            self._keep(session)
            self._lines += ours.setup.warnings()  # the header says so, too, but not with -q
        session.exitstatus = exit_status(self._facts)

    def _read_verdicts(self) -> None:
        """Note what the gates said, and which of them are missing."""
        from pytest_xling.gates.judge import blocks, is_decided  # noqa: PLC0415  when a run is made
        from pytest_xling.store.runs import put_unjudged  # noqa: PLC0415  likewise
        from pytest_xling.store.verdicts import read_verdicts  # noqa: PLC0415  likewise

        ours = self._context
        if ours.setup.shard is not None:
            return
        with ours.database.read() as connection:
            verdicts = read_verdicts(connection, ours.run_id)
        # What an interim look left undecided closes nothing: the gate that failed there has.
        self._facts = replace(self._facts, closed=self._facts.closed or any(map(blocks, verdicts)))
        ended_well = exit_status(self._facts) == pytest.ExitCode.OK
        if not ended_well or self._selection.last_failed:
            return
        judged = {(verdict.threshold.benchmark, verdict.case) for verdict in verdicts}
        missing = self._selection.unjudged(judged)
        if missing.gates:
            keep = partial(put_unjudged, run_id=ours.run_id, gates=missing.gates)
            ours.database.transact(keep)
        if ours.setup.settings.partial:
            return
        self._lines += missing.lines
        self._facts = replace(
            self._facts, unjudged=bool(missing.lines), undecided=not is_decided(verdicts)
        )

    def _keep(self, session: pytest.Session) -> None:
        """Say in the store how the run ended."""
        from pytest_xling.store.runs import finish_run  # noqa: PLC0415  when a run is made

        ours = self._context
        stopped = bool(session.shouldfail or session.shouldstop)
        ours.ended = run_status(self._facts, stopped=stopped, stopped_early=ours.stopped_early)
        finish = partial(finish_run, run_id=ours.run_id, status=ours.ended, seconds=ours.seconds)
        try:
            ours.database.transact(finish)
        except StoreError as error:
            self._lines.append(f"how the run ended is not kept: {error}")
            ours.ended = "incomplete"
            self._facts = replace(self._facts, unkept=True)

    @pytest.hookimpl(trylast=True)
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say what could not be kept, what was not judged, and what may not be meant."""
        for line in self._lines:
            terminalreporter.write_line(line, red=True)

    def pytest_unconfigure(self) -> None:
        """Decide again: a report may have failed, or a conftest.py taken the status back."""
        if self._session is None:
            return
        if self._context.run_id and not self._context.ended:
            self._end(self._session)
        elif self._session.exitstatus in {pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED}:
            facts = replace(self._facts, unwritten=self._context.unwritten)
            self._session.exitstatus = exit_status(facts)
