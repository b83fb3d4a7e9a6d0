"""The distribution of the studentized range, which Tukey's test needs once for every pair.

scipy has it, too, at ten milliseconds a call; a table of ten languages asks for thousands.
"""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["beyond", "quantile"]

_TAIL = 1e-16
"""What is left out at either end of an integral."""
_WIDEST = 8.5
"""Beyond this a standard normal is as good as never."""
_LARGEST = 1e4
"""No quantile is wanted above this."""


def beyond(q: float, groups: int, df: int) -> float:
    """Return the probability that the studentized range exceeds *q*.

    Exact to about 1e-11, with a single degree of freedom to 1e-5.

    The range of k standard normals is at most w with probability k∫φ(z)[Φ(z) - Φ(z - w)]ᵏ⁻¹dz; of
    that w = q·s the mean is taken over s = √(χ²/df), both by Gauss and Legendre's rule.

    Args:
        q: not negative.
        groups: how many means there are, at least two.
        df: degrees of freedom of the spread, at least one.
    """
    import numpy as np  # noqa: PLC0415  not before a table is wanted
    from scipy.special import ndtr  # noqa: PLC0415  as above

    s, weights = _spreads(df)
    z, density = _normals()
    within = ndtr(z) - ndtr(z - q * s[:, None])
    inside = groups * (within ** (groups - 1)) @ density
    return min(max(1.0 - float(np.dot(weights, inside)), 0.0), 1.0)


@cache
def quantile(alpha: float, groups: int, df: int) -> float:
    """Return what the studentized range exceeds with probability *alpha*."""
    from scipy.optimize import brentq  # noqa: PLC0415  not before a table is wanted

    return float(brentq(lambda q: beyond(q, groups, df) - alpha, 0.0, _LARGEST, xtol=1e-12))


@cache
def _normals() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return points of a standard normal, with what each counts."""
    import numpy as np  # noqa: PLC0415  not before a table is wanted

    points, weights = np.polynomial.legendre.leggauss(128)
    z = _WIDEST * points
    return z, _WIDEST * weights * np.exp(-z * z / 2) / math.sqrt(2 * math.pi)


@cache
def _spreads(df: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return points of √(χ²/df), with what each counts; these add up to 1."""
    import numpy as np  # noqa: PLC0415  not before a table is wanted
    from scipy.special import chdtri  # noqa: PLC0415  as above

    # chdtri is told what lies above.
    low = math.sqrt(float(chdtri(df, 1 - _TAIL)) / df)
    high = math.sqrt(float(chdtri(df, _TAIL)) / df)
    points, weights = np.polynomial.legendre.leggauss(128)
    s: Any = (low + high) / 2 + (high - low) / 2 * points
    density = np.exp((df - 1) * np.log(s) - df * (s * s - 1) / 2)
    return s, weights * density / float(np.dot(weights, density))
