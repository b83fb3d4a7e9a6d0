"""The Cochran-Armitage test: does a rate rise or fall over ordered levels.

Cochran (1954), Some methods for strengthening the common chi-squared tests; Armitage (1955), Tests
for linear trends in proportions and frequencies.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Trend", "cochran_armitage"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trend:
    """A standard normal z with its p value, two-sided."""

    z: float | None
    """Positive where the rate rises."""
    p: float | None
    reason: str = ""
    """Why there is no z."""


def cochran_armitage(counts: Sequence[tuple[int, int]]) -> Trend:
    """Test whether the rate changes over levels 0, 1, 2 and so on.

    It takes all answers to be independent, which answers about one claim are not: its p is too
    small where claims differ among each other, so gates tell it and do not decide by it.

    Args:
        counts: raised and all answers at each level; a level without any says nothing.

    Raises:
        ValueError: more are raised than there are, or a number is negative.
    """
    if any(not 0 <= raised <= n for raised, n in counts):
        msg = "of n answers 0 to n are raised"
        raise ValueError(msg)
    if sum(n > 0 for _, n in counts) < 2:  # noqa: PLR2004  a trend needs two
        return Trend(z=None, p=None, reason="fewer than two levels have answers")
    total, raised = sum(n for _, n in counts), sum(r for r, _ in counts)
    rate = raised / total
    if raised in {0, total}:
        return Trend(z=None, p=None, reason=f"{'none' if not raised else 'all'} are raised")
    mean = sum(level * n for level, (_, n) in enumerate(counts)) / total
    covered = math.fsum((level - mean) * r for level, (r, _) in enumerate(counts))
    spread = math.fsum((level - mean) ** 2 * n for level, (_, n) in enumerate(counts))
    z = covered / math.sqrt(rate * (1 - rate) * spread)
    return Trend(z=z, p=math.erfc(abs(z) / math.sqrt(2)))
