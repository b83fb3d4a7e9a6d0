"""Tukey's honestly significant difference: which pairs of means differ, of all there are.

With groups of different sizes this is the Tukey-Kramer method (Kramer 1956), which keeps the
promised error rate over all pairs together (Hayter 1984).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from pytest_xling.stats.normal import check_alpha
from pytest_xling.stats.studentized_range import beyond, quantile
from pytest_xling.stats.summary import pooled_variance, summarise

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_xling.stats.summary import Summary

__all__ = ["Difference", "tukey", "tukey_from_summaries"]


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
    found = []
    for first, second in combinations(groups, 2):
        one, other = groups[first], groups[second]
        mean = other.mean - one.mean
        low = high = p = None
        if pooled is not None:
            variance, df = pooled
            scale = math.sqrt(variance * (1 / one.n + 1 / other.n) / 2)
            half = quantile(alpha, len(groups), df) * scale
            low, high = mean - half, mean + half
            p = beyond(abs(mean) / scale, len(groups), df)
        found.append(
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
    return found
