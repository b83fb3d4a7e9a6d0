"""The incomplete beta function, without scipy: importing that takes longer than judging a run."""

from __future__ import annotations

import math

__all__ = ["incomplete_beta"]

_PRECISION = 1e-15
_TINY = 1e-300


def incomplete_beta(x: float, a: float, b: float, *, complement: float) -> float:
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
