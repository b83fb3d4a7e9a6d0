"""``--xling-stop-early``: look at the gates now and then, and ask no more once one has failed."""

from __future__ import annotations

import time
from collections import Counter
from typing import TYPE_CHECKING

from pytest_xling.analysis.looks import Looks, at_look, looked_at, question_of, random_place
from pytest_xling.gates.pairing import cluster_of
from pytest_xling.planning.plan import groups_of, planned_scores
from pytest_xling.plugin.checks import CaseCheck, GateCheck
from pytest_xling.plugin.judging import Judging
from pytest_xling.plugin.selection import GROUP_CASES, check_of
from pytest_xling.registry import load
from pytest_xling.store.queries import answered_cases
from pytest_xling.store.runs import total_progress
from pytest_xling.store.stops import Stop, put_stop, stop_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pytest

    from pytest_xling.analysis.drop import Against
    from pytest_xling.analysis.gate import GateSpec
    from pytest_xling.planning.plan import Case, Planned
    from pytest_xling.plugin.selection import Selection
    from pytest_xling.plugin.session import XlingSession
    from pytest_xling.records import Score, Verdict

__all__ = ["EarlyStopping", "Glance", "in_random_order"]

AHEAD = 2
"""A worker begins what belongs to a look if the look so many before it has been taken."""
WAIT_S, POLL_S = 120.0, 0.2


