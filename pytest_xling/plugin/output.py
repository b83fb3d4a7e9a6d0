"""What a session shows and writes: progress, reports, and limits it was told to update."""

from __future__ import annotations

import os
import secrets
import threading
import time
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from _pytest.junitxml import xml_key  # what record_testsuite_property writes to

from pytest_xling.errors import ConfigError, StoreError
from pytest_xling.plugin.ending import REPORT_FAULTS
from pytest_xling.reports.freshness import freshness
from pytest_xling.store.runs import get_run
from pytest_xling.store.scores import metric_steps

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from pytest_xling.analysis.tuning import BenchmarkTuned
    from pytest_xling.plugin.context import Context
    from pytest_xling.store.runs import Progress

QUIET_S = 2.0
"""Say nothing of evaluations that are shorter."""
EVERY_S = {True: 1.0, False: 30.0}
"""On a terminal the line is rewritten; a log gets a line now and then."""


def sign_junit(context: Context) -> None:
    """Say once in the JUnit file how each metric was made, and how new the answers are.

    Raises:
        StoreError: the store cannot be read.
    """
    xml = context.config.stash.get(xml_key, None)
    if xml is None:
        return
    with context.database.read() as connection:
        steps = metric_steps(connection, context.run_id)
        new = freshness(connection, get_run(connection, context.run_id))
    xml.add_global_property("xling_answers", str(new))
    # A metric is made alike for all benchmarks of a run.
    for metric, signature in sorted({step.metric: step.signature for step in steps}.items()):
        xml.add_global_property(f"xling_signature_{metric}", signature)


class ProgressLine:
    """Writes progress where pytest writes its own, never into what a test's output is caught in.

    Args:
        config: pytest's.
        planned: tells, once asked, how many answers the run needs in all.
    """

    def __init__(self, config: pytest.Config, planned: Callable[[], int]) -> None:
        self._config = config
        self._planned = planned
        self._total: int | None = None
        self._started: float | None = None
        self._last = 0.0
        self._done_at_start = 0
        self._reports: int | None = None
        self._length = 0
        self._writing = threading.Lock()

    def show(self, state: Progress) -> None:
        """Show *state* if it is time to."""
        reporter = self._config.pluginmanager.get_plugin("terminalreporter")
        if reporter is None or self._config.option.verbose < 0:
            return
        now = time.monotonic()
        if self._started is None:
            self._started, self._last, self._done_at_start = now, now, state.done
        terminal = bool(reporter.isatty)
        if now - self._started < QUIET_S or now - self._last < EVERY_S[terminal]:
            return
        self._last = now
        if self._total is None:
            self._total = self._planned()
        state = replace(state, total=max(state.total, self._total))
        if state.done == state.total:
            return
        line = describe(state, done=state.done - self._done_at_start, seconds=now - self._started)
        capture = self._config.pluginmanager.get_plugin("capturemanager")
        suspended = capture.global_and_fixture_disabled() if capture else nullcontext()
        with suspended, self._writing:
            self._write(reporter, line, terminal=terminal)

    def clear(self) -> None:
        """Take the line off the terminal: what it says is no longer so."""
        reporter = self._config.pluginmanager.get_plugin("terminalreporter")
        with self._writing:
            if self._length and reporter is not None:
                reporter.rewrite(" " * self._length)
                reporter.rewrite("")
                self._length = 0

    def _write(self, reporter: pytest.TerminalReporter, line: str, *, terminal: bool) -> None:
        reports = sum(map(len, reporter.stats.values()))
        if reports != self._reports:
            reporter.line("")  # leave alone the outcomes that stand on this line
            reporter.currentfspath = None
            self._reports, self._length = reports, 0
        if terminal:
            reporter.rewrite(f"{line.ljust(self._length)} ")
            self._length = len(line)
        else:
            reporter.write_line(line)
        reporter.flush()  # or it would be written when a test's output is caught again


def describe(state: Progress, *, done: int, seconds: float) -> str:
    """Return one line: done of total, rate, errors, cost, time to go."""
    rate = done / seconds if seconds > 0 else 0.0
    parts = [f"xling: {state.done}/{state.total} answers", f"{rate:.1f}/s"]
    if state.errors:
        parts.append(f"{state.errors} errors")
    if state.cost_usd:
        parts.append(f"${state.cost_usd:.2f}")
    if state.waiting:
        parts.append(f"waiting for {state.waiting}")
    elif rate > 0 and state.total > state.done:
        left = round((state.total - state.done) / rate)
        parts.append(f"{left // 60}:{left % 60:02} left")
    return ", ".join(parts)


class ProgressWatch:
    """On the controller: shows what the workers tell the store."""

    def __init__(self, line: ProgressLine, context: Context) -> None:
        self._line = line
        self._database = context.database
        self._run_id = context.run_id
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._work, name="xling-progress", daemon=True)
        self._thread.start()

    def _work(self) -> None:
        from pytest_xling.store.runs import total_progress  # noqa: PLC0415

        while not self._over.wait(1.0):
            try:
                with self._database.read() as connection:
                    state = total_progress(connection, self._run_id)
            except StoreError:  # those who lost something by it report it
                continue
            if state.total:
                self._line.show(state)

    def close(self) -> None:
        """Show nothing more."""
        self._over.set()
        self._thread.join()


