"""The least-squares slope of a few points, and the steepest that rates can have."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

__all__ = ["slope", "slopes", "steepest"]


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


def slopes(lines: Sequence[Mapping[int, float]]) -> list[float]:
    """Return a value per line whose mean is the slope common to all, and whose spread its error.

    The common slope is that of all points about the middle of their own line (the within
    estimator), so that a line counts for as much as its points tell: one of two neighbouring points
    says little of a trend over five. A value is the common slope plus the line's share of the
    residuals (the linearised ratio); of lines with the same places it is the line's own slope.
    Lines with fewer than two points have no value.

    Args:
        lines: y by x.
    """
    products: list[float] = []
    squares: list[float] = []
    for points in lines:
        if len(points) < 2:  # noqa: PLR2004  a line needs two
            continue
        centre = math.fsum(points) / len(points)
        products.append(math.fsum((x - centre) * y for x, y in points.items()))
        squares.append(math.fsum((x - centre) ** 2 for x in points))
    if not squares:
        return []
    total = math.fsum(squares)
    common = math.fsum(products) / total
    share = len(squares) / total
    return [
        common + share * (product - common * square)
        for product, square in zip(products, squares, strict=True)
    ]


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
