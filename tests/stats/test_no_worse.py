"""Non-inferiority, against scipy."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from pytest_xling.stats.paired_means import paired_mean
from pytest_xling.stats.paired_tests import no_worse_p

spread = st.lists(st.integers(-20, 20).map(lambda x: x / 20), min_size=3, max_size=30).filter(
    lambda values: len(set(values)) > 1
)


@settings(max_examples=50, deadline=None)
@given(spread, st.sampled_from([0.0, 0.1, 0.3]))
def test_it_is_a_one_sided_t_test(differences: list[float], margin: float) -> None:
    """As scipy's with the margin as its mean."""
    peers = stats.ttest_1samp(differences, margin, alternative="less")
    assert float(peers.pvalue) == pytest.approx(no_worse_p(differences, margin=margin), abs=1e-9)


@settings(max_examples=50, deadline=None)
@given(spread, st.sampled_from([0.01, 0.05]), st.booleans())
def test_shown_where_the_interval_is_below(
    differences: list[float],
    alpha: float,
    rates: bool,  # noqa: FBT001  drawn
) -> None:
    """The interval is the gates' own with twice the alpha, and p says the same."""
    interval = paired_mean(differences, alpha=2 * alpha, rates=rates)
    p = no_worse_p(differences, margin=0.2, rates=rates)
    assert p is not None
    assert interval.high is not None
    assert (interval.high < 0.2) == (p < alpha)


def test_too_few_show_nothing() -> None:
    """No difference found is not the same as none shown: with few samples it is not."""
    few = [0.1, -0.1, 0.12, -0.12]
    assert stats.ttest_1samp(few, 0).pvalue > 0.9
    shown = [(no_worse_p(some, margin=0.05) or 0.0) < 0.05 for some in (few, few * 20)]
    assert [False, True] == shown


def test_rates_that_all_agree() -> None:
    """Thirty pairs that agree show a rate to be no worse by 20 points, and not by 5."""
    assert (no_worse_p([0.0] * 30, margin=0.2, rates=True) or 1.0) < 0.05
    assert (no_worse_p([0.0] * 30, margin=0.05, rates=True) or 0.0) > 0.05


@pytest.mark.parametrize("differences", [[], [0.2], [0.1] * 9])
def test_no_telling(differences: list[float]) -> None:
    """Without a spread there is no p."""
    assert no_worse_p(differences, margin=1) is None


def test_no_number() -> None:
    """A difference that is none."""
    with pytest.raises(ValueError, match="only finite"):
        no_worse_p([0.1, math.nan], margin=0.1)
