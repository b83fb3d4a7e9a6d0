"""Compare the tests planned with the tests reported, so that a run that lost one is not green."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_PHASES: Final = frozenset({"setup", "call", "teardown"})
_OUTCOMES: Final = frozenset({"passed", "failed", "skipped"})
_MAX_LISTED: Final = 10


class Completeness:
    """A pytest plugin, for the controller or the only process: knows which tests gave no result.

    Attributes:
        crashes: one line for each worker that died.
        internal_errors: the last line of each internal error, in whichever process.
    """

    def __init__(self) -> None:
        self.crashes: list[str] = []
        self.internal_errors: list[str] = []
        self._planned: Counter[str] = Counter()
        self._reported: Counter[str] = Counter()
        self._calls_run = True

    def missing(self) -> list[str]:
        """Return the node ids planned but not reported, in the order of collection."""
        return [nodeid for nodeid, count in self._planned.items() if self._reported[nodeid] < count]

    def lines(self) -> Iterator[str]:
        """Yield lines on crashes, internal errors and missing tests."""
        yield from self.crashes
        yield from (f"internal error: {error}" for error in self.internal_errors)
        missing = self.missing()
        if missing:
            yield f"{len(missing)} of {self._planned.total()} tests gave no result:"
        yield from (f"  {nodeid}" for nodeid in missing[:_MAX_LISTED])
        if len(missing) > _MAX_LISTED:
            yield f"  ... and {len(missing) - _MAX_LISTED} more"

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> None:
        """Note the tests that this process selected: none where workers collect."""
        option = session.config.option
        # --setup-only and --setup-plan run no call.
        self._calls_run = not getattr(option, "setuponly", False)
        if not option.collectonly:
            self._plan([item.nodeid for item in session.items])

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: Sequence[str]) -> None:
        """Note the tests that a worker selected: all workers the same, if all is well."""
        self._plan(ids)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: object, error: object) -> None:
        """Note a worker that did not end by itself or by Ctrl-C."""
        if error and error != "keyboard-interrupt":
            gateway = getattr(node, "gateway", None)
            last_line = str(error).strip().rpartition("\n")[2]
            self.crashes.append(f"worker {getattr(gateway, 'id', node)} died: {last_line}")

    def pytest_internalerror(self, excrepr: object) -> None:
        """Note an internal error; xdist forwards those of its workers."""
        self.internal_errors.append(str(excrepr).strip().rpartition("\n")[2])

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count a test as reported once its outcome is known: at the call, or a failed setup.

        A crash comes as a report without a real phase. Subtests and reruns are no outcomes yet.
        """
        if hasattr(report, "context") or str(report.outcome) not in _OUTCOMES:
            return
        phase = str(report.when)
        if (
            phase not in _PHASES
            or phase == ("call" if self._calls_run else "teardown")
            or (phase == "setup" and report.outcome != "passed" and self._calls_run)
        ):
            self._reported[report.nodeid] += 1

    def _plan(self, nodeids: Sequence[str]) -> None:
        # The larger count of each: workers collect the same tests; one may collect a test twice.
        self._planned |= Counter(nodeids)
