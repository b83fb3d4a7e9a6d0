"""How verdicts word numbers, for the person who has to decide on a release."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_xling.records import Estimate, Threshold

__all__ = [
    "UNDECIDABLE",
    "change",
    "interval",
    "needed",
    "p_value",
    "percent",
    "too_few",
    "unscored",
]

UNDECIDABLE = 100
"""Needing this many times the answers there are is as good as never, ..."""
_FEW = 100
"""... but few answers may need as many times these."""


_SMALLEST_P = 0.001


def percent(rate: float) -> str:
    """Word a rate: ``7.41%``."""
    return f"{100 * rate:.3g}%"


def change(amount: float, *, noise: float) -> str:
    """Word by how much something is worse: ``0.023 worse``, ``0.01 better``, ``no worse``."""
    if abs(amount) < noise:
        return "no worse"
    return f"{abs(amount):.3g} {'worse' if amount > 0 else 'better'}"


def p_value(p: float) -> str:
    """Word a p value with its sign of relation: ``= .024``, ``< .001``."""
    if p < _SMALLEST_P:
        return "< .001"
    return f"= {p:.2g}".replace("0.", ".", 1)


def interval(low: str, high: str, alpha: float) -> str:
    """Word an interval: ``95% interval 2.9% to 17.6%``."""
    return f"{100 * (1 - alpha):.4g}% interval {low} to {high}"


def unscored(estimate: Estimate) -> str:
    """Word how many answers have no score; empty where all have."""
    return f", {estimate.unscored} unscored" if estimate.unscored else ""


def too_few(estimate: Estimate, threshold: Threshold, *, of: str = "answers") -> str | None:
    """Say that there are fewer than ``min_n``; None where there are enough."""
    if estimate.n == 0 or estimate.value is None:
        return estimate.reason or "no answer was scored"
    if estimate.n < threshold.min_n:
        return f"too few {of}: needs {threshold.min_n}, has {estimate.n}"
    return None


def needed(size: float, has: int, *, of: str = "answers") -> str:
    """Say how many answers, or what else there are more of, would decide, or that none would."""
    if size > UNDECIDABLE * max(has, _FEW):
        return "cannot be decided so near the limit"
    # At least one more than there are: rounding must not promise what has just been shown wrong.
    return f"needs about {max(math.ceil(size), has + 1)} {of} at this value; has {has}"
