"""Student's t, without scipy: importing that takes longer than judging a whole run."""

from __future__ import annotations

import math
from functools import cache

from pytest_xling.stats.normal import check_alpha

__all__ = ["two_sided_p", "two_sided_t"]

_PRECISION = 1e-15
_TINY = 1e-300


@cache
def two_sided_t(alpha: float, df: float) -> float:
    """Return t such that Student's t with *df* degrees of freedom lies within ±t.

    The probability is 1 - *alpha*; exact to about 12 digits.

    Raises:
        ValueError: *alpha* is not between 0 and 1, or *df* is not above 0.
    """
    check_alpha(alpha)
    if not df > 0:
        msg = f"degrees of freedom must be above 0, not {df!r}"
        raise ValueError(msg)
    low, high = 0.0, 1.0
    while two_sided_p(high, df) > alpha:
        low, high = high, 2 * high
    while high - low > 1e-14 * high:
        middle = (low + high) / 2
        if middle in (low, high):
            break
        if two_sided_p(middle, df) > alpha:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def two_sided_p(t: float, df: float) -> float:
    """Return the probability that |T| exceeds |*t*| (Abramowitz & Stegun 26.7.1)."""
    return _incomplete_beta(df / (df + t * t), df / 2, 0.5, complement=t * t / (df + t * t))


def _incomplete_beta(x: float, a: float, b: float, *, complement: float) -> float:
    """Return the regularised I_x(a, b); *complement* is 1 - x, given to keep its digits."""
    if x <= 0 or complement <= 0:
        return 0.0 if x <= 0 else 1.0
    log_front = (
        math.lgamma(a + b)
        - math.lgamma(a)
        - math.lgamma(b)
        + a * math.log(x)
        + b * math.log(complement)
    )
    front = math.exp(log_front)
    if x < (a + 1) / (a + b + 2):  # where the fraction converges fast
        return front * _fraction(x, a, b) / a
    return 1 - front * _fraction(complement, b, a) / b


def _fraction(x: float, a: float, b: float) -> float:
    """Return the continued fraction of the incomplete beta (A&S 26.5.8) by Lentz's method."""
    numerator = 1.0
    denominator = 1 / (_away_from_zero(1 - (a + b) * x / (a + 1)))
    value = denominator
    for m in range(1, 10_000):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            denominator = 1 / _away_from_zero(1 + term * denominator)
            numerator = _away_from_zero(1 + term / numerator)
            step = denominator * numerator
            value *= step
        if abs(step - 1) < _PRECISION:
            break
    return value


def _away_from_zero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY
