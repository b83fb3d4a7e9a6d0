"""The mean of paired differences: its interval, and how small a difference could be found."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_xling.stats.normal import check_alpha
from pytest_xling.stats.student import two_sided_t
from pytest_xling.stats.summary import summarise

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["POWER", "PairedMean", "detectable", "paired_mean"]

POWER = 0.8
"""How often a difference shall be found, by custom."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedMean:
    """The mean of differences, one per sample, with its interval."""

    mean: float
    low: float | None
    high: float | None
    """None with fewer than two samples."""
    n: int


def paired_mean(
    differences: Sequence[float], *, alpha: float = 0.05, rates: bool = False
) -> PairedMean:
    """Return the mean of *differences* with its two-sided 1 - *alpha* interval.

    Student's t on the differences. Where all of them are equal the interval has no width, which is
    too good to be true of *rates*, the differences of 0s and 1s: a dozen pairs that agree do not
    prove that all do. There one sample that is wholly better and one that is wholly worse are
    thought added (Bonett and Price 2012, whose interval this is but for t in place of z).

    Args:
        differences: one per sample.
        alpha: the interval misses with this probability, both sides together.
        rates: whether each difference is one of rates, so from -1 to 1.

    Raises:
        ValueError: there are no differences, one is not finite, or one of rates is beyond 1.
    """
    check_alpha(alpha)
    seen = summarise(differences)
    if seen.n < 2:  # noqa: PLR2004  spread needs two
        return PairedMean(mean=seen.mean, low=None, high=None, n=seen.n)
    t = two_sided_t(alpha, seen.n - 1)
    if not rates:
        half = t * seen.sd / math.sqrt(seen.n)
        return PairedMean(mean=seen.mean, low=seen.mean - half, high=seen.mean + half, n=seen.n)
    if any(abs(difference) > 1 for difference in differences):
        msg = "a difference of rates lies between -1 and 1"
        raise ValueError(msg)
    n = seen.n + 2
    centre = math.fsum(differences) / n
    squares = math.fsum(difference**2 for difference in differences) + 2
    half = t * math.sqrt((squares / n - centre**2) / n)
    return PairedMean(
        mean=seen.mean,
        low=min(centre - half, seen.mean),
        high=max(centre + half, seen.mean),
        n=seen.n,
    )


def detectable(
    standard_error: float, n: int, *, alpha: float = 0.05, power: float = POWER
) -> float:
    """Return the smallest difference that a paired t test finds with probability *power*.

    The sum of two quantiles of t times the standard error, which is the exact answer but for a
    hundredth from a dozen samples on.

    Args:
        standard_error: of the mean difference.
        n: samples.
        alpha: of the test, two-sided.
        power: above one half.
    """
    df = n - 1
    return (two_sided_t(alpha, df) + two_sided_t(2 * (1 - power), df)) * standard_error
