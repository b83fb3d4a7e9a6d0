"""``--xling-update-thresholds``: after a complete run, write the limits it would pass."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from pytest_xling.plugin.ending import REPORT_FAULTS, leave_unfinished, status_of

if TYPE_CHECKING:
    from pytest_xling.plugin.session import XlingSession

__all__ = ["Updating"]

CI_VARIABLES = ("CI", "GITHUB_ACTIONS", "BUILD_NUMBER", "TF_BUILD")
"""The latter two of Jenkins and Azure Pipelines, which set no ``CI``."""


class Updating:
    """A pytest plugin, for the controller or the only process.

    Raises:
        pytest.UsageError: it is CI, where a gate must not open itself, or there is no file.
    """

    def __init__(self, session: XlingSession) -> None:
        self._session = session
        self._lines: list[str] = []
        self._fault = ""
        settings = session.setup.settings
        self._on = settings.update_thresholds != "off"
        if not self._on:
            return
        ci = next((name for name in CI_VARIABLES if _is_on(os.environ.get(name, ""))), None)
        if ci is not None and settings.update_thresholds != "force":
            msg = (
                f"--xling-update-thresholds is refused in CI ({ci} is set): a run must not move the"
                " gates it is judged by; run it where a person sees the change, or say "
                "--xling-update-thresholds=force"
            )
            raise pytest.UsageError(msg)
        if settings.thresholds is None:
            msg = "--xling-update-thresholds: there is no thresholds.yaml; name one with "
            msg += "--xling-thresholds"
            raise pytest.UsageError(msg)
        self._path = settings.thresholds
        try:
            self._before = self._path.read_bytes().decode()
        except (OSError, UnicodeDecodeError) as error:
            msg = f"--xling-update-thresholds: cannot read {self._path}: {error}"
            raise pytest.UsageError(msg) from error

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Tune on this run and change the file; exit 3 where that could not be done."""
        ours = self._session
        if not self._on or not ours.run_id:
            return
        status = status_of(session, stopped=ours.stopping.ended)
        if status != "complete":
            self._fault = f"thresholds not updated: the run is {status}"
            return
        try:
            self._update()
        except REPORT_FAULTS as error:
            self._fault = f"thresholds not updated: {error}"
            leave_unfinished(session)

    def _update(self) -> None:
        # Needs numpy, and only here.
        from pytest_xling.analysis.tuning import Tuning  # noqa: PLC0415
        from pytest_xling.analysis.tuning.changes import proposed_text  # noqa: PLC0415
        from pytest_xling.analysis.tuning.runs import Wanted, read_runs, tuned  # noqa: PLC0415
        from pytest_xling.config.thresholds_edit import replace_text  # noqa: PLC0415
        from pytest_xling.reports.pivot import named_pivot  # noqa: PLC0415
        from pytest_xling.reports.terminal.tuning_table import diff, loosened_text  # noqa: PLC0415

        ours = self._session
        file = ours.setup.thresholds
        with ours.database.read() as connection:
            runs = read_runs(connection, [ours.run_id], pivot=named_pivot)
        found = tuned(runs, [], file, wanted=Wanted(), how=Tuning(seed=ours.setup.settings.seed))
        after = proposed_text(self._before, found, file, ours.setup.model)
        changed = diff(self._before, after, name=str(self._path))
        if not changed:
            self._lines = [f"thresholds: {self._path} says so already: nothing to change"]
            return
        replace_text(self._path, after, read=self._before)
        self._lines = [
            *loosened_text(found).splitlines(),
            *changed.splitlines(),
            f"thresholds: {self._path} is changed",
        ]

    @pytest.hookimpl(trylast=True)
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Show what was changed."""
        if not self._lines and not self._fault:
            return
        terminalreporter.section("xling: thresholds")
        for line in self._lines:
            terminalreporter.write_line(line)
        if self._fault:
            terminalreporter.write_line(self._fault, red=True)


def _is_on(value: str) -> bool:
    return value.lower() not in {"", "0", "false", "no", "off"}