class Reporting:
    """A pytest plugin, for the controller or the only process.

    It writes when how the run ended is kept and pytest has shown its summary, and each report by
    itself: what goes wrong with one is told, and hides neither the outcome nor another.

    In a step of GitHub Actions a line of the log can be a command to the runner, and a model's
    answer can be such a line. From the start of the session to its end the runner is told to take
    no line for a command, whatever ``--xling-github`` says; the annotations come after that.
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        settings = context.setup.settings
        self._file = os.environ.get("GITHUB_STEP_SUMMARY", "")
        self._on = settings.github == "on" or (settings.github == "auto" and bool(self._file))
        self._token = ""
        self._commands: list[str] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self) -> None:
        """Stop the runner of GitHub Actions from taking lines for commands."""
        if os.environ.get("GITHUB_ACTIONS") != "true" or self._context.asks_nothing:
            return
        from pytest_xling.reports.github.commands import stop_listening  # noqa: PLC0415

        token = secrets.token_hex(16)
        if self._write([stop_listening(token)]):
            self._token = token

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self) -> Generator[None]:
        """Write the reports when all is said; exit 3 where one asked for is missing."""
        yield
        if not self._context.run_id:
            return
        complete = self._context.ended in {"complete", "stopped"}
        faults = [self._write_report(complete=complete)]
        if self._on:
            faults.append(self._tell_github(complete=complete))
        for fault in filter(None, faults):
            self._write([fault], red=True)
            self._context.unwritten = True

    def _write_report(self, *, complete: bool) -> str:
        """Write the report where one is asked for; return why there is none, "" if all is well."""
        ours = self._context
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
        from pytest_xling.reports.terminal.closing import failed_cases, undecided  # noqa: PLC0415
        from pytest_xling.store.verdicts import read_verdicts  # noqa: PLC0415

        ours = self._context
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
        if ours.failed_cases:
            text += (
                f"\n❌ {failed_cases(ours.failed_cases)}, and no budget tolerates what they show\n"
            )
        text += "".join(f"\n⚠️ {warning}\n" for warning in ours.setup.warnings())
        left = undecided(verdicts, stopped=ours.stopped_early)
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
        reporter = self._context.config.pluginmanager.get_plugin("terminalreporter")
        if reporter is None:
            return False
        for line in lines:
            reporter.ensure_newline()
            reporter.write_line(line, **look)
        return True


CI_VARIABLES = ("CI", "GITHUB_ACTIONS", "BUILD_NUMBER", "TF_BUILD")
"""The latter two of Jenkins and Azure Pipelines, which set no ``CI``."""


class Updating:
    """A pytest plugin, for the controller or the only process.

    Raises:
        pytest.UsageError: it is CI, where a gate must not open itself, or there is no file.
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self._lines: list[str] = []
        self._written: Sequence[BenchmarkTuned] = ()
        self._fault = ""
        settings = context.setup.settings
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

    @pytest.hookimpl(wrapper=True)
    def pytest_sessionfinish(self) -> Generator[None]:
        """Tune on this run and change the file; exit 3 where that could not be done.

        Registered after what keeps how the run ended, so that it is known here.
        """
        yield
        ours = self._context
        if not self._on or not ours.run_id:
            return
        if ours.ended != "complete":
            self._fault = f"thresholds not updated: the run is {ours.ended}"
            return
        try:
            self._update()
        except REPORT_FAULTS as error:
            self._fault = f"thresholds not updated: {error}"
            ours.unwritten = True

    def _update(self) -> None:
        # Needs numpy, and only here.
        from pytest_xling.analysis.tuning import Tuning  # noqa: PLC0415
        from pytest_xling.analysis.tuning.changes import proposed_text  # noqa: PLC0415
        from pytest_xling.analysis.tuning.runs import Wanted, read_runs, tuned  # noqa: PLC0415
        from pytest_xling.config.thresholds_edit import replace_text  # noqa: PLC0415
        from pytest_xling.reports.pivot import named_pivot  # noqa: PLC0415
        from pytest_xling.reports.terminal.tuning_table import diff  # noqa: PLC0415

        ours = self._context
        file = ours.setup.thresholds
        with ours.database.read() as connection:
            (run,) = read_runs(connection, [ours.run_id], pivot=named_pivot)
        if lacks := run.lacks(run.benchmarks):
            msg = (
                f"run {ours.run_id!r} is no whole run: {'; '.join(lacks)}. Limits tuned on fewer "
                f"questions are looser; run all, or say `xling tune {ours.run_id} --write`"
            )
            raise ConfigError(msg)
        proposals = tuned(
            [run], [], file, wanted=Wanted(), how=Tuning(seed=ours.setup.settings.seed)
        )
        after = proposed_text(self._before, proposals, file, ours.setup.model)
        changed = diff(self._before, after, name=str(self._path))
        if not changed:
            self._lines = [f"thresholds: {self._path} says so already: nothing to change"]
            return
        replace_text(self._path, after, read=self._before)
        self._written = proposals
        self._lines = [
            *changed.splitlines(),
            f"thresholds: {self._path} is changed",
        ]

    @pytest.hookimpl(trylast=True)
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Show what was changed."""
        if not self._lines and not self._fault:
            return
        from pytest_xling.reports.terminal.tuning_table import loosened_text  # noqa: PLC0415

        terminalreporter.section("xling: thresholds")
        width = terminalreporter._tw.fullwidth  # noqa: SLF001  what pytest's own plugins write to
        for line in (*loosened_text(self._written, width=width).splitlines(), *self._lines):
            terminalreporter.write_line(line)
        if self._fault:
            terminalreporter.write_line(self._fault, red=True)


def _is_on(value: str) -> bool:
    return value.lower() not in {"", "0", "false", "no", "off"}
