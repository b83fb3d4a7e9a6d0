"""What groups are told by."""

from __future__ import annotations

import math

import pytest

from pytest_xling.stats.group_means import Summary


@pytest.mark.parametrize(("n", "mean", "sd"), [(0, 0.0, 0.0), (2, math.nan, 0.0), (2, 0.0, -1.0)])
def test_summaries_that_are_none(n: int, mean: float, sd: float) -> None:
    """What no group can have is refused where it is said."""
    with pytest.raises(ValueError, match="no group has"):
        Summary(n=n, mean=mean, sd=sd)
