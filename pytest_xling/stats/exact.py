"""The exact interval of a rate, and the test it is made of.

Clopper and Pearson (1934), The use of confidence or fiducial limits illustrated in the case of the
binomial: the ends are the rates at which a binomial test is just significant, so that each side
misses the truth no more often than it says, however small the rate and few the answers. With an
effective size in place of the number of answers it serves clustered ones (Korn and Graubard 1998).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from pytest_xling.stats.beta import incomplete_beta
from pytest_xling.stats.normal import check_alpha

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["exact_interval", "exact_p", "size_behind", "size_to_exclude", "size_to_pass"]

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
