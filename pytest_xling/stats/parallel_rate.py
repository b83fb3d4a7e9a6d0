"""The rate of a flag over languages that are asked the same questions."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Final

import numpy as np
from scipy.special import betainc, betaln

from pytest_xling.stats.distributions import check_alpha
from pytest_xling.stats.mean import mean_interval

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from numpy.typing import NDArray

_INDEPENDENT: Final = 1e-4
"""A correlation as good as none."""
_CORRELATIONS: Final = np.concatenate([[_INDEPENDENT], np.linspace(0.025, 0.975, 20)])
_PRIOR: Final = np.concatenate([[0.5], np.full(20, 0.025)])
"""What is believed of the correlation before an answer is seen: half that there is none, half that
any is as likely as another (ADR 40, with what that does at the limit)."""
_SPENT: Final = 0.8
"""The part of alpha that the upper end spends: the rest is for what the belief may be wrong by."""
_MOST_STEPS: Final = 64
_HALVINGS: Final = 50


class ParallelRate:
    """A weighted rate over answers of which those to one question go together.

    How closely they do is not known, and few flags hardly tell. So every correlation counts as
    much as the flags make it likely (a beta-binomial model of how many a question has), beginning
    with a belief that the simulations of ADR 40 hold to its promise. The lower end needs no such
    model: it is Gaffke's, over questions.

    Flags that come singly are evidence that answers are independent; that more of them should
    never narrow the interval, its upper end is at least that of the data with only the questions
    of most flags flagged, for each number of these.

    Args:
        flags: 1.0 or 0.0 per answer, or between them what share of its repeats are flagged.
        weights: of each answer; together 1.
        questions: which answers belong together.

    Raises:
        ValueError: the lengths differ, or there is no answer.
    """

    def __init__(
        self, flags: Sequence[float], weights: Sequence[float], questions: Sequence[Hashable]
    ) -> None:
        if not len(flags) == len(weights) == len(questions) or not flags:
            msg = f"{len(flags)} flags, {len(weights)} weights, {len(questions)} questions"
            raise ValueError(msg)
        self._sizes: Counter[Hashable] = Counter(questions)
        self._shares: defaultdict[Hashable, list[float]] = defaultdict(list)
        whole: defaultdict[Hashable, list[float]] = defaultdict(list)
        raised: defaultdict[Hashable, list[float]] = defaultdict(list)
        for flag, weight, question in zip(flags, weights, questions, strict=True):
            whole[question].append(weight)
            raised[question].append(flag)
            if flag:
                self._shares[question].append(weight * flag)
        self._raised = {question: math.fsum(own) for question, own in raised.items()}
        single = math.fsum(weight * weight for weight in weights)
        grouped = math.fsum(math.fsum(own) ** 2 for own in whole.values())
        self._worth = 1 / ((1 - _CORRELATIONS) * single + _CORRELATIONS * grouped)
        self._largest = max(map(math.fsum, whole.values()))
        self.value: float = min(1.0, math.fsum(s for own in self._shares.values() for s in own))
        """The weighted rate."""

    def interval(self, alpha: float) -> tuple[float, float]:
        """Return the two-sided 1 - *alpha* interval.

        Raises:
            ValueError: *alpha* is out of range.
        """
        check_alpha(alpha)
        return self._low(alpha), self._high(alpha)

    def _low(self, alpha: float) -> float:
        m = len(self._sizes)
        shares = (math.fsum(self._shares.get(question, ())) for question in self._sizes)
        around = mean_interval(
            [m * share for share in shares], range(m), alpha=alpha, bounds=(0.0, m * self._largest)
        )
        return 0.0 if around is None else max(0.0, around.low)

    def _high(self, alpha: float) -> float:
        """Return the highest of the ends by the flags there are, and by the worst questions'."""
        flagged = sorted(
            (question for question, raised in self._raised.items() if raised),
            key=lambda question: (
                -self._raised[question] / self._sizes[question],
                -math.fsum(self._shares[question]),
                self._sizes[question],
            ),
        )
        steps = sorted(set(np.linspace(0, len(flagged), _MOST_STEPS, dtype=int).tolist()))
        highest = 0.0
        for step in reversed(steps):
            highest = max(highest, self._high_by(flagged[:step], alpha, above=highest))
        return highest

    def _high_by(self, flagged: Sequence[Hashable], alpha: float, *, above: float) -> float:
        """Return the upper end where only these questions have their flags; *above* if below it."""
        rate = min(1.0, math.fsum(s for question in flagged for s in self._shares[question]))
        if rate == 1:
            return 1.0
        belief = self._belief(flagged)
        seen = rate * self._worth

        def is_left_out(limit: float) -> bool:
            tails = betainc(self._worth - seen, seen + 1, 1 - limit)
            return float(belief @ tails) <= _SPENT * alpha / 2

        if above >= rate and is_left_out(above):
            return above
        low, high = rate, 1.0
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            low, high = (low, middle) if is_left_out(middle) else (middle, high)
        return high

    def _belief(self, flagged: Sequence[Hashable]) -> NDArray[np.float64]:
        """Return how likely each correlation is where only these questions have their flags."""
        if not flagged:
            return _PRIOR
        total = sum(self._sizes.values())
        counts = {question: self._raised[question] for question in flagged}
        mean = (sum(counts.values()) + 0.5) / (total + 1)
        spread = (1 - _CORRELATIONS) / _CORRELATIONS
        first, second = mean * spread, (1 - mean) * spread
        kinds = Counter((size, counts.get(question, 0.0)) for question, size in self._sizes.items())
        likely = np.log(_PRIOR)
        for (size, raised), many in sorted(kinds.items()):  # to the last bit, in any order
            likely = likely + many * (
                betaln(raised + first, size - raised + second) - betaln(first, second)
            )
        belief: NDArray[np.float64] = np.exp(likely - likely.max())
        belief /= belief.sum()
        return belief
