"""What a session asks of ``--xling-stop-early``; without the option nothing happens."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import pytest

from pytest_xling.errors import ConfigError, StoreError
from pytest_xling.scheduling.groups import PER_WORKER

if TYPE_CHECKING:
    from pytest_xling.analysis.gate import GateSpec
    from pytest_xling.planning.plan import Case
    from pytest_xling.plugin.early import EarlyStopping, Glance
    from pytest_xling.plugin.judging import Judging
    from pytest_xling.plugin.session import XlingSession
    from pytest_xling.store.stops import Stop

__all__ = ["Stopping"]


class Stopping:
    """A pytest plugin beside the session: the order of questions, and the end of a bad run.

    Args:
        session: whose settings may ask for it.

    Raises:
        ConfigError: there are no gates to look at.
    """

    def __init__(self, session: XlingSession) -> None:
        self._session = session
        self._how = session.setup.settings.stop_early
        self._early: EarlyStopping | None = None
        if self._how is not None and session.setup.thresholds is None:
            msg = (
                "--xling-stop-early looks at gates, and there is no thresholds.yaml; write one, or"
                " name it with --xling-thresholds"
            )
            raise ConfigError(msg)

    @property
    def per_worker(self) -> int:
        """In how many units a worker gets its questions: one for each look, or more."""
        return PER_WORKER if self._how is None else max(PER_WORKER, int(self._how.split(":")[1]))

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Ask in random order."""
        if self._how is not None:
            from pytest_xling.plugin.early import in_random_order  # noqa: PLC0415  brings numpy

            in_random_order(items, seed=self._session.setup.settings.seed)

    def begin(self) -> frozenset[int]:
        """Plan the looks at what was selected.

        Returns:
            The numbers of the groups that are begun only once the look before them was taken.
        """
        session = self._session
        if self._how is None or session.asks_nothing or session.distributed:
            return frozenset()
        from pytest_xling.plugin.early import EarlyStopping  # noqa: PLC0415  brings numpy

        self._early = EarlyStopping(session, self._how)
        if session.is_worker:
            return frozenset()
        session.selection.groups, barriers = self._early.cut(session.selection.groups)
        return barriers

    def before(self, case: Case) -> str:
        """Say why *case*, not asked so far, is not asked any more; "" where it is."""
        return "" if self._early is None else str(self._early.before(case) or "")

    def judging(self, spec: GateSpec) -> Judging | Glance:
        """Return what judges a gate."""
        return self._session.selection.judging if self._early is None else self._early.judging(spec)

    def stop(self) -> Stop | None:
        """Return what ended the run early, in whichever process."""
        if self._how is None:
            return None
        from pytest_xling.store.stops import stop_of  # noqa: PLC0415  brings SQLAlchemy

        with self._session.database.read() as connection:
            return stop_of(connection, self._session.run_id)

    @property
    def ended(self) -> bool:
        """Whether a gate that failed ended the run."""
        return self._stopped() is not None

    def _stopped(self) -> Stop | None:
        if self._session.is_worker or not self._session.run_id:
            return None
        with contextlib.suppress(StoreError):  # said by those who lost something by it
            return self.stop()
        return None

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Fail the run, even where the test of the gate that failed is expected to fail."""
        if session.exitstatus == pytest.ExitCode.OK and self.ended:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    @pytest.hookimpl(trylast=True)
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say what ended the run, and what that saved."""
        if (stop := self._stopped()) is None:
            return
        from pytest_xling.store.queries import answered_cases  # noqa: PLC0415  brings SQLAlchemy

        session = self._session
        planned = session.planned()
        with session.database.read() as connection:
            saved = planned - len(answered_cases(connection, session.run_id))
        told = f"{stop}; {saved:,} of {planned:,} requests were not made"
        terminalreporter.write_line(told, red=True)
