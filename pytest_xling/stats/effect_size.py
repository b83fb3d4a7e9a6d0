"""How large a paired difference is, in words that do not depend on the metric's unit."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_xling.stats.distributions import check_alpha
from pytest_xling.stats.group_means import RESOLUTION, summarise
from pytest_xling.stats.paired_means import paired_mean

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """A size with its interval; what there is no telling of is None."""

    value: float | None
    low: float | None
    high: float | None
    n: int
    reason: str = ""
    """Why there is no value, or an end is open."""


def cohen_dz(
    differences: Sequence[float],
    *,
    alpha: float = 0.05,
    corrected: bool = True,
    interval: bool = True,
) -> Effect:
    """Return Cohen's d_z: the mean of the differences over their standard deviation.

    The interval comes from the noncentral t distribution, whose noncentrality is √n times d_z.

    Args:
        differences: one per sample.
        alpha: the interval misses with this probability, both sides together.
        corrected: take off the bias of few samples by the exact factor of Hedges (1981), value and
            interval alike; then it is Hedges' g.
        interval: whether its ends are worth importing scipy for.

    Raises:
        ValueError: a difference is not finite, or *alpha* is out of range.
    """
    check_alpha(alpha)
    if not differences:
        return Effect(value=None, low=None, high=None, n=0, reason="no sample has a value")
    seen = summarise(differences)
    if seen.n < 2:  # noqa: PLR2004  spread needs two
        return Effect(value=None, low=None, high=None, n=1, reason="one sample has no spread")
    if seen.sd <= RESOLUTION * max(map(abs, differences)):
        reason = f"all {seen.n} differences are equal: there is no spread to measure by"
        return Effect(value=None, low=None, high=None, n=seen.n, reason=reason)
    df, root = seen.n - 1, math.sqrt(seen.n)
    bias = 1.0
    if corrected and df == 1:
        reason = "the bias of two samples is all there is: a size needs three"
        return Effect(value=None, low=None, high=None, n=2, reason=reason)
    if corrected:
        bias = math.exp(math.lgamma(df / 2) - math.lgamma((df - 1) / 2)) / math.sqrt(df / 2)
    value = seen.mean / seen.sd
    if not interval:
        return Effect(value=bias * value, low=None, high=None, n=seen.n)
    from scipy.special import nctdtrinc  # noqa: PLC0415  a third of a second

    ends = (float(nctdtrinc(df, 1 - tail, value * root)) for tail in (alpha / 2, 1 - alpha / 2))
    low, high = sorted(bias * end / root for end in ends)
    return Effect(value=bias * value, low=low, high=high, n=seen.n)


def risk_difference(first: int, second: int, pairs: int, *, alpha: float = 0.05) -> Effect:
    """Return by how much the first of two paired rates is higher.

    The interval is that of :func:`pytest_xling.stats.paired_means.paired_mean` of rates (Bonett and
    Price 2012), so that gates and tables say the same.

    Args:
        first: pairs of which only the first is raised.
        second: pairs of which only the second is raised.
        pairs: all pairs, none of them in one cluster with another.
        alpha: the interval misses with this probability, both sides together.

    Raises:
        ValueError: more pairs differ than there are, or a number is negative.
    """
    if min(first, second) < 0 or first + second > pairs:
        msg = f"of {pairs} pairs {first} and {second} cannot differ"
        raise ValueError(msg)
    if not pairs:
        return Effect(value=None, low=None, high=None, n=0, reason="there are no pairs")
    differences = [1.0] * first + [-1.0] * second + [0.0] * (pairs - first - second)
    difference = paired_mean(differences, alpha=alpha, rates=True)
    if difference.low is None or difference.high is None:
        reason = "one pair has no spread"
        return Effect(value=difference.mean, low=None, high=None, n=pairs, reason=reason)
    low, high = max(-1.0, difference.low), min(1.0, difference.high)
    return Effect(value=difference.mean, low=low, high=high, n=pairs)
