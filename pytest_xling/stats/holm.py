"""Holm's correction for many tests.

Holm (1979), A simple sequentially rejective multiple test procedure. However the tests depend on
each other, the probability that any true hypothesis is rejected stays below the level.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["holm"]


def holm(ps: Sequence[float]) -> list[float]:
    """Return the adjusted p values of a family of tests, in the order of *ps*.

    Of m values the smallest is multiplied by m, the next by m - 1 and so on; none becomes smaller
    than one before it, and none larger than 1.

    Raises:
        ValueError: a value is not between 0 and 1.
    """
    if not all(0 <= p <= 1 for p in ps):
        msg = "a p value lies between 0 and 1"
        raise ValueError(msg)
    adjusted = [0.0] * len(ps)
    largest = 0.0
    for rank, index in enumerate(sorted(range(len(ps)), key=lambda index: ps[index])):
        largest = max(largest, min(1.0, (len(ps) - rank) * ps[index]))
        adjusted[index] = largest
    return adjusted
