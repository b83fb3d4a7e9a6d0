"""A session that ends as the plugin's do where tests are lost, without a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_xling.plugin.exit_status import RunFacts, exit_status
from pytest_xling.scheduling.completeness import Completeness

if TYPE_CHECKING:
    from collections.abc import Generator


class Counted(Completeness):
    """Decides by what was counted alone."""

    @pytest.hookimpl(wrapper=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Generator[None]:
        """Decide."""
        yield
        self.facts = RunFacts(
            pytest=int(session.exitstatus),
            crashes=self.crashes,
            internal_errors=self.internal_errors,
            missing=self.missing(),
            stopped=bool(session.shouldfail or session.shouldstop),
        )
        session.exitstatus = exit_status(self.facts)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say what is missing."""
        if self.facts.lost:
            terminalreporter.section("xling: the run is incomplete")
            for line in self.lines():
                terminalreporter.write_line(line)
