"""How large a paired difference is, in words that do not depend on the metric's unit."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from pytest_xling.stats.group_means import RESOLUTION, summarise

if TYPE_CHECKING:
    from collections.abc import Sequence

_FEWEST = 3
"""Of two samples the bias is all there is."""


def cohen_dz(differences: Sequence[float]) -> float | None:
    """Return Cohen's d_z: the mean of the differences, one per sample, over their deviation.

    The bias of few samples is taken off by the exact factor of Hedges (1981): it is Hedges' g. None
    of fewer than three differences, or where all are equal.

    Raises:
        ValueError: a difference is not finite.
    """
    if not differences:
        return None
    summary = summarise(differences)
    if summary.n < _FEWEST or summary.sd <= RESOLUTION * max(map(abs, differences)):
        return None
    df = summary.n - 1
    bias = math.exp(math.lgamma(df / 2) - math.lgamma((df - 1) / 2)) / math.sqrt(df / 2)
    return bias * (summary.mean / summary.sd)
