"""Student's t quantile agrees with scipy and with the printed tables."""

from __future__ import annotations

import pytest
from scipy.special import stdtr, stdtrit

from pytest_xling.stats.distributions import two_sided_p, two_sided_t, two_sided_z


@pytest.mark.parametrize("df", [0.5, 1, 2, 3, 7, 17, 29.5, 100, 1000, 100_000])
@pytest.mark.parametrize("alpha", [0.5, 0.1, 0.05, 0.01, 1e-4])
def test_agrees_with_scipy(alpha: float, df: float) -> None:
    """An independent program gives the same to ten digits."""
    assert pytest.approx(float(stdtrit(df, 1 - alpha / 2)), rel=1e-10) == two_sided_t(alpha, df)


@pytest.mark.parametrize("df", [1, 2, 11, 59, 1000])
@pytest.mark.parametrize("t", [0.0, 0.3, -2.1, 5.0, 40.0])
def test_p_agrees_with_scipy(t: float, df: float) -> None:
    """Both tails, whichever side t is on."""
    assert pytest.approx(2 * float(stdtr(df, -abs(t))), rel=1e-9) == two_sided_p(t, df)


def test_tabled_quantiles() -> None:
    """The values printed in every statistics book, for 95 %."""
    printed = {1: 12.706, 2: 4.303, 5: 2.571, 10: 2.228, 30: 2.042, 120: 1.980}
    assert printed == {df: round(two_sided_t(0.05, df), 3) for df in printed}


def test_becomes_normal() -> None:
    """With many degrees of freedom nothing is left of the tails."""
    assert pytest.approx(two_sided_z(0.05), abs=1e-6) == two_sided_t(0.05, 1e8)


@pytest.mark.parametrize("df", [0, -1, float("nan")])
def test_degrees_of_freedom_out_of_range(df: float) -> None:
    """Without degrees of freedom there is no distribution."""
    with pytest.raises(ValueError, match="degrees of freedom must be above 0"):
        two_sided_t(0.05, df)


def test_alpha_out_of_range() -> None:
    """A probability of 0 gives no interval."""
    with pytest.raises(ValueError, match="alpha must lie between 0 and 1"):
        two_sided_t(0.0, 3)
