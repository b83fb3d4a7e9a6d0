"""Effect sizes, against scipy, statsmodels and by hand."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from pytest_xling.stats.effect_size import (
    cohen_dz,
    risk_difference,
)
from pytest_xling.stats.paired_means import paired_mean


def test_cohen_dz_by_hand() -> None:
    """Mean 2 over standard deviation 1; Hedges' factor for two degrees of freedom is .564."""
    plain, corrected = cohen_dz([1.0, 2.0, 3.0], corrected=False), cohen_dz([1.0, 2.0, 3.0])
    assert 3 == plain.n
    assert 2.0 == pytest.approx(plain.value)
    assert 2 / math.sqrt(math.pi) == pytest.approx(corrected.value)
    rough = cohen_dz([0.1, 0.2, 0.5] * 20)
    known = cohen_dz([0.1, 0.2, 0.5] * 20, corrected=False)
    assert rough.value == pytest.approx((known.value or 0) * (1 - 3 / (4 * 59 - 1)), rel=1e-4)


@pytest.mark.parametrize("shift", [-0.4, 0.0, 1.5])
def test_cohen_dz_interval_inverts_the_noncentral_t(shift: float) -> None:
    """At each end what was seen is just as far out as the interval may miss."""
    rng = random.Random(2)  # noqa: S311  made-up data, repeatable
    differences = [rng.gauss(shift, 1) for _ in range(25)]
    found = cohen_dz(differences, corrected=False, alpha=0.1)
    t = stats.ttest_1samp(differences, 0).statistic
    assert found.low is not None
    assert found.high is not None
    tails = [
        float(stats.nct.cdf(t, 24, 5 * found.low)),
        float(stats.nct.cdf(t, 24, 5 * found.high)),
    ]
    assert [0.95, 0.05] == pytest.approx(tails, abs=1e-4)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 12), st.integers(0, 12), st.integers(1, 12))
def test_risk_difference_is_the_gates(first: int, second: int, neither: int) -> None:
    """Of the same pairs the mean and interval that gates see, within what is possible."""
    pairs = first + second + neither
    found = risk_difference(first, second, pairs)
    seen = paired_mean([1.0] * first + [-1.0] * second + [0.0] * neither, rates=True)
    assert seen.mean == found.value
    if pairs == 1:
        assert (None, "one pair has no spread") == (found.low, found.reason)
        return
    assert seen.low is not None
    assert seen.high is not None
    assert (max(-1, seen.low), min(1, seen.high)) == (found.low, found.high)


def test_no_telling() -> None:
    """None with a reason where there are too few, or no spread."""
    for found, reason in (
        (cohen_dz([]), "no sample has a value"),
        (cohen_dz([0.2]), "one sample has no spread"),
        (cohen_dz([0.2] * 5), "all 5 differences are equal"),
        (risk_difference(0, 0, 0), "there are no pairs"),
    ):
        assert (None, None, None) == (found.value, found.low, found.high)
        assert reason in found.reason


def test_mistakes() -> None:
    """Numbers that cannot be."""
    with pytest.raises(ValueError, match="cannot differ"):
        risk_difference(3, 3, 5)
    with pytest.raises(ValueError, match="finite"):
        cohen_dz([0.1, math.inf])


def test_two_samples_have_no_corrected_size() -> None:
    """The factor of Hedges is 0 there; uncorrected they have one."""
    found = cohen_dz([0.1, 0.4])
    assert (None, None, None, 2) == (found.value, found.low, found.high, found.n)
    assert "needs three" in found.reason
    plain = cohen_dz([0.1, 0.4], corrected=False).value
    assert 0.25 / (0.3 / math.sqrt(2)) == pytest.approx(plain)
