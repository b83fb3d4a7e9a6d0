"""``--xling-stop-early``: judge the gates at interim looks, and stop asking once one fails."""

from __future__ import annotations

import time
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING

from pytest_xling.errors import ConfigError
from pytest_xling.interfaces.batching import Batching
from pytest_xling.planning.plan import groups_of, planned_scores
from pytest_xling.plugin.selection import GROUP_CASES, case_of
from pytest_xling.records import Expected
from pytest_xling.registry import load
from pytest_xling.store.cases import by_case
from pytest_xling.store.runs import Stop, put_stop, total_progress

if TYPE_CHECKING:
    import pytest

    from pytest_xling.gates.spec import GateSpec
    from pytest_xling.planning.plan import Case
    from pytest_xling.plugin.annotators import Annotators
    from pytest_xling.plugin.context import Context
    from pytest_xling.plugin.selection import Selection
    from pytest_xling.plugin.setup import Setup

AHEAD = 2
"""By how many looks a worker may run ahead of the last one that was taken."""
WAIT_S, POLL_S = 120.0, 0.2


def check_stop_early(setup: Setup) -> None:
    """Check that looking can stop anything.

    Raises:
        ConfigError: there are no gates to look at, or nobody waits for a batch's answers.
    """
    if setup.thresholds is None:
        msg = (
            "--xling-stop-early looks at gates, and there is no thresholds.yaml; write one, or"
            " name it with --xling-thresholds"
        )
        raise ConfigError(msg)
    if isinstance(setup.provider, Batching) and not setup.settings.batch_wait_s:
        # Else it would submit the requests of all looks at once, and save nothing.
        msg = (
            "--xling-stop-early waits for the answers to each look, and --xling-batch-wait=0"
            " for none; leave one of them out"
        )
        raise ConfigError(msg)


def shuffle_cases(items: list[pytest.Item], *, seed: int) -> None:
    """Shuffle the cases of each benchmark by question, within the positions they have now."""
    from pytest_xling.gates.interim_looks import random_place  # noqa: PLC0415  imports numpy

    places: dict[str, list[tuple[int, bytes]]] = {}
    for index, item in enumerate(items):
        case = case_of(item)
        if case is not None:
            place = random_place(case.benchmark, case.question, seed=seed)
            places.setdefault(case.benchmark, []).append((index, place))
    collected = list(items)
    for unordered in places.values():
        ordered = sorted(unordered, key=lambda place: place[1])  # stable within a question
        for (index, _), (source, _) in zip(unordered, ordered, strict=True):
            items[index] = collected[source]


