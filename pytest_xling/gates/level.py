"""Decide on the mean of a number by its floor and its ceiling."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from pytest_xling.gates import wording
from pytest_xling.stats.distributions import two_sided_z

if TYPE_CHECKING:
    from pytest_xling.records import Estimate, Outcome, Threshold

FEWEST = 4
"""By fewer answers no mean fails: of lognormal numbers without a known bound, 14% of the intervals
of 2 answers miss the mean, 7% of 3 and 5% of 4 (ADR 10)."""


def decide_level(estimate: Estimate, threshold: Threshold) -> tuple[Outcome, str]:
    """Decide on a mean by ``floor``, ``ceiling`` or both, and say why.

    Pass: the whole interval is within the limits, which themselves are allowed, and there are
    ``min_n`` answers. Fail: the whole interval of 4 answers or more is beyond one of them. Else
    inconclusive.

    Args:
        estimate: made with the threshold's alpha.
        threshold: with a floor or a ceiling.
    """
    few = wording.too_few(estimate, threshold)
    figures = wording.Figures.of(estimate)
    mean, low, high = estimate.value, estimate.low, estimate.high
    if mean is None:
        return "inconclusive", few or "the mean is unknown"
    if low is None or high is None:
        why = few or estimate.reason or "no spread is known; needs 2 questions"
        return "inconclusive", f"mean {figures.value(mean)} of {_answers(estimate)}; {why}"
    floor = -math.inf if threshold.floor is None else threshold.floor
    ceiling = math.inf if threshold.ceiling is None else threshold.ceiling
    seen = (
        f"mean {figures.value(mean)} of {_answers(estimate)}"
        f" ({wording.interval(*figures.ends(low, high), threshold.alpha)});"
        f" {_limits(threshold, figures)}"
    )
    if estimate.n >= FEWEST and high < floor:
        return "fail", f"{seen}: below the floor"
    if estimate.n >= FEWEST and low > ceiling:
        return "fail", f"{seen}: above the ceiling"
    if not few and floor <= low and high <= ceiling:
        return "pass", seen
    if few is None and estimate.labelled:
        few = wording.labels_needed(estimate, *(x for x in (floor, ceiling) if math.isfinite(x)))
    if few is None:
        size = size_to_decide(estimate, (floor, ceiling), alpha=threshold.alpha)
        few = wording.needed(size, estimate.n)
    return "inconclusive", f"{seen}; {few}"


def size_to_decide(estimate: Estimate, limits: tuple[float, ...], *, alpha: float) -> float:
    """Return from how many answers like these on the interval would hold no limit any more.

    What the standard error makes of the width narrows with the root of the answers, what the bounds
    add to it with their number.
    """
    mean, low, high, n = estimate.value, estimate.low, estimate.high, estimate.n
    if mean is None or low is None or high is None:
        return math.inf
    limit = min((end for end in limits if low <= end <= high), key=lambda end: abs(mean - end))
    distance = abs(mean - limit)
    if not distance:
        return math.inf
    if estimate.error is None:
        half = max(high - mean, mean - low)  # one side may end at the metric's bounds
        ratio = half / distance
        return n * ratio * ratio
    half = mean - low if limit < mean else high - mean
    spread = min(two_sided_z(alpha) * estimate.error, half)
    # In proportion to 1 - (alpha/2)^(1/n), which of many answers is log(2/alpha)/n.
    most = math.log(2 / alpha)
    added = (half - spread) * most / -math.expm1(-most / n)
    # spread √n x + added x² = distance, for x = 1/√N
    root = spread * math.sqrt(n)
    ratio = (root + math.sqrt(root**2 + 4 * added * distance)) / (2 * distance)
    return ratio * ratio


def _answers(estimate: Estimate) -> str:
    plural = "" if estimate.n == 1 else "s"
    return f"{estimate.n} answer{plural}{wording.unscored(estimate)}"


def _limits(threshold: Threshold, figures: wording.Figures) -> str:
    limits = []
    if threshold.floor is not None:
        limits.append(f"floor {figures.limit(threshold.floor)}")
    if threshold.ceiling is not None:
        limits.append(f"ceiling {figures.limit(threshold.ceiling)}")
    return ", ".join(limits)
