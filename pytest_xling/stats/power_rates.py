"""How many pairs find a difference of rates by the test that gates use, and how often so many do.

Exactly, by going through all tables there can be; where there are too many, by the normal
distribution (Connor 1987, Sample size for testing differences in proportions for the paired-sample
design, of which this is the form with a margin).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING

from pytest_xling.stats.normal import check_alpha, two_sided_z
from pytest_xling.stats.paired import POWER
from pytest_xling.stats.power import Noise
from pytest_xling.stats.tango import score_z, spread_at

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["PairedRates", "exact_pairs", "exact_power", "normal_pairs", "normal_power"]

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


def normal_power(
    rates: PairedRates, pairs: float, *, alpha: float = 0.05, margin: float = 0.0
) -> float:
    """Return how often Tango's test finds the difference, by the normal distribution.

    Without a margin that is McNemar's test, and this Connor's formula.

    Args:
        rates: what is true.
        pairs: independent pairs. Of n clusters of K repeats it is worth n K / (1 + (K - 1) ICC).
        alpha: of the test, two-sided.
        margin: what is allowed, less than the difference.
    """
    z, spread, limit = two_sided_z(alpha), rates.noise().sd, _limit_sd(rates, margin)
    return _NORMAL.cdf(((rates.effect - margin) * math.sqrt(pairs) - z * limit) / spread)


def normal_pairs(
    rates: PairedRates, *, alpha: float = 0.05, power: float = POWER, margin: float = 0.0
) -> int:
    """Return how many pairs find the difference with probability *power*, as :func:`normal_power`.

    Raises:
        ValueError: *power* or *alpha* is out of range, or the difference is within the margin.
    """
    _check_power(alpha, power)
    beyond = rates.effect - margin
    if beyond <= 0:
        msg = f"a difference of {rates.effect:g} is within the margin of {margin:g}"
        raise ValueError(msg)
    z, spread, limit = two_sided_z(alpha), rates.noise().sd, _limit_sd(rates, margin)
    root = (z * limit + _NORMAL.inv_cdf(power) * spread) / beyond
    return math.ceil(root**2 - 1e-9)


def exact_power(
    rates: PairedRates, pairs: int, *, alpha: float = 0.05, margin: float = 0.0
) -> float:
    """Return how often Tango's test finds the difference, on its own side, by all tables there are.

    Args:
        rates: what is true.
        pairs: independent pairs.
        alpha: of the test, two-sided.
        margin: what is allowed.

    Raises:
        ValueError: *alpha* is out of range, or there are negative or too many pairs.
    """
    import numpy as np  # noqa: PLC0415  not before a plan is wanted
    from scipy.special import gammaln, xlogy  # noqa: PLC0415  as above

    check_alpha(alpha)
    if not 0 <= pairs <= _MOST:
        msg = f"tables are gone through for up to {_MOST} pairs, not {pairs!r}; take normal_power"
        raise ValueError(msg)
    if not pairs:
        return 0.0
    worse, better = np.meshgrid(
        _likely(pairs, rates.worse), _likely(pairs, rates.better), indexing="ij"
    )
    there = worse + better <= pairs
    worse, better = worse[there].astype(np.float64), better[there].astype(np.float64)
    alike = pairs - worse - better
    ways = gammaln(pairs + 1) - gammaln(worse + 1) - gammaln(better + 1) - gammaln(alike + 1)
    logs = xlogy(worse, rates.worse) + xlogy(better, rates.better)
    logs += xlogy(alike, max(0.0, 1 - rates.differing))
    size = np.full(worse.shape, float(pairs))
    z = score_z((worse - better) / pairs, (worse + better) / pairs, size, margin + 0 * size)
    return float(np.exp(ways + logs)[z > two_sided_z(alpha)].sum())


def exact_pairs(
    rates: PairedRates, *, alpha: float = 0.05, power: float = POWER, margin: float = 0.0
) -> int | None:
    """Return from how many pairs on Tango's test finds the difference often enough.

    Its power rises and falls by steps; from here on it no longer falls below *power*.

    Returns:
        None where there are too many to go through their tables.

    Raises:
        ValueError: as :func:`normal_pairs`.
    """
    pairs = round(1.1 * normal_pairs(rates, alpha=alpha, power=power, margin=margin)) + 30
    if pairs > _MOST:
        return None

    def enough(many: int) -> bool:
        return exact_power(rates, many, alpha=alpha, margin=margin) >= power

    while not enough(pairs):
        pairs = round(1.1 * pairs)
        if pairs > _MOST:
            return None
    # Down in strides to near where it falls below, then one by one for its steps.
    stride = max(1, pairs // 50)
    while pairs > stride and enough(pairs - stride):
        pairs -= stride
    while pairs and enough(pairs):
        pairs -= 1
    return pairs + 1


def _limit_sd(rates: PairedRates, margin: float) -> float:
    """Return the standard deviation that the test takes single pairs to have."""
    return math.sqrt(max(spread_at(rates.effect, rates.differing, margin), _RARE))


def _likely(pairs: int, rate: float) -> NDArray[np.intp]:
    """Return the numbers of pairs that are likely enough to count where each has a chance."""
    import numpy as np  # noqa: PLC0415  not before a plan is wanted

    reach = _FAR * math.sqrt(pairs * rate * (1 - rate)) + _FAR
    first, last = max(0, math.floor(pairs * rate - reach)), math.ceil(pairs * rate + reach)
    return np.arange(first, min(pairs, last) + 1)


def _check_power(alpha: float, power: float) -> None:
    check_alpha(alpha)
    if not alpha / 2 < power < 1:
        msg = f"power lies between half of alpha and 1, not {power!r}"
        raise ValueError(msg)
