"""Mean, median and spread, and an interval of the mean that knows of clusters."""

from __future__ import annotations

import math
import statistics
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_xling.stats.student import two_sided_t

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

__all__ = ["Description", "describe", "mean_interval"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """What tables say of numbers; None where there are too few."""

    n: int
    mean: float | None
    median: float | None
    std: float | None
    """Sample standard deviation: divided by n - 1."""


def describe(values: Sequence[float]) -> Description:
    """Describe *values*; the standard deviation needs two of them.

    Raises:
        ValueError: a value is not finite.
    """
    _refuse_infinite(values)
    return Description(
        n=len(values),
        mean=math.fsum(values) / len(values) if values else None,
        median=float(statistics.median(values)) if values else None,
        std=float(statistics.stdev(values)) if len(values) > 1 else None,
    )


def mean_interval(
    values: Sequence[float], clusters: Sequence[Hashable], *, alpha: float = 0.05
) -> tuple[float, float] | None:
    """Return the two-sided 1 - *alpha* interval of the mean.

    Student's t with one degree of freedom less than there are clusters, and the variance of a ratio
    over clusters, m/(m - 1) · Σ(yᵢ - mean·nᵢ)² / n²; with one answer per cluster that is the usual
    t interval. Where all values are equal it has no width.

    Returns:
        Lower and upper end around the mean; None with fewer than two clusters.

    Raises:
        ValueError: the lengths differ, or a value is not finite.
    """
    if len(values) != len(clusters):
        msg = f"{len(values)} values but {len(clusters)} clusters"
        raise ValueError(msg)
    _refuse_infinite(values)
    sizes = Counter(clusters)
    m = len(sizes)
    if m < 2:  # noqa: PLR2004  spread needs two
        return None
    n = len(values)
    mean = math.fsum(values) / n
    grouped: defaultdict[Hashable, list[float]] = defaultdict(list)
    for value, cluster in zip(values, clusters, strict=True):
        grouped[cluster].append(value)
    squares = (math.fsum(v - mean for v in grouped[cluster]) ** 2 for cluster in sizes)
    variance = m / (m - 1) * math.fsum(squares) / n**2
    half = two_sided_t(alpha, m - 1) * math.sqrt(variance)
    return mean - half, mean + half


def _refuse_infinite(values: Sequence[float]) -> None:
    if not all(math.isfinite(value) for value in values):
        msg = "a value is infinite or not a number"
        raise ValueError(msg)
