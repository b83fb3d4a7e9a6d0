"""How many pairs find a difference of rates by McNemar's test, and how often so many do.

Connor (1987), Sample size for testing differences in proportions for the paired-sample design; and
exactly, by going through all tables there can be.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from statistics import NormalDist

from pytest_xling.stats.mcnemar import binomial_p
from pytest_xling.stats.normal import check_alpha, two_sided_z
from pytest_xling.stats.paired import POWER
from pytest_xling.stats.power import Noise

__all__ = ["PairedRates", "connor_pairs", "connor_power", "mcnemar_pairs", "mcnemar_power"]

_MOST = 5_000
"""Pairs up to which tables are gone through one by one."""
_FAR = 8.0
"""Standard deviations beyond which no number of pairs that differ is looked at."""
_RARE = 1e-12
"""Rounding of probabilities."""
_NORMAL = NormalDist()


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedRates:
    """How often pairs differ, either way; what pairs agree on does not count."""

    worse: float
    """Probability that only the first is raised."""
    better: float
    """Probability that only the second is raised; smaller than *worse*."""

    def __post_init__(self) -> None:
        """Refuse what cannot be, or is no difference."""
        if not 0 <= self.better < self.worse or self.worse + self.better > 1:
            msg = (
                f"no pairs differ one way with {self.worse!r}, more than {self.better!r} the other"
            )
            raise ValueError(msg)

    @classmethod
    def of(cls, first: float, second: float, *, correlation: float = 0.0) -> PairedRates:
        """Return how often pairs differ whose rates are *first* and *second*.

        Args:
            first: the higher rate.
            second: the lower one.
            correlation: of the flags of a pair (φ); with 0, which asks for the most pairs of all
                that are likely, they have nothing in common.

        Raises:
            ValueError: such a pair of flags cannot be.
        """
        if not 0 <= second < first <= 1:
            msg = f"rates lie between 0 and 1, the first above the second: {first!r}, {second!r}"
            raise ValueError(msg)
        spread = math.sqrt(first * (1 - first) * second * (1 - second))
        both = first * second + correlation * spread
        least, most = max(0.0, first + second - 1), min(first, second)
        if not least - _RARE <= both <= most + _RARE:
            msg = f"flags with the rates {first!r} and {second!r} cannot correlate {correlation!r}"
            raise ValueError(msg)
        return cls(worse=first - both, better=max(0.0, second - both))

    @property
    def differing(self) -> float:
        """The share of pairs that differ."""
        return self.worse + self.better

    @property
    def effect(self) -> float:
        """The difference of the rates."""
        return self.worse - self.better

    def noise(self, *, icc: float = 1.0) -> Noise:
        """Return how much single differences vary, for designs with repeats and interval gates."""
        return Noise(sd=math.sqrt(max(self.differing - self.effect**2, _RARE)), icc=icc)


def connor_power(rates: PairedRates, pairs: float, *, alpha: float = 0.05) -> float:
    """Return how often McNemar's test finds the difference, by the normal distribution.

    Args:
        rates: what is true.
        pairs: independent pairs. Of n clusters of K repeats it is worth n K / (1 + (K - 1) ICC).
        alpha: of the test, two-sided.
    """
    z, delta = two_sided_z(alpha), rates.effect
    spread = math.sqrt(max(rates.differing - delta**2, _RARE))
    return _NORMAL.cdf((delta * math.sqrt(pairs) - z * math.sqrt(rates.differing)) / spread)


def connor_pairs(rates: PairedRates, *, alpha: float = 0.05, power: float = POWER) -> int:
    """Return how many pairs find the difference with probability *power*, by Connor's formula.

    Raises:
        ValueError: *power* or *alpha* is out of range.
    """
    _check_power(alpha, power)
    z, delta = two_sided_z(alpha), rates.effect
    spread = math.sqrt(max(rates.differing - delta**2, 0.0))
    root = (z * math.sqrt(rates.differing) + _NORMAL.inv_cdf(power) * spread) / delta
    return math.ceil(root**2 - 1e-9)


def mcnemar_power(
    rates: PairedRates, pairs: int, *, alpha: float = 0.05, mid: bool = False
) -> float:
    """Return how often McNemar's exact test finds the difference, on its own side.

    Args:
        rates: what is true.
        pairs: independent pairs.
        alpha: of the test, two-sided.
        mid: whether the test counts what was seen by half (mid-p).

    Raises:
        ValueError: *alpha* is out of range, or there are negative or too many pairs.
    """
    import numpy as np  # noqa: PLC0415  not before a plan is wanted
    from scipy.special import bdtr, gammaln, xlog1py, xlogy  # noqa: PLC0415  as above

    check_alpha(alpha)
    if not 0 <= pairs <= _MOST:
        msg = f"tables are gone through for up to {_MOST} pairs, not {pairs!r}; take connor_power"
        raise ValueError(msg)
    differing = rates.differing
    reach = _FAR * math.sqrt(pairs * differing * (1 - differing)) + _FAR
    first, last = (
        max(0, math.floor(pairs * differing - reach)),
        math.ceil(pairs * differing + reach),
    )
    counts = np.arange(first, min(pairs, last) + 1)
    found = _most_better(alpha, mid=mid, size=1 << int(counts[-1]).bit_length())
    ways = gammaln(pairs + 1) - gammaln(counts + 1) - gammaln(pairs - counts + 1)
    chances = np.exp(ways + xlogy(counts, differing) + xlog1py(pairs - counts, -differing))
    limits = np.array(found[int(counts[0]) : int(counts[-1]) + 1])
    below = bdtr(np.maximum(limits, 0), counts, rates.better / differing)
    return float(chances @ np.where(limits < 0, 0.0, below))


def mcnemar_pairs(
    rates: PairedRates, *, alpha: float = 0.05, power: float = POWER, mid: bool = False
) -> int | None:
    """Return from how many pairs on McNemar's exact test finds the difference often enough.

    Its power rises and falls by steps; from here on it no longer falls below *power*.

    Returns:
        None where Connor's number says that there are too many to go through them.

    Raises:
        ValueError: *power* or *alpha* is out of range.
    """
    pairs = round(1.25 * connor_pairs(rates, alpha=alpha, power=power)) + 30
    if pairs > _MOST:
        return None
    while pairs and mcnemar_power(rates, pairs, alpha=alpha, mid=mid) >= power:
        pairs -= 1
    return pairs + 1


@cache
def _most_better(alpha: float, *, mid: bool, size: int) -> tuple[int, ...]:
    """Return of 0, 1, 2, … pairs that differ the most that may be better for the test to find it.

    Looking for a number of pairs asks this again and again, and it depends on none of them.
    """
    most, found = -1, []
    for many in range(size):
        while most + 1 < many / 2 and binomial_p(many - most - 1, most + 1, mid=mid) < alpha:
            most += 1
        found.append(most)
    return tuple(found)


def _check_power(alpha: float, power: float) -> None:
    check_alpha(alpha)
    if not alpha / 2 < power < 1:
        msg = f"power lies between half of alpha and 1, not {power!r}"
        raise ValueError(msg)
