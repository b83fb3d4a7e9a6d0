"""The mean of paired differences: its interval, and how small a difference could be found."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_xling.stats.normal import check_alpha
from pytest_xling.stats.student import two_sided_p, two_sided_t
from pytest_xling.stats.summary import RESOLUTION, summarise

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
    centre: float
    """The middle of the interval: the mean, but of rates a little nearer to 0."""
    error: float | None
    """Standard error."""
    even: bool = False
    """Whether all differences are equal but for rounding, so that their spread says nothing."""

    def p(self, margin: float = 0.0) -> float | None:
        """Return the two-sided p of the true mean being *margin*; None without a spread.

        It is below alpha just where the interval, made with that alpha, leaves *margin* out. (But
        where the interval was stretched to hold a mean next to 1 or -1.)
        """
        if self.error is None:
            return None
        distance = self.centre - margin
        if not self.error:
            return 0.0 if distance else 1.0
        return two_sided_p(distance / self.error, self.n - 1)


def paired_mean(
    differences: Sequence[float],
    *,
    alpha: float = 0.05,
    rates: bool = False,
    widest: float = 1.0,
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
        widest: how far from 0 a difference of rates can be, where that is not 1.

    Raises:
        ValueError: there are no differences, one is not finite, or one of rates is too far from 0.
    """
    check_alpha(alpha)
    seen = summarise(differences)
    mean = seen.mean
    if seen.n < 2:  # noqa: PLR2004  spread needs two
        return PairedMean(mean=mean, low=None, high=None, n=seen.n, centre=mean, error=None)
    centre, error = mean, seen.sd / math.sqrt(seen.n)
    if rates:
        if any(abs(difference) > widest for difference in differences):
            msg = f"a difference of rates lies between {-widest:g} and {widest:g}"
            raise ValueError(msg)
        n = seen.n + 2
        centre = math.fsum(differences) / n
        squares = math.fsum(difference**2 for difference in differences)
        squares += 2 * widest**2
        error = math.sqrt((squares / n - centre**2) / n)
    half = two_sided_t(alpha, seen.n - 1) * error
    return PairedMean(
        mean=mean,
        low=min(centre - half, mean),
        high=max(centre + half, mean),
        n=seen.n,
        centre=centre,
        error=error,
        even=seen.sd <= RESOLUTION * max(map(abs, differences)),
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
