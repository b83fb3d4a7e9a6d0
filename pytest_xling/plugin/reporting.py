"""At the end of a session: the HTML report, and what GitHub Actions is told."""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_xling.plugin.ending import REPORT_FAULTS, leave_unfinished

if TYPE_CHECKING:
    from collections.abc import Generator

    from pytest_xling.plugin.session import XlingSession

__all__ = ["Reporting"]


class Reporting:
    """A pytest plugin, for the controller or the only process.

    It writes when how the run ended is kept and pytest has shown its summary, and each report by
    itself: what goes wrong with one is told, and hides neither the outcome nor another.

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

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Generator[None]:
        """Write the reports when all is said; exit 3 where one asked for is missing."""
        yield
        if not self._session.run_id:
            return
        complete = self._session.ended in {"complete", "stopped"}
        faults = [self._write_report(complete=complete)]
        if self._on:
            faults.append(self._tell_github(complete=complete))
        for fault in filter(None, faults):
            self._write([fault], red=True)
            leave_unfinished(session)

    def _write_report(self, *, complete: bool) -> str:
        """Write the report where one is asked for; return why there is none, "" if all is well."""
        ours = self._session
        file = ours.setup.settings.report
        if file is None:
            return ""
        from pytest_xling.reports.html.page import write_report  # noqa: PLC0415

        try:
            with ours.database.read() as connection:
                compared = ours.setup.compared(connection, ours.run_id)
                write_report(connection, ours.run_id, file, comparison=compared, complete=complete)
        except REPORT_FAULTS as error:
            again = f"`xling report {ours.run_id} -o report.html` writes it without asking anything"
            return f"no report: {error}; {again}"
        self._write([f"report: {file}"])
        return ""

    def _tell_github(self, *, complete: bool) -> str:
        """Write the summary for GitHub; return why there is none, "" if all is well."""
        from pytest_xling.reports.github.commands import gate_annotations  # noqa: PLC0415
        from pytest_xling.reports.github.summary import MOST_BYTES, step_summary  # noqa: PLC0415
        from pytest_xling.reports.terminal.closing import undecided  # noqa: PLC0415
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
        except REPORT_FAULTS as error:
            return f"no summary for GitHub: {error}"
        text += "".join(f"\n⚠️ {said}\n" for said in ours.setup.warnings())
        left = undecided(verdicts, stopped=ours.stopping.ended)
        self._commands = gate_annotations(
            [verdict for verdict in verdicts if verdict not in left],
            thresholds=settings.thresholds,
            workspace=Path(workspace) if workspace else None,
        )
        if self._file:
            return self._append(text)
        self._write(["", "xling: summary for GitHub", "", text])
        return ""

    def _said_already(self) -> int:
        """Return how many bytes the step has in its summary; GitHub takes a limit of all."""
        file = Path(self._file) if self._file else None
        return file.stat().st_size if file is not None and file.is_file() else 0

    def _append(self, text: str) -> str:
        """Add to what the step has said already; return why that failed, "" if it did not."""
        file = Path(self._file)
        try:
            with file.open("a", encoding="utf-8", newline="\n") as summary:
                summary.write(text)
        except OSError as error:
            return f"no summary for GitHub: {file}: {error.strerror or error}"
        return ""

    def pytest_unconfigure(self) -> None:
        """Let the runner listen again, and tell it of the gates."""
        from pytest_xling.reports.github.commands import listen_again  # noqa: PLC0415

        self._write([*([listen_again(self._token)] if self._token else []), *self._commands])

    def _write(self, lines: list[str], **look: bool) -> bool:
        """Write *lines* where pytest writes its own; return whether there is such a place."""
        reporter = self._session.config.pluginmanager.get_plugin("terminalreporter")
        if reporter is None:
            return False
        for line in lines:
            reporter.ensure_newline()
            reporter.write_line(line, **look)
        return True
