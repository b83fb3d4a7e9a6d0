"""A rate over weighted answers, with Wilson's interval around it.

The effective size is that of :mod:`pytest_xling.stats.cluster`, with weights: n over the design
effect, where one more flagged cluster of the usual weight is thought added. Without clusters and
with no flag raised it is Kish's (Σw)² / Σw² (Kish 1965, Survey Sampling, section 11.7); with equal
weights it is the one there.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_xling.stats.wilson import wilson_interval

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

__all__ = ["WeightedRate", "weighted_rate"]


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightedRate:
    """A rate with its interval; None where there are no answers."""

    value: float | None
    low: float | None
    high: float | None
    n: int
    size: float
    """How many independent, unweighted answers they are worth."""


def weighted_rate(
    flags: Sequence[bool],
    weights: Sequence[float],
    clusters: Sequence[Hashable],
    *,
    alpha: float = 0.05,
) -> WeightedRate:
    """Return the share of the weights whose flags are raised, with its 1 - *alpha* interval.

    That flags may vary less within the strata a sample was drawn from is not made use of, nor that
    a sample may be a large part of the whole: the interval is a little too wide rather than too
    narrow, and also holds for other answers of the same kind.

    Args:
        flags: one per answer.
        weights: how many answers each stands for.
        clusters: what answers share that are not independent.
        alpha: the interval misses with this probability, both sides together.

    Raises:
        ValueError: the lengths differ, a weight is not above 0 and finite, or *alpha* is out of
            range.
    """
    if not len(flags) == len(weights) == len(clusters):
        msg = f"{len(flags)} flags, {len(weights)} weights, {len(clusters)} clusters"
        raise ValueError(msg)
    if not all(0 < weight < math.inf for weight in weights):
        msg = "a weight is above 0 and finite"
        raise ValueError(msg)
    n = len(flags)
    if not n:
        return WeightedRate(value=None, low=None, high=None, n=0, size=0.0)
    whole = math.fsum(weights)
    raised = math.fsum(weight for flag, weight in zip(flags, weights, strict=True) if flag)
    # Exact at the ends, whatever order the weights were summed in.
    rate = 1.0 if all(flags) else raised / whole if any(flags) else 0.0
    off: defaultdict[Hashable, float] = defaultdict(float)
    of: defaultdict[Hashable, float] = defaultdict(float)
    for flag, weight, cluster in zip(flags, weights, clusters, strict=True):
        off[cluster] += weight * (flag - rate)
        of[cluster] += weight
    linearised = math.fsum(one * one for one in off.values())
    alike = math.fsum(one * one for one in of.values()) / whole
    size = whole * (whole * rate * (1 - rate) + alike) / (linearised + alike * alike)
    size = min(size, float(n))
    low, high = wilson_interval(rate, size, alpha=alpha) or (0.0, 1.0)
    return WeightedRate(value=rate, low=low, high=high, n=n, size=size)
