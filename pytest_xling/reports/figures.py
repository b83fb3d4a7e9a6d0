"""How numbers stand in tables: rates in percent, means with as many digits as they need."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_xling.records import Threshold
    from pytest_xling.registry import MetricKind

__all__ = ["Figures", "limit_of"]

NONE = "–"


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """Words the numbers of one metric alike, so that columns line up."""

    kind: MetricKind
    digits: int

    @classmethod
    def fitting(cls, kind: MetricKind, values: Iterable[float | None]) -> Figures:
        """Return figures with one decimal for rates, and about three digits for other numbers."""
        if kind == "flag":
            return cls(kind=kind, digits=1)
        largest = max((abs(value) for value in values if value is not None), default=0.0)
        digits = next((d for d, below in ((3, 1.0005), (2, 10), (1, 100)) if largest < below), 0)
        return cls(kind=kind, digits=digits)

    def value(self, value: float | None) -> str:
        """Word a value: ``5.6%``, ``0.914``, ``512``."""
        if value is None:
            return NONE
        if self.kind == "flag":
            return f"{100 * value:.{self.digits}f}%"
        return f"{value:.{self.digits}f}"

    def interval(self, low: float | None, high: float | None) -> str:
        """Word an interval: ``1.0–25.8``; empty where there is none."""
        if low is None or high is None:
            return ""
        scale = 100 if self.kind == "flag" else 1
        between = " to " if low < 0 else "–"  # a dash would be taken for a minus
        return f"{scale * low:.{self.digits}f}{between}{scale * high:.{self.digits}f}"


def limit_of(
    threshold: Threshold, *, gap: bool = False, trend: bool = False, drop: bool = False
) -> str:
    """Word what a gate demands: ``max 5%``, ``min 0.9``, ``0.2 to 0.9``.

    Args:
        threshold: it may limit the metric itself, its gap, drop and trend, each a gate.
        gap: whether the gate is that of the gap.
        trend: whether it is that of the trend.
        drop: whether it is that of the drop from the baseline.
    """
    if gap or drop:
        return f"max {threshold.max_gap if gap else threshold.max_drop:g} worse"
    if trend:
        return f"max {threshold.max_trend:g} worse per level"
    if threshold.max_rate is not None:
        return f"max {100 * threshold.max_rate:g}%"
    if threshold.floor is None:
        return f"max {threshold.ceiling:g}"
    if threshold.ceiling is None:
        return f"min {threshold.floor:g}"
    return f"{threshold.floor:g} to {threshold.ceiling:g}"
