"""The standard normal quantile that two-sided intervals use."""

from __future__ import annotations

from functools import cache
from statistics import NormalDist

__all__ = ["check_alpha", "two_sided_z"]


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
