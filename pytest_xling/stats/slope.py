"""The least-squares slope of a few points, and the steepest that rates can have."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["slope", "steepest"]


def slope(points: Mapping[int, float]) -> float | None:
    """Return by how much y rises per unit of x; None with fewer than two points.

    Args:
        points: y by x.
    """
    if len(points) < 2:  # noqa: PLR2004  a line needs two
        return None
    centre = math.fsum(points) / len(points)
    rise = math.fsum((x - centre) * y for x, y in points.items())
    return rise / math.fsum((x - centre) ** 2 for x in points)


def steepest(xs: Iterable[int]) -> float:
    """Return the largest slope of values from 0 to 1: all 0 below the middle of *xs*, 1 above it.

    Raises:
        ValueError: there are fewer than two different *xs*.
    """
    places = set(xs)
    centre = math.fsum(places) / max(1, len(places))
    found = slope({x: float(x > centre) for x in places})
    if found is None:
        msg = "a slope needs two different places"
        raise ValueError(msg)
    return found
