"""At the end of a session: the HTML report, and what GitHub Actions is told."""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_xling.errors import XlingError
from pytest_xling.plugin.ending import keep_end, status_of

if TYPE_CHECKING:
    from pytest_xling.plugin.session import XlingSession

__all__ = ["Reporting"]

RESULTS = (
    pytest.ExitCode.OK,
    pytest.ExitCode.TESTS_FAILED,
    pytest.ExitCode.NO_TESTS_COLLECTED,
)
"""Exit statuses that speak of results."""


class Reporting:
    """A pytest plugin, for the controller or the only process.

    Registered after all of ours that may change the exit status, so that it is asked last.

    In a step of GitHub Actions a line of the log can be a command to the runner, and a model's
    answer can be such a line. From the start of the session to its end the runner is told to take
    no line for a command, whatever ``--xling-github`` says; the annotations come after that.
    """

    def __init__(self, session: XlingSession) -> None:
        self._session = session
        settings = session.setup.settings
        self._file = os.environ.get("GITHUB_STEP_SUMMARY", "")
        self._on = settings.github == "on" or (settings.github == "auto" and bool(self._file))
        self._token = ""
        self._lines: list[str] = []
        self._faults: list[str] = []
        self._summary = ""
        self._commands: list[str] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self) -> None:
        """Stop the runner of GitHub Actions from taking lines for commands."""
        if os.environ.get("GITHUB_ACTIONS") != "true" or self._session.asks_nothing:
            return
        from pytest_xling.reports.github.commands import stop_listening  # noqa: PLC0415

        token = secrets.token_hex(16)
        if self._write([stop_listening(token)]):
            self._token = token

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Keep how the run ended and write its reports; exit 3 where one asked for is missing."""
        ours = self._session
        if not ours.run_id:
            return
        status = status_of(session, stopped=ours.stopping.ended)
        ours.ended = True
        if lost := keep_end(ours.database, ours.run_id, status=status, seconds=ours.seconds):
            self._faults.append(f"how the run ended is not kept: {lost}")
            status = "incomplete"
            if session.exitstatus in RESULTS:
                session.exitstatus = pytest.ExitCode.INTERNAL_ERROR
        complete = status in {"complete", "stopped"}
        self._faults += ours.setup.warnings()  # the header says so, too, but not with -q
        written = self._write_report(complete=complete)
        if self._on:
            self._tell_github(complete=complete)
        if not written and session.exitstatus in {
            pytest.ExitCode.OK,
            pytest.ExitCode.NO_TESTS_COLLECTED,
        }:
            session.exitstatus = pytest.ExitCode.INTERNAL_ERROR

    def _write_report(self, *, complete: bool) -> bool:
        """Write the report where one is asked for; return whether all is well."""
        ours = self._session
        file = ours.setup.settings.report
        if file is None:
            return True
        from pytest_xling.reports.html.page import write_report  # noqa: PLC0415

        try:
            with ours.database.read() as connection:
                compared = ours.setup.compared(connection, ours.run_id)
                write_report(connection, ours.run_id, file, comparison=compared, complete=complete)
        except XlingError as error:
            again = f"`xling report {ours.run_id} -o report.html` writes it without asking anything"
            self._faults.append(f"no report: {error}; {again}")
            return False
        self._lines.append(f"report: {file}")
        return True

    def _tell_github(self, *, complete: bool) -> None:
        from pytest_xling.reports.closing import undecided  # noqa: PLC0415
        from pytest_xling.reports.github.commands import gate_annotations  # noqa: PLC0415
        from pytest_xling.reports.github.summary import MOST_BYTES, step_summary  # noqa: PLC0415
        from pytest_xling.store.runs import read_verdicts  # noqa: PLC0415

        ours = self._session
        settings = ours.setup.settings
        workspace = os.environ.get("GITHUB_WORKSPACE")
        report = "" if settings.report is None else settings.report.name
        try:
            with ours.database.read() as connection:
                text = step_summary(
                    connection,
                    ours.run_id,
                    complete=complete,
                    report=report,
                    most_bytes=MOST_BYTES - self._said_already(),
                )
                verdicts = read_verdicts(connection, ours.run_id)
        except XlingError as error:
            self._faults.append(f"no summary for GitHub: {error}")
            return
        text += "".join(f"\n⚠️ {said}\n" for said in ours.setup.warnings())
        left = undecided(verdicts, stopped=ours.stopping.ended)
        self._commands = gate_annotations(
            [verdict for verdict in verdicts if verdict not in left],
            thresholds=settings.thresholds,
            workspace=Path(workspace) if workspace else None,
        )
        if self._file:
            self._append(text)
        else:
            self._summary = text

    def _said_already(self) -> int:
        """Return how many bytes the step has in its summary; GitHub takes a limit of all."""
        file = Path(self._file) if self._file else None
        return file.stat().st_size if file is not None and file.is_file() else 0

    def _append(self, text: str) -> None:
        """Add to what the step has said already."""
        file = Path(self._file)
        try:
            with file.open("a", encoding="utf-8", newline="\n") as summary:
                summary.write(text)
        except OSError as error:
            self._faults.append(f"no summary for GitHub: {file}: {error.strerror or error}")

    @pytest.hookimpl(trylast=True)
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say what was written, and what could not be."""
        for line in self._lines:
            terminalreporter.write_line(line)
        for fault in self._faults:
            terminalreporter.write_line(fault, red=True)
        if self._summary:
            terminalreporter.section("xling: summary for GitHub")
            terminalreporter.write_line(self._summary)

    def pytest_unconfigure(self) -> None:
        """Let the runner listen again, and tell it of the gates."""
        from pytest_xling.reports.github.commands import listen_again  # noqa: PLC0415

        self._write([*([listen_again(self._token)] if self._token else []), *self._commands])

    def _write(self, lines: list[str]) -> bool:
        """Write *lines* where pytest writes its own; return whether there is such a place."""
        reporter = self._session.config.pluginmanager.get_plugin("terminalreporter")
        if reporter is None:
            return False
        for line in lines:
            reporter.ensure_newline()
            reporter.write_line(line)
        return True
