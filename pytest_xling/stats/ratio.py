"""The ratio of two means over the same samples, with its interval."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_xling.stats.student import two_sided_t

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Ratio", "paired_ratio"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratio:
    """A ratio of means; the interval is None where a mean is 0 or there is one sample."""

    value: float | None
    low: float | None
    high: float | None
    n: int
    """Samples."""


def paired_ratio(pairs: Sequence[tuple[float, float]], *, alpha: float = 0.05) -> Ratio:
    """Return the mean of what stands first in *pairs* over the mean of what stands second.

    The interval is symmetric about the logarithm of the ratio, whose variance over m samples is
    m/(m - 1) · Σ(yᵢ/Σy - xᵢ/Σx)²: of 0s and 1s that is the textbook's (b + c) / [(a + b)(a + c)]
    for paired rates, times m/(m - 1). The quantile is Student's with m - 1 degrees of freedom.

    Args:
        pairs: a sample's value in one group and in the other; none is negative.
        alpha: the interval misses with this probability, both sides together.

    Raises:
        ValueError: a value is negative or not finite.
    """
    if not all(0 <= value < math.inf for pair in pairs for value in pair):
        msg = "a ratio needs finite values that are not negative"
        raise ValueError(msg)
    above, below = math.fsum(y for y, _ in pairs), math.fsum(x for _, x in pairs)
    m = len(pairs)
    value = above / below if below else None
    if not value or m < 2:  # noqa: PLR2004  spread needs two
        return Ratio(value=value, low=None, high=None, n=m)
    squares = math.fsum((y / above - x / below) ** 2 for y, x in pairs)
    factor = math.exp(two_sided_t(alpha, m - 1) * math.sqrt(m / (m - 1) * squares))
    return Ratio(value=value, low=value / factor, high=value * factor, n=m)
