"""What two-sided intervals share: the normal quantile, and the p value that belongs to one."""

from __future__ import annotations

import math
from functools import cache
from statistics import NormalDist
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["check_alpha", "p_by_interval", "two_sided_z"]

_SMALLEST = 1e-9


def check_alpha(alpha: float) -> None:
    """Raise ValueError unless *alpha* lies strictly between 0 and 1."""
    if not 0 < alpha < 1:
        msg = f"alpha must lie between 0 and 1, not {alpha!r}"
        raise ValueError(msg)


@cache
def two_sided_z(alpha: float) -> float:
    """Return z such that a standard normal lies within ±z with probability 1 - *alpha*."""
    check_alpha(alpha)
    return NormalDist().inv_cdf(1 - alpha / 2)


def p_by_interval(interval: Callable[[float], tuple[float, float] | None], limit: float) -> float:
    """Return the two-sided p of the truth being *limit*, by the intervals that leave it out.

    That is the smallest alpha whose interval does; 0 below a thousand millionth.

    Args:
        interval: gives the interval that misses with some probability; None where there is none.
        limit: what the truth might be.
    """

    def left_out(alpha: float) -> bool:
        ends = interval(alpha)
        return ends is not None and not ends[0] <= limit <= ends[1]

    low, high = math.log(_SMALLEST), 0.0
    if left_out(_SMALLEST):
        return 0.0
    while high - low > 1e-7:  # noqa: PLR2004  of p, relative
        middle = (low + high) / 2
        low, high = (low, middle) if left_out(math.exp(middle)) else (middle, high)
    return math.exp(high)
