"""Show how far a long evaluation has come, without disturbing captured output."""

from __future__ import annotations

import threading
import time
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_xling.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest

    from pytest_xling.store.database import Database
    from pytest_xling.store.runs import Progress

__all__ = ["ProgressLine", "ProgressWatch", "describe"]

QUIET_S = 2.0
"""Say nothing of evaluations that are shorter."""
EVERY_S = {True: 1.0, False: 30.0}
"""On a terminal the line is rewritten; a log gets a line now and then."""


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

    def __init__(self, line: ProgressLine, database: Database, run_id: str) -> None:
        self._line = line
        self._database = database
        self._run_id = run_id
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._work, name="xling-progress", daemon=True)
        self._thread.start()

    def _work(self) -> None:
        from pytest_xling.store.runs import total_progress  # noqa: PLC0415

        while not self._over.wait(1.0):
            try:
                with self._database.read() as connection:
                    state = total_progress(connection, self._run_id)
            except StoreError:  # said by those who lost something by it
                continue
            if state.total:
                self._line.show(state)

    def close(self) -> None:
        """Show nothing more."""
        self._over.set()
        self._thread.join()
