"""Corrections of p values for multiple tests, and the significance stars of tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def holm(ps: Sequence[float]) -> list[float]:
    """Return the adjusted p values of a family of tests, in the order of *ps*.

    Of m values the smallest is multiplied by m, the next by m - 1 and so on; none becomes smaller
    than one before it, and none larger than 1.

    Raises:
        ValueError: a value is not between 0 and 1.
    """
    _check(ps)
    adjusted = [0.0] * len(ps)
    largest = 0.0
    for rank, index in enumerate(sorted(range(len(ps)), key=lambda index: ps[index])):
        largest = max(largest, min(1.0, (len(ps) - rank) * ps[index]))
        adjusted[index] = largest
    return adjusted


def benjamini_hochberg(ps: Sequence[float]) -> list[float]:
    """Return the adjusted p values of a family of tests, in the order of *ps*.

    Of m values the k-th smallest is multiplied by m / k; none becomes larger than one after it.

    Raises:
        ValueError: a value is not between 0 and 1.
    """
    _check(ps)
    adjusted = [0.0] * len(ps)
    smallest = 1.0
    order = sorted(range(len(ps)), key=lambda index: ps[index])
    for rank, index in reversed(list(enumerate(order, 1))):
        smallest = min(smallest, ps[index] * (len(ps) / rank))
        adjusted[index] = smallest
    return adjusted


def _check(ps: Sequence[float]) -> None:
    if not all(0 <= p <= 1 for p in ps):
        msg = "a p value lies between 0 and 1"
        raise ValueError(msg)


_LEVELS = ((0.001, "***"), (0.01, "**"), (0.05, "*"))


def stars(p: float | None) -> str:
    """Return ``*`` below .05, ``**`` below .01, ``***`` below .001, else nothing.

    That is how Tables 2 and 3 of XLingEval are marked. The caption of its Table A12 promises one
    star more at each level, but the table itself is marked in this way too.
    """
    if p is None:
        return ""
    return next((mark for level, mark in _LEVELS if p < level), "")
