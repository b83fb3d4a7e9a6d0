"""Runs drawn by chance: people and a judge give numbers to answers, and few are labelled."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import numpy as np
from scipy.special import ndtr, ndtri

from pytest_xling.stats.corrected import Judged, Labelled, corrected_mean
from tests.stats.judged_runs import measured_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from pytest_xling.stats.contrast import Interval
    from tests.stats.judged_runs import Kind, Measured

    Array: TypeAlias = NDArray[np.float64]

Shape: TypeAlias = Literal["stances", "five points", "all over", "95 % ones"]

_STEPS: Final = {
    "stances": ((-1.0, -0.4), (-1.0, 0.0, 1.0)),
    "five points": ((-2.0, -1.5, -1.0, 0.2), (0.0, 0.25, 0.5, 0.75, 1.0)),
    "95 % ones": ((float(ndtri(0.05)),), (0.0, 1.0)),
}
"""Where what is normal is cut, and into which numbers; what is all over is not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Numbers:
    """What runs are like."""

    shape: Shape
    labels: int
    like: float
    """Correlation of judge and people, before what they feel is made a number."""
    worse: float = 0.0
    """Standard deviations by which answers are worse than others."""
    icc: float = 0.0
    """Of what people feel within a question, and of what the judge does."""
    stratified: bool = False
    """Whether as many labels are drawn of each number of the judge's, as far as there are."""
    answers: int = 400
    repeats: int = 4
    """Answers to each question."""

    @property
    def truth(self) -> float:
        """The mean of people's numbers."""
        return float(self._number(ndtri((np.arange(10**5) + 0.5) / 10**5) - self.worse).mean())

    @property
    def bounds(self) -> tuple[float, float]:
        """The lowest and the highest number there can be."""
        return (-1.0 if self.shape == "stances" else 0.0), 1.0

    def draw(
        self, rng: np.random.Generator, hard: tuple[Array, Array]
    ) -> tuple[list[Judged], list[Labelled]]:
        """Draw a run; the judge is too kind.

        Args:
            rng: of the draw.
            hard: how hard questions are, for people and for the judge: standard normal, questions
                x 1.
        """
        shape = (self.answers // self.repeats, self.repeats)
        people, other = (
            math.sqrt(self.icc) * of_question + math.sqrt(1 - self.icc) * rng.normal(size=shape)
            for of_question in hard
        )
        judge = self.like * people + math.sqrt(1 - self.like**2) * other + 0.4
        found, said = (self._number(felt - self.worse).ravel() for felt in (people, judge))
        drawn = self._drawn(rng, said)
        # A stratum is what the judge said, and gates weigh stances by it however they were drawn.
        weighted = self.stratified or self.shape == "stances"
        strata = said if weighted else np.zeros_like(said)
        sizes, of = Counter(strata.tolist()), Counter(strata[drawn].tolist())
        judged = [Judged(value, at // self.repeats) for at, value in enumerate(said.tolist())]
        if sizes.keys() != of.keys():
            return judged, []
        return judged, [
            Labelled(
                judge=judged[at].judge,
                human=float(found[at]),
                cluster=judged[at].cluster,
                weight=sizes[strata[at]] / of[strata[at]],
            )
            for at in drawn.tolist()
        ]

    def _number(self, felt: Array) -> Array:
        made: Array
        if self.shape == "all over":
            made = ndtr(felt)
        else:
            cuts, numbers = _STEPS[self.shape]
            made = np.array(numbers)[np.digitize(felt, cuts)]
        return made

    def _drawn(self, rng: np.random.Generator, said: Array) -> NDArray[np.int64]:
        order = rng.permutation(len(said))
        if self.stratified:
            # The first of each number come before the second of any.
            turns: Counter[float] = Counter()
            turn = []
            for value in said[order].tolist():
                turn.append(turns[value])
                turns[value] += 1
            order = order[np.argsort(turn, kind="stable")]
        return order[: self.labels]


def measure_numbers(kind: Kind, settings: Sequence[Numbers], *, runs: int, seed: int) -> Measured:
    """Measure a mean, or a drop, a ratio or a slope of means, of the same questions."""
    rng = np.random.default_rng(seed)
    questions = settings[0].answers // settings[0].repeats
    drawn: list[list[tuple[Interval, Interval] | None]] = []
    for _ in range(runs):
        hard = rng.normal(size=(questions, 1)), rng.normal(size=(questions, 1))
        sides: list[tuple[Interval, Interval] | None] = []
        for setting in settings:
            judged, labelled = setting.draw(rng, hard)
            made = corrected_mean(judged, labelled, bounds=setting.bounds)
            sides.append((made, made.alone) if labelled else None)
        drawn.append(sides)
    return measured_of(kind, [setting.truth for setting in settings], drawn)