class EarlyStopping:
    """Judges the gates at interim looks, as answers come in, until one of them fails.

    Every process looks, whenever it is about to ask more: at one look all of them see the same, and
    the first to see a gate fail puts that into the run's record. A look that lacks answers, because
    of a fault, is not taken; the run is incomplete then.
    """

    def __init__(
        self, context: Context, selection: Selection, annotators: Annotators, schedule: str
    ) -> None:
        from pytest_xling.gates.interim_looks import Looks  # noqa: PLC0415  imports numpy

        self._context = context
        self._selection = selection
        self._annotators = annotators
        self._gates: dict[str, list[GateSpec]] = {}
        for spec in selection.gates:
            self._gates.setdefault(spec.benchmark, []).append(spec)
        self._cases: dict[str, list[Case]] = {}
        for case in selection.selected():
            self._cases.setdefault(case.benchmark, []).append(case)
        seed = context.setup.settings.seed
        self.looks = {
            benchmark: Looks.of(
                (case.question for case in cases), benchmark=benchmark, how=schedule, seed=seed
            )
            for benchmark, cases in self._cases.items()
        }
        """By benchmark."""
        self._taken = dict.fromkeys(self.looks, 0)
        """By benchmark the number of the last look that this process took."""
        self._waits = context.is_worker
        self._stop: Stop | None = None
        self._final: dict[str, int] = {}
        """By benchmark the number of the look that decides at the end."""
        self._expected: dict[tuple[str, str, int], Expected] = {}

    def regroup(self) -> frozenset[int]:
        """Form the groups of cases anew so that no group spans two looks.

        Returns:
            The indices of the groups that begin only once the look before them was taken.
        """
        groups: list[list[Case]] = []
        barriers: set[int] = set()
        for _, cases in groupby(self._selection.selected(), self._stage):
            barriers.add(len(groups))
            groups += groups_of(list(cases), size=GROUP_CASES)
        self._selection.groups = groups
        return frozenset(barriers - {0})

    def _stage(self, case: Case) -> tuple[str, int]:
        """Return a case's benchmark, and the number of the first look that has its answer."""
        return case.benchmark, self.looks[case.benchmark].stages[case.question]

    def stop_before(self, case: Case) -> Stop | None:
        """Return what stops the run before *case* is asked, looking first if a look is due.

        Where other processes are slow to answer cases far ahead of *case*, wait a while: the look
        at them may stop the run.
        """
        benchmark, stage = self._stage(case)
        until = time.monotonic() + WAIT_S
        while self._stop is None:
            self._stop = self._context.early_stop() or self._look()
            if not self._waits or self._taken[benchmark] >= stage - AHEAD:
                break
            # After a fault, or as long a wait, the answers will not come: wait never again.
            self._waits = time.monotonic() < until and not self._faults()
            time.sleep(POLL_S)
        return self._stop

    def _faults(self) -> int:
        with self._context.database.read() as connection:
            return total_progress(connection, self._context.run_id).errors

    def _look(self) -> Stop | None:
        """Take the looks whose answers are all there, until a gate fails."""
        context, answered = self._context, self._answered()
        for benchmark, looks in self.looks.items():
            last = self._last_complete(benchmark, answered)
            for look in range(self._taken[benchmark] + 1, last + 1):
                self._taken[benchmark] = look
                failed = self._failed_gate(benchmark, look)
                if failed is None:
                    continue
                stop = Stop(
                    benchmark=benchmark,
                    gate=failed.id,
                    look=look,
                    looks=looks.last,
                    share=looks.share(look),
                )
                return context.database.transact(
                    partial(put_stop, run_id=context.run_id, stop=stop)
                )
        return None

    def _answered(self) -> set[tuple[str, str]]:
        with self._context.database.read() as connection:
            return set(by_case(connection, self._context.run_id, "case_id"))

    def _last_complete(self, benchmark: str, answered: set[tuple[str, str]]) -> int:
        """Return the number of the last look at a benchmark that has all its answers."""
        missing = {
            self._stage(case)[1]
            for case in self._cases[benchmark]
            if (benchmark, case.id) not in answered
        }
        return min(missing) - 1 if missing else self.looks[benchmark].last

    def _failed_gate(self, benchmark: str, look: int) -> GateSpec | None:
        """Return the first gate of a benchmark that fails at a look and is not advisory."""
        from pytest_xling.gates.decide import Decision  # noqa: PLC0415  statistics, for gates only

        decision = Decision(
            self._context.stored_run,
            family=self._selection.family,
            expected=lambda benchmark, metric: self._expected_at(look, benchmark, metric),
            looks=self.looks,
        )
        for spec in self._gates.get(benchmark, ()):
            if load("metric", spec.metric).fitted or spec.threshold.tier == "advisory":
                continue
            # Annotators are measured only for a gate that would fail.
            if decision.by_scores(spec).outcome != "fail":
                continue
            if decision.verdict(spec, measure=self._annotators.validate).outcome == "fail":
                return spec
        return None

    def expected(self, benchmark: str, metric: str) -> Expected:
        """Return which scores decide at the end: those of the look at which the run ended."""
        if benchmark not in self.looks:
            return self._selection.expected(benchmark, metric)
        if benchmark not in self._final:
            look, stop = self.looks[benchmark].last, self._context.early_stop()
            if stop is not None and stop.benchmark == benchmark:
                look = stop.look
            elif stop is not None:
                look = self._last_complete(benchmark, self._answered())
            self._final[benchmark] = look
        return self._expected_at(self._final[benchmark], benchmark, metric)

    def _expected_at(self, look: int, benchmark: str, metric: str) -> Expected:
        """Return which scores a look needs; none of a metric that is fitted to all answers."""
        key = (benchmark, metric, look)
        if key not in self._expected:
            kind, looks = load("metric", metric), self.looks[benchmark]
            asked = looks.asked(look)
            cases = [case for case in self._cases[benchmark] if case.question in asked]
            early = kind.fitted and look < looks.last
            pivot = self._context.setup.pivots.get(benchmark)
            self._expected[key] = Expected(
                scores={} if early else planned_scores(cases, kind, pivot=pivot),
                recalled=benchmark in self._selection.recalled,
                look=look,
                questions=looks.total,
            )
        return self._expected[key]
