"""How alike two distributions over categories are."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_xling.stats.distributions import check_alpha

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True, kw_only=True)
class Bhattacharyya:
    """A coefficient from 0, no category in common, to 1, the same distribution."""

    value: float
    low: float
    high: float


def bhattacharyya(
    first: Mapping[str, int],
    second: Mapping[str, int],
    *,
    categories: int | None = None,
    alpha: float = 0.05,
) -> Bhattacharyya:
    """Return Bhattacharyya's coefficient Σ√(pᵢqᵢ) of two distributions with its interval.

    Square roots of shares vary by about 1/(4n) whatever the share, so 8nm/(n + m) times one less
    the coefficient has nearly a noncentral χ² distribution with one degree of freedom less than
    there are categories; the interval is of its noncentrality. So it knows that few questions make
    distributions look less alike than they are, and may lie wholly above the value. Drawing the
    questions again does not: what is drawn looks less alike a second time. Of the distributions of
    CaLMQA's categories, 5 to 204 questions in each language, an interval of 95 % held the true
    coefficient in 87 to 100 % of cases, the bootstrap's percentiles in 0 to 80 %.

    Args:
        first: questions by category.
        second: as well.
        categories: how many there are; those that occur if None.
        alpha: the interval misses with about this probability, both sides together.

    Raises:
        ValueError: there are no questions on one side, a number is negative, there are fewer than
            two categories or than occur, or *alpha* is out of range.
    """
    from scipy.special import chdtr, chdtri, chndtrinc  # noqa: PLC0415  only tables need it

    check_alpha(alpha)
    n, m = sum(first.values()), sum(second.values())
    occurring = {name for counts in (first, second) for name, count in counts.items() if count}
    categories = len(occurring) if categories is None else categories
    if not n or not m or min((*first.values(), *second.values())) < 0:
        msg = "each distribution needs a question, and none has less than none in a category"
        raise ValueError(msg)
    if categories < max(2, len(occurring)):
        msg = f"{categories} categories are too few; two are needed, and {len(occurring)} occur"
        raise ValueError(msg)
    shared = (first.get(name, 0) * second.get(name, 0) for name in sorted(occurring))
    value = min(1.0, math.fsum(map(math.sqrt, shared)) / math.sqrt(n * m))
    scale, df = 8 * n * m / (n + m), categories - 1
    bound = scale * (1 - value)
    # Nearer than the same distribution mostly comes is by luck, and shows no less than that does.
    usual = max(bound, float(chdtri(df, 0.5)))

    def end(distance: float, tail: float) -> float:
        possible = float(chdtr(df, distance)) > tail
        return max(0.0, 1 - float(chndtrinc(distance, df, tail)) / scale) if possible else 1.0

    return Bhattacharyya(value=value, low=end(usual, alpha / 2), high=end(bound, 1 - alpha / 2))
