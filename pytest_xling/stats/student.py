"""Student's t, without scipy: importing that takes longer than judging a whole run."""

from __future__ import annotations

from functools import cache

from pytest_xling.stats.beta import incomplete_beta
from pytest_xling.stats.normal import check_alpha

__all__ = ["two_sided_p", "two_sided_t"]


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
    return incomplete_beta(df / (df + t * t), df / 2, 0.5, complement=t * t / (df + t * t))
