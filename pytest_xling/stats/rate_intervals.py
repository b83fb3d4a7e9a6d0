"""Intervals of rates: exact, Wilson's, and Wilson's over weighted answers."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_xling.stats.distributions import check_alpha, incomplete_beta, two_sided_z

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

__all__ = [
    "WeightedRate",
    "exact_interval",
    "exact_p",
    "size_behind",
    "size_to_exclude",
    "size_to_pass",
    "weighted_rate",
    "wilson_interval",
]


_MOST = 1e9
"""More answers than anyone has."""


def exact_interval(rate: float, n: float, *, alpha: float = 0.05) -> tuple[float, float] | None:
    """Return the two-sided 1 - *alpha* interval of a rate seen in *n* answers.

    Args:
        rate: observed share, 0 to 1.
        n: number of answers; a fraction where it is an effective size.
        alpha: probability that the interval misses, at most half of it on each side.

    Returns:
        Lower and upper end, within 0 to 1 and around *rate*; None where *n* is 0.

    Raises:
        ValueError: an argument is out of range.
    """
    check_alpha(alpha)
    _check(rate, n)
    if n == 0:
        return None
    low = 0.0 if rate == 0 else _root(lambda at: _as_many(rate, n, at) > alpha / 2, 0.0, rate)
    high = 1.0 if rate == 1 else _root(lambda at: _as_few(rate, n, at) <= alpha / 2, rate, 1.0)
    return low, high


def exact_p(rate: float, n: float, limit: float) -> float:
    """Return how likely a rate is so far from *limit* by chance: twice the smaller tail.

    It is below alpha just where the interval, made with that alpha, leaves *limit* out; 0 where no
    rate can be *limit*.

    Raises:
        ValueError: *rate* or *n* is out of range.
    """
    _check(rate, n)
    if not 0 <= limit <= 1:
        return 0.0
    return min(1.0, 2 * min(_as_many(rate, n, limit), _as_few(rate, n, limit)))


def size_to_exclude(rate: float, limit: float, *, alpha: float = 0.05) -> float:
    """Return from what n on the interval around *rate* no longer reaches *limit*.

    Infinite where the two are equal; 0 where *limit* is 0 or 1, which any other rate rules out.
    """
    check_alpha(alpha)
    if rate == limit:
        return math.inf
    tail = _as_many if rate > limit else _as_few
    return _smallest(lambda n: tail(rate, n, limit) <= alpha / 2)


def size_to_pass(flagged: float, limit: float, *, alpha: float = 0.05) -> float:
    """Return from what n on an interval is within *limit* if no more than these are flagged.

    Infinite where *limit* is 0.
    """
    check_alpha(alpha)
    return _smallest(
        lambda n: n >= flagged and _as_few(min(1.0, flagged / n), n, limit) <= alpha / 2
    )


def size_behind(rate: float, low: float, high: float, *, alpha: float = 0.05) -> float:
    """Return the n whose interval around *rate* is (*low*, *high*)."""
    end = high if high - rate >= rate - low else low  # the farther end loses fewer digits
    return size_to_exclude(rate, end, alpha=alpha)


def _as_many(rate: float, n: float, limit: float) -> float:
    """Return the probability of so many flags or more where the true rate is *limit*."""
    flagged = rate * n
    if not flagged:
        return 1.0
    return incomplete_beta(limit, flagged, n - flagged + 1, complement=1 - limit)


def _as_few(rate: float, n: float, limit: float) -> float:
    """Return the probability of so many flags or fewer where the true rate is *limit*."""
    left = n - rate * n
    if left <= 0:
        return 1.0
    return incomplete_beta(1 - limit, left, rate * n + 1, complement=limit)


def _root(beyond: Callable[[float], bool], low: float, high: float) -> float:
    """Return where *beyond*, false at first, becomes true, to the last digit."""
    while True:
        middle = (low + high) / 2
        if not low < middle < high:
            return middle
        low, high = (low, middle) if beyond(middle) else (middle, high)


def _smallest(enough: Callable[[float], bool]) -> float:
    """Return the smallest n that is *enough*, to nine digits; infinite where none is."""
    low, high = 0.0, 1.0
    while not enough(high):
        low, high = high, 2 * high
        if high > _MOST:
            return math.inf
    while high - low > 1e-9 * high and high > 1 / _MOST:
        middle = (low + high) / 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return 0.0 if high <= 1 / _MOST else high


def _check(rate: float, n: float) -> None:
    if not 0 <= rate <= 1:
        msg = f"a rate lies between 0 and 1, not {rate!r}"
        raise ValueError(msg)
    if not 0 <= n < math.inf:
        msg = f"a number of answers is not negative and finite, not {n!r}"
        raise ValueError(msg)


def wilson_interval(rate: float, n: float, *, alpha: float = 0.05) -> tuple[float, float] | None:
    """Return the two-sided 1 - *alpha* interval of a rate seen in *n* answers.

    Args:
        rate: observed share, 0 to 1.
        n: number of answers; a fraction where it is an effective size.
        alpha: probability that the interval misses, both sides together.

    Returns:
        Lower and upper end, within 0 to 1 and around *rate*; None where *n* is 0.

    Raises:
        ValueError: an argument is out of range.
    """
    z = two_sided_z(alpha)
    _check(rate, n)
    if n == 0:
        return None
    shrink = 1 + z * z / n
    centre = (rate + z * z / (2 * n)) / shrink
    half = z * math.sqrt(rate * (1 - rate) / n + z * z / (4 * n * n)) / shrink
    # The ends are exact at 0 and 1; rounding must not move them inside or past the rate.
    low = 0.0 if rate == 0 else min(max(centre - half, 0.0), rate)
    high = 1.0 if rate == 1 else max(min(centre + half, 1.0), rate)
    return low, high


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightedRate:
    """A rate with its interval; None where there are no answers."""

    value: float | None
    low: float | None
    high: float | None
    n: int
    size: float
    """How many independent, unweighted answers they are worth."""


def weighted_rate(
    flags: Sequence[bool],
    weights: Sequence[float],
    clusters: Sequence[Hashable],
    *,
    alpha: float = 0.05,
) -> WeightedRate:
    """Return the share of the weights whose flags are raised, with its 1 - *alpha* interval.

    That flags may vary less within the strata a sample was drawn from is not made use of, nor that
    a sample may be a large part of the whole: the interval is a little too wide rather than too
    narrow, and also holds for other answers of the same kind.

    Args:
        flags: one per answer.
        weights: how many answers each stands for.
        clusters: what answers share that are not independent.
        alpha: the interval misses with this probability, both sides together.

    Raises:
        ValueError: the lengths differ, a weight is not above 0 and finite, or *alpha* is out of
            range.
    """
    if not len(flags) == len(weights) == len(clusters):
        msg = f"{len(flags)} flags, {len(weights)} weights, {len(clusters)} clusters"
        raise ValueError(msg)
    if not all(0 < weight < math.inf for weight in weights):
        msg = "a weight is above 0 and finite"
        raise ValueError(msg)
    n = len(flags)
    if not n:
        return WeightedRate(value=None, low=None, high=None, n=0, size=0.0)
    whole = math.fsum(weights)
    raised = math.fsum(weight for flag, weight in zip(flags, weights, strict=True) if flag)
    # Exact at the ends, whatever order the weights were summed in.
    rate = 1.0 if all(flags) else raised / whole if any(flags) else 0.0
    off: defaultdict[Hashable, float] = defaultdict(float)
    of: defaultdict[Hashable, float] = defaultdict(float)
    for flag, weight, cluster in zip(flags, weights, clusters, strict=True):
        off[cluster] += weight * (flag - rate)
        of[cluster] += weight
    linearised = math.fsum(d * d for d in off.values())
    alike = math.fsum(w * w for w in of.values()) / whole
    size = whole * (whole * rate * (1 - rate) + alike) / (linearised + alike * alike)
    size = min(size, float(n))
    low, high = wilson_interval(rate, size, alpha=alpha) or (0.0, 1.0)
    return WeightedRate(value=rate, low=low, high=high, n=n, size=size)
