"""How a session ends: its facts are completed, decide the exit status, are kept and shown."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Final

import pytest

from pytest_xling.errors import StoreError, XlingError
from pytest_xling.plugin.evaluation import roles_asked
from pytest_xling.plugin.exit_status import exit_status, run_status
from pytest_xling.store.cases import by_case

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_xling.plugin.parts import Parts
    from pytest_xling.scheduling.completeness import Completeness

REPORT_FAULTS: Final = (XlingError, OSError, ValueError, ArithmeticError)
"""What writing a report may meet: a store or a baseline that cannot be read, a file that cannot be
written, numbers that cannot be summed or shown. It is told, and hides nothing else."""


class Ending:
    """Decides the exit status of the controller or the only process, and says why.

    Whatever other plugins make of a test or of the session, as by xfail or by an option that
    suppresses failures: a verdict that closes the gate ends it with 1.
    """

    def __init__(self, parts: Parts, completeness: Completeness) -> None:
        self._parts = parts
        self._context = parts.context
        self._completeness = completeness
        self._session: pytest.Session | None = None
        self._lines: list[str] = []

    def decide(self, session: pytest.Session) -> None:
        """Set the exit status, and say in the store how the run ended."""
        self._session = session
        ours, facts = self._context, self._context.facts
        facts.pytest = int(session.exitstatus)
        facts.crashes = self._completeness.crashes
        facts.internal_errors = self._completeness.internal_errors
        facts.missing = self._completeness.missing()
        facts.stopped = bool(session.shouldfail or session.shouldstop)
        facts.stopped_early = ours.stopped_early
        facts.shard = ours.setup.shard is not None
        if ours.run_id:
            try:
                self._read_verdicts()
            except StoreError as error:
                self._lines.append(f"whether all gates were judged is not known (exit 3): {error}")
                facts.unjudged = True
            self._keep()
            self._lines += ours.setup.warnings()  # the header says so, too, but not with -q
        session.exitstatus = exit_status(facts)

    def decide_again(self) -> None:
        """Decide by a report that has failed since, or where a conftest.py took the status back."""
        session, facts = self._session, self._context.facts
        if session is None:
            return
        if self._context.run_id and not self._context.ended:
            self.decide(session)
        elif session.exitstatus in {pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED}:
            session.exitstatus = exit_status(facts)

    def _read_verdicts(self) -> None:
        """Note what the gates said, and which of them are missing."""
        from pytest_xling.gates.judge import blocks, is_decided  # noqa: PLC0415  when a run is made
        from pytest_xling.store.runs import put_unjudged  # noqa: PLC0415  likewise
        from pytest_xling.store.verdicts import read_verdicts  # noqa: PLC0415  likewise

        ours, facts = self._context, self._context.facts
        if facts.shard:
            return
        with ours.database.read() as connection:
            verdicts = read_verdicts(connection, ours.run_id)
        # What an interim look left undecided closes nothing: the gate that failed there has.
        facts.blocked = any(map(blocks, verdicts))
        if exit_status(facts) != pytest.ExitCode.OK or self._parts.selection.last_failed:
            return
        judged = {(verdict.threshold.benchmark, verdict.case) for verdict in verdicts}
        gates, lines = self._parts.selection.unjudged(judged)
        if gates:
            keep = partial(put_unjudged, run_id=ours.run_id, gates=gates)
            ours.database.transact(keep)
        if not ours.setup.settings.partial:
            self._lines += lines
            facts.unjudged, facts.undecided = bool(lines), not is_decided(verdicts)

    def _keep(self) -> None:
        """Say in the store how the run ended."""
        from pytest_xling.store.runs import finish_run  # noqa: PLC0415  when a run is made

        ours = self._context
        ours.ended = run_status(ours.facts)
        finish = partial(finish_run, run_id=ours.run_id, status=ours.ended, seconds=ours.seconds)
        try:
            ours.database.transact(finish)
        except StoreError as error:
            self._lines.append(f"how the run ended is not kept: {error}")
            ours.ended = "incomplete"
            ours.facts.unkept = True

    def show_missing(self, reporter: pytest.TerminalReporter) -> None:
        """Say why the run is incomplete, where tests gave no result."""
        if not self._context.facts.lost:
            return
        reporter.section("xling: the run is incomplete", red=True, bold=True)
        for line in self._completeness.lines():
            reporter.write_line(line)

    def show(self, reporter: pytest.TerminalReporter) -> None:
        """Show what came of the run, and what decided the exit status."""
        ours, facts = self._context, self._context.facts
        if ours.run_id:
            self._summarize(reporter)
            if exit_status(facts) == pytest.ExitCode.INTERRUPTED:
                reporter.write_line(self._kept_so_far(), yellow=True)
            for line in self._notes():
                reporter.write_line(line)
            for line in self._faults():
                reporter.write_line(line, red=True)
        if facts.stopped_early:
            reporter.write_line(self._saved(), red=True)
        if facts.shard:
            reporter.write_line(
                f"{ours.setup.shard}: gates are judged when all are there, by `xling merge`"
            )
        for line in self._lines:
            reporter.write_line(line, red=True)

    def _summarize(self, reporter: pytest.TerminalReporter) -> None:
        from pytest_xling.reports.terminal import summary  # noqa: PLC0415  when a run is made

        ours = self._context
        reporter.section(f"xling: {ours.setup.model}")
        writer = reporter._tw  # noqa: SLF001  what pytest's own plugins write to
        try:
            with ours.database.read() as connection:
                came_to = ours.came_to(connection)
                ours.facts.unwritten |= bool(came_to.unsummed)
                text = summary(
                    came_to,
                    width=writer.fullwidth,
                    color=writer.hasmarkup,
                    verbose=reporter.verbosity > 0,
                    store=ours.setup.settings.store,
                )
        except REPORT_FAULTS as error:
            text = f"no summary: {error}\n"
            ours.facts.unwritten = True
        reporter.write(text)

    def _kept_so_far(self) -> str:
        """Say of a run that was interrupted how much of it is kept."""
        ours = self._context
        with suppress(StoreError):  # those who lost something by it report it
            stored, planned = ours.setup.stored_answers(ours.database, since=ours.since)
            return (
                f"interrupted: {len(stored):,} of {planned:,} answers are kept; run again to ask "
                "only the rest"
            )
        return ""

    def _saved(self) -> str:
        """Say what ended the run early, and what that saved."""
        ours, planned = self._context, self._parts.selection.planned_cases()
        with ours.database.read() as connection:
            saved = planned - len(by_case(connection, ours.run_id, "case_id"))
        return f"{ours.early_stop()}; {saved:,} of {planned:,} requests were not made"

    def _notes(self) -> Iterator[str]:
        """Say who judged, and what failed."""
        from pytest_xling.reports.run_summary import failed_cases  # noqa: PLC0415  likewise

        if self._judges_itself():
            yield (
                "Answers were judged by the model under test itself, as in XLingEval; name another "
                "judge with --xling-judge=MODEL."
            )
        if failed := self._context.facts.failed_cases:
            yield f"{failed_cases(failed)}: no budget in thresholds.yaml tolerates what they show"

    def _judges_itself(self) -> bool:
        ours, setup = self._context, self._context.setup
        if setup.settings.judge not in {(), (setup.settings.model,)}:
            return False
        with suppress(StoreError):  # those who lost something by it report it
            return "judge" in roles_asked(ours.database, ours.run_id, setup.factory)
        return False

    def _faults(self) -> Iterator[str]:
        from pytest_xling.reports.run_summary import faults_met  # noqa: PLC0415  likewise

        if (fault := self._parts.evaluation.corpora_fault) is not None:
            yield f"not scored: {fault}"
        if faults := self._context.facts.faults:
            yield (
                f"{faults_met(faults)} of the provider or of a step: the run is incomplete "
                "(exit 3); run again to ask only what is missing"
            )
