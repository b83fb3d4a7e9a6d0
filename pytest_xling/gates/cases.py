"""Limits per case: a question asked several times, of whose answers some may be flagged.

A case is a question in one language at one temperature. It is bad where more of its repeats are
flagged than may be, and what is limited is the share of bad cases. With none allowed, the others
are those that a model gets right every time: pass^k (Yao et al. 2024, tau-bench, section 3).
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pytest_xling.gates import wording
from pytest_xling.gates.estimate import estimate
from pytest_xling.gates.pairing import cluster_of, temperature_of
from pytest_xling.stats.mean import mean_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_xling.records import Estimate, Score, Threshold


@dataclass(frozen=True, slots=True, kw_only=True)
class _Case:
    """The repeats of a question at one temperature."""

    first: Score
    flags: tuple[float, ...]
    """Of those that have a value, in the order of the repeats."""

    def badness(self, most: int, repeats: int) -> tuple[float, float]:
        """Return whether it is bad at best and at worst."""
        counted = self.flags[:repeats]
        flagged = sum(counted)
        missing = repeats - len(counted)
        return float(flagged > most), float(flagged + missing > most)


def _cases(scores: Sequence[Score]) -> list[_Case]:
    """Return the cases, each once, in an order that does not depend on that of *scores*."""
    grouped: defaultdict[tuple[str, str, float], list[Score]] = defaultdict(list)
    # Conditions of one temperature are in the order of their repeats: r2 comes before r10.
    for score in sorted(scores, key=lambda s: (len(s.condition), s.condition)):
        at = (score.benchmark, score.sample_id, temperature_of(score.condition))
        grouped[at].append(score)
    return [
        _Case(first=answers[0], flags=tuple(s.value for s in answers if s.value is not None))
        for _, answers in sorted(grouped.items())
    ]


def cases_estimate(scores: Sequence[Score], threshold: Threshold) -> Estimate:
    """Estimate the share of bad cases.

    Of more repeats than the limit is of, the first that have a value count. Of fewer, a case may be
    known to be bad already, or to stay good; else it is unknown, and counts as good for the lower
    end of the interval and as bad for the upper one.

    Args:
        scores: of a flag in one language, in any order.
        threshold: with ``max_flagged``, ``repeats`` and ``max_cases``.

    Raises:
        EvaluationError: as :func:`pytest_xling.gates.estimate.estimate`.
    """
    most, repeats = threshold.max_flagged or 0, threshold.repeats or 1
    limit = threshold.max_cases
    cases = _cases(scores)
    judged = [(case, case.badness(most, repeats)) for case in cases]

    def at(worst: int) -> Estimate:
        return estimate(
            [replace(case.first, value=bad[worst], signature=signature) for case, bad in judged],
            metric=threshold.metric,
            language=threshold.language,
            kind="flag",
            alpha=threshold.alpha,
            # None at all is a rule, which chance has no say in.
            limits=[limit] if limit else [],
        )

    # Which also refuses scores that cannot be put together.
    signature = estimate(
        scores,
        metric=threshold.metric,
        language=threshold.language,
        kind="flag",
        alpha=threshold.alpha,
    ).signature
    best, worst = at(0), at(1)
    unknown = worst.flagged - best.flagged
    told = (_pass_k(cases, k, alpha=threshold.alpha) for k in (1, repeats))
    return replace(
        best, high=worst.high, per_case=True, unknown=unknown, tested=", ".join(filter(None, told))
    )


def _pass_k(cases: Sequence[_Case], k: int, *, alpha: float) -> str:
    """Word how likely all of *k* repeats of a case are without a flag; empty where that is unknown.

    Of n repeats of which c have no flag, C(c, k) of C(n, k) draws have none; the mean over cases
    has the interval of a mean of numbers from 0 to 1, cases of one question being alike.
    """
    values = []
    clusters = []
    for case in cases:
        n = len(case.flags)
        if n >= k:
            clean = n - int(sum(case.flags))
            values.append(math.comb(clean, k) / math.comb(n, k))
            clusters.append(cluster_of(case.first))
    if not values:
        return ""
    said = f"pass^{k} {wording.percent(math.fsum(values) / len(values))}"
    around = mean_interval(values, clusters, alpha=alpha, bounds=(0.0, 1.0))
    if around is None:
        return said
    ends = wording.interval(wording.percent(around.low), wording.percent(around.high), alpha)
    return f"{said} ({ends})"
