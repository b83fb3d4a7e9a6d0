"""Equivalence and non-inferiority, against statsmodels and scipy."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.weightstats import DescrStatsW

from pytest_xling.stats.paired_means import paired_mean
from pytest_xling.stats.tost import no_worse, tost

spread = st.lists(st.integers(-20, 20).map(lambda x: x / 20), min_size=3, max_size=30).filter(
    lambda values: len(set(values)) > 1
)


@settings(max_examples=50, deadline=None)
@given(spread, st.sampled_from([(-0.1, 0.1), (-0.05, 0.3)]))
def test_agrees_with_statsmodels(differences: list[float], limits: tuple[float, float]) -> None:
    """Both one-sided p values and the larger of them."""
    low, high = limits
    p, below, above = DescrStatsW(differences).ttost_mean(low, high)
    found = tost(differences, low=low, high=high)
    expected = [float(p), float(below[1]), float(above[1])]
    assert expected == pytest.approx([found.p, found.p_low, found.p_high], abs=1e-9)


@settings(max_examples=50, deadline=None)
@given(spread, st.sampled_from([0.0, 0.1, 0.3]), st.sampled_from([0.025, 0.05]))
def test_no_worse_is_a_one_sided_t_test(
    differences: list[float], margin: float, alpha: float
) -> None:
    """As scipy's with the margin as its mean; shown where p is below alpha."""
    peers = stats.ttest_1samp(differences, margin, alternative="less")
    found = no_worse(differences, margin=margin, alpha=alpha)
    assert float(peers.pvalue) == pytest.approx(found.p, abs=1e-9)
    assert found.p is not None
    assert (found.p < alpha) == found.within
    assert None is found.p_low


@settings(max_examples=50, deadline=None)
@given(spread, st.sampled_from([0.01, 0.05]), st.booleans())
def test_shown_where_the_interval_is_within(
    differences: list[float],
    alpha: float,
    rates: bool,  # noqa: FBT001  drawn
) -> None:
    """The interval is the gates' own with twice the alpha, and p says the same."""
    found = tost(differences, low=-0.2, high=0.2, alpha=alpha, rates=rates)
    interval = paired_mean(differences, alpha=2 * alpha, rates=rates)
    assert (interval.low, interval.high) == (found.low, found.high)
    assert found.low is not None
    assert found.high is not None
    assert found.p is not None
    assert (-0.2 < found.low and found.high < 0.2) == found.within == (found.p < alpha)


def test_too_few_show_nothing() -> None:
    """No difference found is not the same as none shown: with few samples it is not."""
    few, many = [0.1, -0.1, 0.12, -0.12], [0.1, -0.1, 0.12, -0.12] * 20
    assert stats.ttest_1samp(few, 0).pvalue > 0.9
    assert (False, True) == (
        tost(few, low=-0.05, high=0.05).within,
        tost(many, low=-0.05, high=0.05).within,
    )


def test_rates_that_all_agree() -> None:
    """Thirty pairs that agree show rates to be within 20 points, and not within 5."""
    assert tost([0.0] * 30, low=-0.2, high=0.2, rates=True).within
    assert not tost([0.0] * 30, low=-0.05, high=0.05, rates=True).within


@pytest.mark.parametrize(
    ("differences", "mean", "reason"),
    [
        ([], None, "no sample has a value"),
        ([0.2], 0.2, "one sample has no spread"),
        ([0.1] * 9, 0.1, "all 9 differences are equal"),
    ],
)
def test_no_telling(differences: list[float], mean: float | None, reason: str) -> None:
    """Without a spread there is neither p nor interval."""
    for found in (tost(differences, low=-1, high=1), no_worse(differences, margin=1)):
        assert (None, None, None, None) == (found.within, found.p, found.low, found.high)
        assert (None if mean is None else pytest.approx(mean)) == found.mean
        assert len(differences) == found.n
        assert reason in found.reason


def test_mistakes() -> None:
    """Limits the wrong way round, an alpha that is none, and a difference that is none."""
    with pytest.raises(ValueError, match="not below"):
        tost([0.1, 0.2], low=0.1, high=-0.1)
    with pytest.raises(ValueError, match=r"between 0 and 1/2, not 0\.6"):
        no_worse([0.1, 0.2], margin=0.1, alpha=0.6)
    with pytest.raises(ValueError, match="only finite"):
        no_worse([0.1, math.nan], margin=0.1)
