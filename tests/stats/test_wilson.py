"""The Wilson interval agrees with statsmodels and the literature, and covers as it promises."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from pytest_xling.stats.rate_intervals import wilson_interval

RATES = st.floats(0, 1)
SIZES = st.floats(0.5, 1e5)
ALPHAS = st.floats(0.001, 0.5)


@pytest.mark.parametrize(("flagged", "n"), [(0, 10), (1, 10), (4, 54), (50, 100), (969, 969)])
@pytest.mark.parametrize("alpha", [0.5, 0.05, 0.01])
def test_agrees_with_statsmodels(flagged: int, n: int, alpha: float) -> None:
    """An independent program gives the same interval."""
    expected = proportion_confint(flagged, n, alpha=alpha, method="wilson")
    assert pytest.approx(expected, abs=1e-12) == wilson_interval(flagged / n, n, alpha=alpha)


@pytest.mark.parametrize(
    ("flagged", "n", "expected"),
    [
        (81, 263, (0.2553, 0.3662)),
        (15, 148, (0.0624, 0.1605)),
        (0, 20, (0.0, 0.1611)),
        (1, 29, (0.0061, 0.1718)),
    ],
)
def test_published_intervals(flagged: int, n: int, expected: tuple[float, float]) -> None:
    """Newcombe (1998), Statistics in Medicine 17, table I, method 3."""
    interval = wilson_interval(flagged / n, n)
    assert interval is not None
    assert expected == tuple(round(end, 4) for end in interval)


def test_no_answers_no_interval() -> None:
    """Nothing is known of a rate nobody has seen."""
    assert wilson_interval(0.0, 0) is None


@given(RATES, SIZES, ALPHAS)
def test_bounds(rate: float, n: float, alpha: float) -> None:
    """The interval lies within 0 to 1 and holds the rate."""
    interval = wilson_interval(rate, n, alpha=alpha)
    assert interval is not None
    low, high = interval
    assert 0 <= low <= rate <= high <= 1


@given(RATES, SIZES, ALPHAS)
def test_symmetry(rate: float, n: float, alpha: float) -> None:
    """Counting the unflagged instead mirrors the interval."""
    interval = wilson_interval(rate, n, alpha=alpha)
    mirrored = wilson_interval(1 - rate, n, alpha=alpha)
    assert interval is not None
    assert mirrored is not None
    assert pytest.approx((1 - interval[1], 1 - interval[0]), abs=1e-9) == mirrored


@given(st.integers(1, 500), st.data())
def test_more_flags_move_both_ends_up(n: int, data: st.DataObject) -> None:
    """Both ends rise with the number of flags."""
    flagged = data.draw(st.integers(0, n - 1))
    before, after = wilson_interval(flagged / n, n), wilson_interval((flagged + 1) / n, n)
    assert before is not None
    assert after is not None
    assert before[0] < after[0]
    assert before[1] < after[1] or after[1] == 1.0


@pytest.mark.parametrize(
    ("rate", "n"), [(-0.1, 5.0), (1.1, 5.0), (math.nan, 5.0), (0.5, -1.0), (0.5, math.inf)]
)
def test_out_of_range(rate: float, n: float) -> None:
    """What is no rate or no number of answers is refused."""
    with pytest.raises(ValueError, match=r"a rate lies|a number of answers"):
        wilson_interval(rate, n)


@pytest.mark.parametrize("n", [50, 100, 400])
@pytest.mark.parametrize("rate", [0.05, 0.2, 0.5])
def test_coverage(n: int, rate: float) -> None:
    """95 % intervals hold the truth at least 93 % of the time, computed and not simulated."""
    flagged = np.arange(n + 1)
    log_choose = np.array(
        [math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1) for k in flagged]
    )
    chance = np.exp(log_choose + flagged * math.log(rate) + (n - flagged) * math.log1p(-rate))
    intervals = [wilson_interval(k / n, n) or (0.0, 0.0) for k in flagged.tolist()]
    holds = np.array([low <= rate <= high for low, high in intervals])
    assert float(chance[holds].sum()) >= 0.93