def in_random_order(items: list[pytest.Item], *, seed: int) -> None:
    """Put the cases of each benchmark into their random order, in the places they take up now."""
    places: dict[str, list[tuple[int, bytes]]] = {}
    for index, item in enumerate(items):
        check = check_of(item)
        if isinstance(check, CaseCheck):
            drawn = random_place(check.case, seed=seed)
            places.setdefault(check.case.benchmark, []).append((index, drawn))
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

    Args:
        session: with what was selected.
        how: as ``--xling-stop-early`` says it: ``pocock:10``.
    """

    def __init__(self, session: XlingSession, how: str) -> None:
        self._session = session
        self._gates: dict[str, list[GateSpec]] = {}
        for spec in session.selection.gates:
            self._gates.setdefault(spec.benchmark, []).append(spec)
        self._cases: dict[str, list[Case]] = {}
        for group in session.selection.groups:
            for case in group:
                self._cases.setdefault(case.benchmark, []).append(case)
        seed = session.setup.settings.seed
        self._looks = {
            benchmark: Looks.of(cases, how=how, seed=seed)
            for benchmark, cases in self._cases.items()
        }
        self._taken = dict.fromkeys(self._looks, 0)
        """By benchmark the number of the last look that was taken here."""
        self._waits = session.is_worker
        self._stop: Stop | None = None
        self._glances: dict[str, Glance] = {}

    def cut(self, groups: Sequence[Sequence[Case]]) -> tuple[list[list[Case]], frozenset[int]]:
        """Cut groups anew so that none goes beyond a look.

        Returns:
            The groups, and the numbers of those that are begun only once a look has been taken.
        """
        cut: list[list[Case]] = []
        stages: list[tuple[str, int]] = []
        stretch: list[Case] = []
        cases = [case for group in groups for case in group]
        for number, case in enumerate(cases):
            stretch.append(case)
            stage = self._stage(case)
            if number + 1 == len(cases) or self._stage(cases[number + 1]) != stage:
                found = groups_of(stretch, size=GROUP_CASES)
                cut += found
                stages += [stage] * len(found)
                stretch = []
        firsts = (n for n in range(1, len(cut)) if stages[n] != stages[n - 1])
        return cut, frozenset(firsts)

    def _stage(self, case: Case) -> tuple[str, int]:
        return case.benchmark, self._looks[case.benchmark].stages[question_of(case)]

    def before(self, case: Case) -> Stop | None:
        """Return what ended the run, looking at the gates if it is time to.

        Where other processes are slow to answer what came long before *case*, wait for them a
        while: the next look may save what this one would ask.
        """
        benchmark, stage = self._stage(case)
        until = time.monotonic() + WAIT_S
        while self._stop is None:
            self._stop = self._stored() or self._look()
            if not self._waits or self._taken[benchmark] >= stage - AHEAD:
                break
            # What met a fault, or a process that died with it, need not be waited for again.
            self._waits = time.monotonic() < until and not self._faults()
            time.sleep(POLL_S)
        return self._stop

    def _faults(self) -> int:
        with self._session.database.read() as connection:
            return total_progress(connection, self._session.run_id).errors

    def _stored(self) -> Stop | None:
        with self._session.database.read() as connection:
            return stop_of(connection, self._session.run_id)

    def _look(self) -> Stop | None:
        """Take the looks whose answers are all there, until a gate fails."""
        session = self._session
        with session.database.read() as connection:
            answered = answered_cases(connection, session.run_id)
        for benchmark, planned in self._looks.items():
            for look in range(self._taken[benchmark] + 1, self._in(benchmark, answered) + 1):
                self._taken[benchmark] = look
                failed = self._failed(
                    Glance(session.selection, self._cases, planned, benchmark, look)
                )
                if failed is None:
                    continue
                stop = Stop(
                    benchmark=benchmark,
                    gate=failed.id,
                    look=look,
                    looks=planned.last,
                    share=planned.share(look),
                )
                with session.database.write() as connection:
                    return put_stop(connection, session.run_id, stop)
        return None

    def _in(self, benchmark: str, answered: set[tuple[str, str]]) -> int:
        """Return the last look at a benchmark for which all answers are there."""
        missing = {
            self._stage(case)[1]
            for case in self._cases[benchmark]
            if (benchmark, case.id) not in answered
        }
        return min(missing) - 1 if missing else self._looks[benchmark].last

    def _failed(self, glance: Glance) -> GateSpec | None:
        """Return the first gate of a benchmark that fails at a look."""
        for spec in self._gates.get(glance.benchmark, ()):
            if load("metric", spec.metric).fitted:
                continue
            check = GateCheck(self._session, spec)
            # What finds the labels is measured only for a gate that would fail.
            if glance.verdict(spec, check.scores).outcome != "fail":
                continue
            if check.judged_by(glance).outcome == "fail":
                return spec
        return None

    def judging(self, spec: GateSpec) -> Judging | Glance:
        """Return what judges a gate at the end: by the look at which the run ended."""
        benchmark = spec.benchmark
        if benchmark not in self._looks:
            return self._session.selection.judging
        if benchmark not in self._glances:
            planned, stop = self._looks[benchmark], self._stored()
            look = planned.last
            if stop is not None and stop.benchmark == benchmark:
                look = stop.look
            elif stop is not None:
                with self._session.database.read() as connection:
                    look = self._in(benchmark, answered_cases(connection, self._session.run_id))
            self._glances[benchmark] = Glance(
                self._session.selection, self._cases, planned, benchmark, look
            )
        return self._glances[benchmark]


class Glance:
    """The gates of a benchmark at one look; like :class:`Judging`, by the questions that are in."""

    def __init__(
        self,
        selection: Selection,
        cases: dict[str, list[Case]],
        planned: Looks,
        benchmark: str,
        look: int,
    ) -> None:
        self.benchmark = benchmark
        self._selection = selection
        self._planned = planned
        self._look = look
        self._asked = planned.asked(look)
        self._cases = [case for case in cases[benchmark] if question_of(case) in self._asked]
        self._scores: dict[tuple[str, str], Planned] = {}
        self._judging = Judging(self)

    def family(self, spec: GateSpec) -> list[GateSpec]:
        """Return the gates judged together with *spec*, each with the alpha of this look."""
        return [self._at(gate) for gate in self._selection.family(spec)]

    def against(self, spec: GateSpec) -> Against | None:
        """Return the baseline's side of a gate's metric; what is not in yet has no counterpart."""
        return self._selection.against(spec)

    def planned_scores(self, benchmark: str, metric: str) -> Planned:
        """Return how many scores a metric should have by now, by language and level."""
        key = (benchmark, metric)
        if key not in self._scores:
            made = load("metric", metric)
            early = made.fitted and self._look < self._planned.last
            self._scores[key] = (
                Counter()
                if early
                else planned_scores(self._cases, made, pivot=self._selection.pivot_of(benchmark))
            )
        return self._scores[key]

    def verdict(self, spec: GateSpec, read: Callable[[str], Sequence[Score]]) -> Verdict:
        """Judge a gate, as :meth:`Judging.verdict`, by the answers and the alpha of this look."""
        verdict = self._judging.verdict(self._at(spec), self._reading(read))
        return looked_at(verdict, spec, self._planned, self._look)

    def lost(self, spec: GateSpec, read: Callable[[str], Sequence[Score]]) -> tuple[int, int]:
        """Return what a gate lacks of the scores it should have by now, and how many these are."""
        return self._judging.lost(spec, self._reading(read))

    def _at(self, spec: GateSpec) -> GateSpec:
        return at_look(spec, self._planned, self._look)

    def _reading(self, read: Callable[[str], Sequence[Score]]) -> Callable[[str], Sequence[Score]]:
        def found(language: str) -> Sequence[Score]:
            return [score for score in read(language) if cluster_of(score)[1] in self._asked]

        return found
