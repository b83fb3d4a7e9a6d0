"""The normal quantile of two-sided intervals."""

from __future__ import annotations

import pytest

from pytest_xling.stats.distributions import two_sided_z


def test_tabled_quantiles() -> None:
    """The values printed in every statistics book."""
    assert [1.6449, 1.9600, 2.5758] == [round(two_sided_z(alpha), 4) for alpha in (0.1, 0.05, 0.01)]


@pytest.mark.parametrize("alpha", [0.0, 1.0, -0.1, float("nan")])
def test_alpha_out_of_range(alpha: float) -> None:
    """A probability of 0, 1 or beyond gives no interval."""
    with pytest.raises(ValueError, match="alpha must lie between 0 and 1"):
        two_sided_z(alpha)
