"""The difference of two paired rates: a score test and the interval it makes.

Tango (1998), Equivalence test and confidence interval for the difference in proportions for the
paired-sample design. The test compares the difference that was seen with its spread where the true
one is at the limit; with no difference allowed that is McNemar's test. Its interval has a width
even where all pairs agree. With an effective number of pairs it serves clustered ones, too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from pytest_xling.stats.distributions import two_sided_z

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    Value = TypeVar("Value", float, NDArray[np.float64])

__all__ = ["RateDifference", "rate_difference", "score_z", "spread_at"]

_TINY = 1e-300


@dataclass(frozen=True, slots=True, kw_only=True)
class RateDifference:
    """By how much one side of the pairs is raised more often."""

    difference: float
    differing: float
    """The share of pairs that differ, either way."""
    pairs: float
    """How many independent ones they are worth."""

    def p(self, margin: float = 0.0) -> float:
        """Return the two-sided p of the true difference being *margin*.

        It is below alpha just where the interval, made with that alpha, leaves *margin* out.
        """
        return math.erfc(abs(self._z(margin)) / math.sqrt(2))

    def interval(self, *, alpha: float = 0.05) -> tuple[float, float]:
        """Return the two-sided 1 - *alpha* interval, within -1 to 1 and around the difference.

        Raises:
            ValueError: *alpha* is not between 0 and 1.
        """
        z = two_sided_z(alpha)
        return self._where(z, -1.0, self.difference), self._where(-z, self.difference, 1.0)

    def _z(self, margin: float) -> float:
        return score_z(self.difference, self.differing, self.pairs, margin)

    def _where(self, z: float, low: float, high: float) -> float:
        """Return the margin at which the score, which falls with it, is *z*."""
        while True:
            middle = (low + high) / 2
            if not low < middle < high:
                return middle
            low, high = (middle, high) if self._z(middle) > z else (low, middle)


def rate_difference(clusters: Sequence[Sequence[float]], means: Sequence[float]) -> RateDifference:
    """Return the difference of rates that pairs show, those of one cluster resembling each other.

    Pairs are worth as many independent ones as there are clusters, times the variance of single
    pairs over that of the clusters' means. With few that differ the quotient is mere noise, so one
    more cluster of pairs that all differ is thought added to both (as in
    :mod:`pytest_xling.stats.clusters`). With one pair per cluster it is exactly 1.

    Args:
        clusters: for each the differences of its pairs, each 1, 0 or -1.
        means: for each the difference it counts by, mostly their mean.

    Raises:
        ValueError: there are no clusters, or not as many means.
    """
    if not clusters or len(clusters) != len(means):
        msg = f"{len(clusters)} clusters of pairs, and {len(means)} means"
        raise ValueError(msg)
    n = len(means)
    difference = math.fsum(means) / n
    grouped = math.fsum(mean * mean for mean in means)
    single = math.fsum(math.fsum(d * d for d in cluster) / len(cluster) for cluster in clusters)
    centre = n * difference * difference
    worth = max(1.0, (single - centre + 1) / (max(0.0, grouped - centre) + 1))
    differing = min(1.0, max(single / n, abs(difference)))
    return RateDifference(difference=difference, differing=differing, pairs=n * worth)


def score_z(difference: Value, differing: Value, pairs: Value, margin: Value) -> Value:
    """Return by how many standard errors a difference is beyond *margin*.

    Args:
        difference: that was seen, -1 to 1.
        differing: the share of pairs that differ, either way.
        pairs: how many.
        margin: -1 to 1.
    """
    spread = spread_at(difference, differing, margin)
    error: Value = (spread / pairs + _TINY) ** 0.5
    return (difference - margin) / error


def spread_at(difference: Value, differing: Value, margin: Value) -> Value:
    """Return the variance of single pairs that is likeliest where the difference is *margin*.

    With q the probability that only the second is raised it is 2q + margin - margin²; q solves
    2q² + (margin (2 - difference) - differing) q - better margin (1 - margin) = 0.
    """
    better = (differing - difference) / 2
    linear = margin * (2 - difference) - differing
    root: Value = abs(linear * linear + 8 * better * margin * (1 - margin)) ** 0.5
    q = (root - linear) / 4
    return abs(2 * q + margin * (1 - margin))
