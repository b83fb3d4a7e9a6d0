"""``--xling-stop-early``: look at the gates now and then, and ask no more once one has failed."""

from __future__ import annotations

import time
from functools import partial
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
"""A worker begins what belongs to a look if the look so many before it has been taken."""
WAIT_S, POLL_S = 120.0, 0.2


def refuse_vain_looks(setup: Setup) -> None:
    """Refuse to look where there is nothing to look at, or nothing to save.

    Raises:
        ConfigError: there are no gates to look at, or their answers are not waited for.
    """
    if setup.thresholds is None:
        msg = (
            "--xling-stop-early looks at gates, and there is no thresholds.yaml; write one, or"
            " name it with --xling-thresholds"
        )
        raise ConfigError(msg)
    if isinstance(setup.provider, Batching) and not setup.settings.batch_wait_s:
        # Else it would hand in what belongs to all looks, and save nothing.
        msg = (
            "--xling-stop-early waits for the answers to each look, and --xling-batch-wait=0"
            " for none; leave one of them out"
        )
        raise ConfigError(msg)


def in_random_order(items: list[pytest.Item], *, seed: int) -> None:
    """Put the cases of each benchmark into their random order, in the places they take up now."""
    from pytest_xling.gates.interim_looks import random_place  # noqa: PLC0415  imports numpy

    places: dict[str, list[tuple[int, bytes]]] = {}
    for index, item in enumerate(items):
        case = case_of(item)
        if case is not None:
            place = random_place(case.benchmark, case.question, seed=seed)
            places.setdefault(case.benchmark, []).append((index, place))
    before = list(items)
    for taken in places.values():
        ordered = sorted(taken, key=lambda place: place[1])  # stable: a question's cases stay so
        for (free, _), (index, _) in zip(taken, ordered, strict=True):
            items[free] = before[index]


class EarlyStopping:
    """Looks at the gates as answers come in, and knows which of them ended the run.

    Any process looks, whenever it is about to ask more: what it finds at a look is the same in all
    of them, and the first to find a gate that failed says so in the run's record. A look that lacks
    answers, for a fault took them, is not taken; the run is incomplete then.
    """

    def __init__(
        self, context: Context, selection: Selection, annotators: Annotators, how: str
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
                (case.question for case in cases), benchmark=benchmark, how=how, seed=seed
            )
            for benchmark, cases in self._cases.items()
        }
        """By benchmark, those at it."""
        self._taken = dict.fromkeys(self.looks, 0)
        """By benchmark the number of the last look that was taken here."""
        self._waits = context.is_worker
        self._stop: Stop | None = None
        self._last: dict[str, int] = {}
        """By benchmark the look that decides at the end."""
        self._expected: dict[tuple[str, str, int], Expected] = {}

    def cut(self) -> frozenset[int]:
        """Cut the groups anew so that none goes beyond a look.

        Returns:
            The numbers of those that are begun only once the look before them was taken.
        """
        cut: list[list[Case]] = []
        stages: list[tuple[str, int]] = []
        stretch: list[Case] = []
        cases = self._selection.selected()
        for number, case in enumerate(cases):
            stretch.append(case)
            stage = self._stage(case)
            if number + 1 == len(cases) or self._stage(cases[number + 1]) != stage:
                of_stage = groups_of(stretch, size=GROUP_CASES)
                cut += of_stage
                stages += [stage] * len(of_stage)
                stretch = []
        self._selection.groups = cut
        return frozenset(n for n in range(1, len(cut)) if stages[n] != stages[n - 1])

    def _stage(self, case: Case) -> tuple[str, int]:
        return case.benchmark, self.looks[case.benchmark].stages[case.question]

    def before(self, case: Case) -> Stop | None:
        """Return why *case*, not asked so far, is not asked any more, looking if it is time to.

        Where other processes are slow to answer what came long before *case*, wait for them a
        while: the next look may save what this one would ask.
        """
        benchmark, stage = self._stage(case)
        until = time.monotonic() + WAIT_S
        while self._stop is None:
            self._stop = self._context.early_stop() or self._look()
            if not self._waits or self._taken[benchmark] >= stage - AHEAD:
                break
            # What met a fault, or a process that died with it, need not be waited for again.
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
            for look in range(self._taken[benchmark] + 1, self._in(benchmark, answered) + 1):
                self._taken[benchmark] = look
                failed = self._failed(benchmark, look)
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

    def _in(self, benchmark: str, answered: set[tuple[str, str]]) -> int:
        """Return the last look at a benchmark for which all answers are there."""
        missing = {
            self._stage(case)[1]
            for case in self._cases[benchmark]
            if (benchmark, case.id) not in answered
        }
        return min(missing) - 1 if missing else self.looks[benchmark].last

    def _failed(self, benchmark: str, look: int) -> GateSpec | None:
        """Return the first gate of a benchmark that fails at a look; never an advisory one."""
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
            # What finds the labels is measured only for a gate that would fail.
            if decision.by_scores(spec).outcome != "fail":
                continue
            if decision.verdict(spec, measure=self._annotators.validate).outcome == "fail":
                return spec
        return None

    def expected(self, benchmark: str, metric: str) -> Expected:
        """Return which scores decide at the end: those of the look at which the run ended."""
        if benchmark not in self.looks:
            return self._selection.expected(benchmark, metric)
        if benchmark not in self._last:
            look, stop = self.looks[benchmark].last, self._context.early_stop()
            if stop is not None and stop.benchmark == benchmark:
                look = stop.look
            elif stop is not None:
                look = self._in(benchmark, self._answered())
            self._last[benchmark] = look
        return self._expected_at(self._last[benchmark], benchmark, metric)

    def _expected_at(self, look: int, benchmark: str, metric: str) -> Expected:
        """Return which scores there should be by a look; none of what is fitted to all answers."""
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
