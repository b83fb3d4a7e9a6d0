"""Tests of the means of groups that are not paired: t tests, one-way ANOVA, Tukey's HSD."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import TYPE_CHECKING, Any

from pytest_xling.stats.distributions import check_alpha

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

RESOLUTION = 1e-6
"""Spread below this part of the values is rounding: encoders compute in 32 bits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """A group of values, told by three numbers."""

    n: int
    mean: float
    sd: float
    """Divided by n - 1; 0 where there is one value."""

    def __post_init__(self) -> None:
        """Refuse what no group can have."""
        if self.n < 1 or not math.isfinite(self.mean) or not 0 <= self.sd < math.inf:
            msg = f"no group has n={self.n!r}, mean={self.mean!r} and sd={self.sd!r}"
            raise ValueError(msg)


def summarise(values: Sequence[float]) -> Summary:
    """Return the summary of *values*.

    Raises:
        ValueError: there are none, or one is not finite.
    """
    if not values or not all(math.isfinite(value) for value in values):
        msg = "a group needs a value, and only finite ones"
        raise ValueError(msg)
    n = len(values)
    mean = math.fsum(values) / n
    squares = math.fsum((value - mean) ** 2 for value in values)
    return Summary(n=n, mean=mean, sd=math.sqrt(squares / (n - 1)) if n > 1 else 0.0)


def pooled_variance(groups: Sequence[Summary]) -> tuple[float, int] | None:
    """Return the variance within groups that share one, and its degrees of freedom.

    None where there is no telling: no group has two values, or the values of each group are equal
    but for rounding, as repeats of a model at temperature 0 are.
    """
    df = sum(group.n - 1 for group in groups)
    if df < 1:
        return None
    variance = math.fsum((group.n - 1) * group.sd**2 for group in groups) / df
    largest = max(abs(group.mean) for group in groups)
    return None if math.sqrt(variance) <= RESOLUTION * largest else (variance, df)


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
        return _without_spread(first, second)
    variance, df = pooled
    return _tested(first, second, variance * (1 / first.n + 1 / second.n), df)


def welch_t(first: Summary, second: Summary) -> TTest:
    """Return Welch's t test (1947), which leaves each group its own variance."""
    if first.n < 2 or second.n < 2:  # noqa: PLR2004  a variance needs two
        return TTest(t=None, df=None, p=None, reason="a group has one value only")
    if pooled_variance([first, second]) is None:
        return _without_spread(first, second)
    first_variance, second_variance = first.sd**2 / first.n, second.sd**2 / second.n
    shares = first_variance**2 / (first.n - 1) + second_variance**2 / (second.n - 1)
    return _tested(
        first,
        second,
        first_variance + second_variance,
        (first_variance + second_variance) ** 2 / shares,
    )


def _tested(first: Summary, second: Summary, variance: float, df: float) -> TTest:
    from scipy.special import stdtr  # noqa: PLC0415  not before a table is wanted

    t = (first.mean - second.mean) / math.sqrt(variance)
    return TTest(t=t, df=df, p=2 * float(stdtr(df, -abs(t))))


def _without_spread(first: Summary, second: Summary) -> TTest:
    several = first.n + second.n > 2  # noqa: PLR2004  one value each
    reason = "the values within each group are equal" if several else "each group has one value"
    return TTest(t=None, df=None, p=None, reason=reason)


_LEAST = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Anova:
    """Fisher's F with its p value."""

    f: float | None
    p: float | None
    df_between: int
    df_within: int
    reason: str = ""
    """Why there is no F."""


def anova(groups: Sequence[Sequence[float]]) -> Anova:
    """Return the one-way analysis of variance of *groups*, whose sizes may differ.

    Raises:
        ValueError: a group is empty, or a value is not finite.
    """
    return anova_from_summaries([summarise(group) for group in groups])


def anova_from_summaries(groups: Sequence[Summary]) -> Anova:
    """Return the one-way analysis of variance of groups of which only this is known.

    F = [Σnᵢ(meanᵢ - mean)² / (k - 1)] / [Σ(nᵢ - 1)sdᵢ² / Σ(nᵢ - 1)] for k groups, and p the chance
    of as large an F where all means are equal.
    """
    between = max(len(groups) - 1, 0)
    within = sum(group.n - 1 for group in groups)
    if len(groups) < _LEAST:
        return _without(between, within, "needs two groups")
    if not within:
        return _without(between, within, "no group has two values")
    pooled = pooled_variance(groups)
    if pooled is None:
        return _without(between, within, "the values within each group are equal")
    n = sum(group.n for group in groups)
    mean = math.fsum(group.n * group.mean for group in groups) / n
    explained = math.fsum(group.n * (group.mean - mean) ** 2 for group in groups) / between
    f = explained / pooled[0]

    from scipy.special import fdtrc  # noqa: PLC0415  not before a table is wanted

    return Anova(f=f, p=float(fdtrc(between, within, f)), df_between=between, df_within=within)


