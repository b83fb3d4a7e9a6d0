"""Student's and Welch's t tests of two groups that are not paired."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_xling.stats.summary import pooled_variance

if TYPE_CHECKING:
    from pytest_xling.stats.summary import Summary

__all__ = ["TTest", "pooled_t", "welch_t"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TTest:
    """A t with its p value, two-sided."""

    t: float | None
    """Positive where the first group's mean is higher."""
    df: float | None
    p: float | None
    reason: str = ""
    """Why there is no t."""


def pooled_t(first: Summary, second: Summary) -> TTest:
    """Return Student's t test, which takes both groups to have one variance.

    With groups of one size its t is that of Welch's test.
    """
    pooled = pooled_variance([first, second])
    if pooled is None:
        return _without(first, second)
    variance, df = pooled
    return _tested(first, second, variance * (1 / first.n + 1 / second.n), df)


def welch_t(first: Summary, second: Summary) -> TTest:
    """Return Welch's t test (1947), which leaves each group its own variance."""
    if first.n < 2 or second.n < 2:  # noqa: PLR2004  a variance needs two
        return TTest(t=None, df=None, p=None, reason="a group has one value only")
    if pooled_variance([first, second]) is None:
        return _without(first, second)
    one, other = first.sd**2 / first.n, second.sd**2 / second.n
    shares = one**2 / (first.n - 1) + other**2 / (second.n - 1)
    return _tested(first, second, one + other, (one + other) ** 2 / shares)


def _tested(first: Summary, second: Summary, variance: float, df: float) -> TTest:
    from scipy.special import stdtr  # noqa: PLC0415  not before a table is wanted

    t = (first.mean - second.mean) / math.sqrt(variance)
    return TTest(t=t, df=df, p=2 * float(stdtr(df, -abs(t))))


def _without(first: Summary, second: Summary) -> TTest:
    several = first.n + second.n > 2  # noqa: PLR2004  one value each
    reason = "the values within each group are equal" if several else "each group has one value"
    return TTest(t=None, df=None, p=None, reason=reason)
