"""Is a mean difference small enough: equivalence, and being no worse than by a margin.

Schuirmann (1987), A comparison of the two one-sided tests procedure and the power approach. That a
difference was not found does not show that there is none; here it has to be shown.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_xling.stats.distributions import two_sided_p
from pytest_xling.stats.paired_means import paired_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_xling.stats.paired_means import PairedMean

_HALF = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Tost:
    """Whether a mean is shown to be between two limits; None where there is no telling."""

    within: bool | None
    """Just where the interval is wholly within the limits."""
    mean: float | None
    low: float | None
    high: float | None
    """Ends of the 1 - 2 alpha interval; of a test with one limit only that end is one."""
    p_low: float | None
    """Of the mean being at the lower limit or below."""
    p_high: float | None
    """Of the mean being at the upper limit or above."""
    p: float | None
    """The larger of the two."""
    n: int
    reason: str = ""
    """Why there is no telling."""


def tost(
    differences: Sequence[float],
    *,
    low: float,
    high: float,
    alpha: float = 0.05,
    rates: bool = False,
) -> Tost:
    """Test whether the true mean of *differences* lies between *low* and *high*.

    Two t tests, each one-sided with *alpha*, both of which have to be significant.

    Args:
        differences: one per sample, so that answers to one question are averaged before.
        low: the lower limit, such as -0.03.
        high: the upper limit.
        alpha: of each test, and by that of both.
        rates: whether each difference is one of rates; then two samples are thought added, as in
            :func:`pytest_xling.stats.paired_means.paired_mean`, so that pairs that all agree have
            an interval.

    Raises:
        ValueError: *low* is not below *high*, or as
            :func:`pytest_xling.stats.paired_means.paired_mean`.
    """
    if not low < high:
        msg = f"the lower limit {low!r} is not below the upper limit {high!r}"
        raise ValueError(msg)
    return _tested(differences, low=low, high=high, alpha=alpha, rates=rates)


def no_worse(
    differences: Sequence[float], *, margin: float, alpha: float = 0.05, rates: bool = False
) -> Tost:
    """Test whether the true mean of *differences* is below *margin*: non-inferiority.

    Args:
        differences: one per sample, above 0 where it is worse.
        margin: by how much it may be worse, 0 or more.
        alpha: of the one test there is; gates, whose interval misses on both sides, test with half
            of theirs.
        rates: as for :func:`tost`.

    Raises:
        ValueError: as :func:`tost`.
    """
    return _tested(differences, low=-math.inf, high=margin, alpha=alpha, rates=rates)


def _tested(
    differences: Sequence[float], *, low: float, high: float, alpha: float, rates: bool
) -> Tost:
    if not 0 < alpha < _HALF:
        msg = f"alpha of a one-sided test must lie between 0 and 1/2, not {alpha!r}"
        raise ValueError(msg)
    if not differences:
        return _unknown(None, "no sample has a value")
    difference = paired_mean(differences, alpha=2 * alpha, rates=rates)
    if difference.even and not rates:
        return _unknown(
            difference, f"all {difference.n} differences are equal, so that no error is known"
        )
    if difference.low is None or difference.high is None or difference.error is None:
        return _unknown(difference, "one sample has no spread")
    df = difference.n - 1
    p_low = (
        None if low == -math.inf else _upper_tail((difference.centre - low) / difference.error, df)
    )
    p_high = _upper_tail((high - difference.centre) / difference.error, df)
    return Tost(
        within=low < difference.low and difference.high < high,
        mean=difference.mean,
        low=difference.low,
        high=difference.high,
        p_low=p_low,
        p_high=p_high,
        p=max(p_low or 0.0, p_high),
        n=difference.n,
    )


def _upper_tail(t: float, df: int) -> float:
    half = two_sided_p(t, df) / 2
    return half if t > 0 else 1 - half


def _unknown(difference: PairedMean | None, reason: str) -> Tost:
    return Tost(
        within=None,
        mean=difference.mean if difference else None,
        low=None,
        high=None,
        p_low=None,
        p_high=None,
        p=None,
        n=difference.n if difference else 0,
        reason=reason,
    )