def _without(between: int, within: int, reason: str) -> Anova:
    return Anova(f=None, p=None, df_between=between, df_within=within, reason=reason)


_TAIL = 1e-16
"""What is left out at either end of an integral."""
_WIDEST = 8.5
"""Beyond this a standard normal is as good as never."""
_LARGEST = 1e4
"""No quantile is wanted above this."""


def beyond(q: float, groups: int, df: float) -> float:
    """Return the probability that the studentized range exceeds *q*.

    Exact to about 1e-11, with a single degree of freedom to 1e-5.

    The range of k standard normals is at most w with probability k∫φ(z)[Φ(z) - Φ(z - w)]ᵏ⁻¹dz; of
    that w = q·s the mean is taken over s = √(χ²/df), both by Gauss and Legendre's rule.

    Args:
        q: not negative.
        groups: how many means there are, at least two.
        df: degrees of freedom of the spread, at least one; infinite where the spread is known.
    """
    import numpy as np  # noqa: PLC0415  not before a table is wanted
    from scipy.special import ndtr  # noqa: PLC0415  as above

    s, weights = _spreads(df)
    z, density = _normals()
    within = ndtr(z) - ndtr(z - q * s[:, None])
    inside = groups * (within ** (groups - 1)) @ density
    return min(max(1.0 - float(np.dot(weights, inside)), 0.0), 1.0)


@cache
def quantile(alpha: float, groups: int, df: int) -> float:
    """Return what the studentized range exceeds with probability *alpha*."""
    from scipy.optimize import brentq  # noqa: PLC0415  not before a table is wanted

    return float(brentq(lambda q: beyond(q, groups, df) - alpha, 0.0, _LARGEST, xtol=1e-12))


@cache
def _normals() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return points of a standard normal, with what each counts."""
    import numpy as np  # noqa: PLC0415  not before a table is wanted

    points, weights = np.polynomial.legendre.leggauss(128)
    z = _WIDEST * points
    return z, _WIDEST * weights * np.exp(-z * z / 2) / math.sqrt(2 * math.pi)


@cache
def _spreads(df: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return points of √(χ²/df), with what each counts; these add up to 1."""
    import numpy as np  # noqa: PLC0415  not before a table is wanted
    from scipy.special import chdtri  # noqa: PLC0415  as above

    if math.isinf(df):
        return np.ones(1), np.ones(1)
    # chdtri is told what lies above.
    low = math.sqrt(float(chdtri(df, 1 - _TAIL)) / df)
    high = math.sqrt(float(chdtri(df, _TAIL)) / df)
    points, weights = np.polynomial.legendre.leggauss(128)
    s: Any = (low + high) / 2 + (high - low) / 2 * points
    density = np.exp((df - 1) * np.log(s) - df * (s * s - 1) / 2)
    return s, weights * density / float(np.dot(weights, density))


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """How the mean of one group differs from that of another."""

    first: str
    second: str
    mean: float
    """The second's minus the first's, so that it is negative where the second is lower."""
    low: float | None
    high: float | None
    """The interval holds for all pairs at once."""
    p: float | None
    """Adjusted for all pairs."""
    reason: str = ""
    """Why there is no interval."""


def tukey(groups: Mapping[str, Sequence[float]], *, alpha: float = 0.05) -> list[Difference]:
    """Compare each two of *groups*.

    Args:
        groups: values by name.
        alpha: probability that any of the intervals misses.

    Returns:
        A difference per pair, in the order of *groups*.

    Raises:
        ValueError: a group is empty, a value is not finite, or *alpha* is out of range.
    """
    summaries = {name: summarise(values) for name, values in groups.items()}
    return tukey_from_summaries(summaries, alpha=alpha)


def tukey_from_summaries(groups: Mapping[str, Summary], *, alpha: float = 0.05) -> list[Difference]:
    """Compare each two of *groups*, of which only this is known; else as :func:`tukey`."""
    check_alpha(alpha)
    pooled = pooled_variance(list(groups.values()))
    differences = []
    for first, second in combinations(groups, 2):
        first_group, second_group = groups[first], groups[second]
        mean = second_group.mean - first_group.mean
        low = high = p = None
        if pooled is not None:
            variance, df = pooled
            scale = math.sqrt(variance * (1 / first_group.n + 1 / second_group.n) / 2)
            half = quantile(alpha, len(groups), df) * scale
            low, high = mean - half, mean + half
            p = beyond(abs(mean) / scale, len(groups), df)
        differences.append(
            Difference(
                first=first,
                second=second,
                mean=mean,
                low=low,
                high=high,
                p=p,
                reason="" if pooled else "there is no spread within the groups",
            )
        )
    return differences
