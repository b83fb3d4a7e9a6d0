"""What tests of means need to know of a group: how many values, their mean and their spread."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["RESOLUTION", "Summary", "pooled_variance", "summarise"]

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
