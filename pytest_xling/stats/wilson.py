"""The Wilson score interval of a rate.

Wilson (1927), Probable inference, the law of succession, and statistical inference. It keeps its
coverage for small samples and rates near 0, where error rates of models usually are.
"""

from __future__ import annotations

import math

from pytest_xling.stats.normal import two_sided_z

__all__ = ["wilson_interval"]


def wilson_interval(rate: float, n: float, *, alpha: float = 0.05) -> tuple[float, float] | None:
    """Return the two-sided 1 - *alpha* interval of a rate seen in *n* answers.

    Args:
        rate: observed share, 0 to 1.
        n: number of answers; a fraction where it is an effective size.
        alpha: probability that the interval misses, both sides together.

    Returns:
        Lower and upper end, within 0 to 1 and around *rate*; None where *n* is 0.

    Raises:
        ValueError: an argument is out of range.
    """
    z = two_sided_z(alpha)
    if not 0 <= rate <= 1:
        msg = f"a rate lies between 0 and 1, not {rate!r}"
        raise ValueError(msg)
    if not 0 <= n < math.inf:
        msg = f"a number of answers is not negative and finite, not {n!r}"
        raise ValueError(msg)
    if n == 0:
        return None
    shrink = 1 + z * z / n
    centre = (rate + z * z / (2 * n)) / shrink
    half = z * math.sqrt(rate * (1 - rate) / n + z * z / (4 * n * n)) / shrink
    # The ends are exact at 0 and 1; rounding must not move them inside or past the rate.
    low = 0.0 if rate == 0 else min(max(centre - half, 0.0), rate)
    high = 1.0 if rate == 1 else max(min(centre + half, 1.0), rate)
    return low, high
