"""Benjamini and Hochberg's correction for many tests: how many of the findings are false.

Benjamini and Hochberg (1995), Controlling the false discovery rate. Of the hypotheses rejected at a
level, no more than that share is true on average, where tests are independent or, as languages
compared with one pivot, positively dependent (Benjamini and Yekutieli 2001). A gate that must not
be wrong once among all takes :func:`pytest_xling.stats.holm.holm`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["benjamini_hochberg"]


def benjamini_hochberg(ps: Sequence[float]) -> list[float]:
    """Return the adjusted p values of a family of tests, in the order of *ps*.

    Of m values the k-th smallest is multiplied by m / k; none becomes larger than one after it.

    Raises:
        ValueError: a value is not between 0 and 1.
    """
    if not all(0 <= p <= 1 for p in ps):
        msg = "a p value lies between 0 and 1"
        raise ValueError(msg)
    adjusted = [0.0] * len(ps)
    smallest = 1.0
    order = sorted(range(len(ps)), key=lambda index: ps[index])
    for rank, index in reversed(list(enumerate(order, 1))):
        smallest = min(smallest, ps[index] * (len(ps) / rank))
        adjusted[index] = smallest
    return adjusted
