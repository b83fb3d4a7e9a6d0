"""Make limits of what was found: alike where languages are, and in round numbers."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["common", "rounded"]

MARKED = 1.5
"""A common limit so many times as far from what a language does as its own is too loose for it."""

DIGITS = 2
"""Digits that are told of the distance between a value and its limit."""


def common(estimates: Sequence[float], limits: Sequence[float]) -> list[float]:
    """Return one limit for as many languages as can share one, and their own for the others.

    The loosest of those that share is theirs. A language does not share a limit that is more than
    half as far again from what it does as its own limit is.

    Args:
        estimates: by language; higher is worse.
        limits: the tightest for each.
    """
    order = sorted(range(len(limits)), key=lambda at: (limits[at], at))
    best: list[int] = []
    for last in range(len(order)):
        loosest = limits[order[last]]
        shared = [
            at
            for at in order[: last + 1]
            if loosest - estimates[at] <= MARKED * (limits[at] - estimates[at]) + 1e-12
        ]
        if len(shared) >= len(best):
            best = shared
    final = list(limits)
    loosest = max((limits[at] for at in best), default=0.0)
    for at in best:
        final[at] = loosest
    return final


def rounded(limit: float, estimate: float, *, up: bool) -> float:
    """Return *limit* with two digits of its distance from *estimate*, away from it.

    Args:
        limit: finite.
        estimate: what it is a limit of.
        up: whether looser is higher.
    """
    if not math.isfinite(limit):
        return limit
    distance = abs(limit - estimate)
    if not distance:
        distance = abs(limit)
    if not distance:
        return 0.0
    step = Decimal(1).scaleb(math.floor(math.log10(distance)) - DIGITS + 1)
    # What was rounded before, as it is in a file, must not move again.
    exact = Decimal(f"{limit:.12g}")
    units = (exact / step).to_integral_value(ROUND_CEILING if up else ROUND_FLOOR)
    return float(units * step)
