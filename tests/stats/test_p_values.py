"""Holm's, and Benjamini and Hochberg's correction, against scipy and statsmodels."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import false_discovery_control
from statsmodels.stats.multitest import multipletests

from pytest_xling.stats.p_values import benjamini_hochberg, holm

ps = st.lists(st.floats(0, 1), min_size=1, max_size=12)


@settings(max_examples=60, deadline=None)
@given(ps)
def test_agrees_with_statsmodels(values: list[float]) -> None:
    """An independent program gives the same."""
    expected = multipletests(values, method="holm")[1]
    assert list(expected) == pytest.approx(holm(values))


@settings(max_examples=60, deadline=None)
@given(ps)
def test_between_uncorrected_and_bonferroni(values: list[float]) -> None:
    """No p becomes smaller, none larger than by Bonferroni, and their order stays."""
    found = holm(values)
    for before, after in zip(values, found, strict=True):
        assert before <= after <= min(1.0, before * len(values)) or after == pytest.approx(before)
    ranked = sorted(zip(values, found, strict=True))
    assert [after for _, after in ranked] == sorted(after for _, after in ranked)


@settings(max_examples=40, deadline=None)
@given(ps, st.floats(0, 1))
def test_one_more_test_makes_none_more_certain(values: list[float], another: float) -> None:
    """A larger family corrects more."""
    assert all(a <= b for a, b in zip(holm(values), holm([*values, another]), strict=False))


@settings(max_examples=40, deadline=None)
@given(st.permutations([0.001, 0.01, 0.02, 0.04, 0.5]))
def test_order_does_not_matter(values: list[float]) -> None:
    """Each value has its own correction, wherever it stands."""
    expected = dict(
        zip([0.001, 0.01, 0.02, 0.04, 0.5], [0.005, 0.04, 0.06, 0.08, 0.5], strict=True)
    )
    assert [expected[p] for p in values] == pytest.approx(holm(values))


def test_alone_and_none() -> None:
    """A family of one is not corrected."""
    assert [0.03] == holm([0.03])
    assert [] == holm([])


@pytest.mark.parametrize("value", [-0.1, 1.1, float("nan")])
def test_no_probability(value: float) -> None:
    """A mistake of the caller."""
    with pytest.raises(ValueError, match="between 0 and 1"):
        holm([0.5, value])


families = st.lists(st.floats(0, 1), min_size=1, max_size=30)


@settings(max_examples=100, deadline=None)
@given(families)
def test_agrees_with_scipy_and_statsmodels(ps: list[float]) -> None:
    """In the order given, ties and all."""
    found = benjamini_hochberg(ps)
    assert list(false_discovery_control(ps)) == pytest.approx(found)
    assert list(multipletests(ps, method="fdr_bh")[1]) == pytest.approx(found)


@settings(max_examples=100, deadline=None)
@given(families)
def test_asks_for_less_than_holm(ps: list[float]) -> None:
    """No p grows beyond Holm's, and none becomes smaller."""
    found = benjamini_hochberg(ps)
    assert all(p <= q * (1 + 1e-12) for p, q in zip(found, holm(ps), strict=True))
    assert all(p <= q for p, q in zip(ps, found, strict=True))


def test_by_hand() -> None:
    """Four tests: 4·.01/1, 4·.02/2, 4·.03/3 and 4·.5/4."""
    assert [0.5, 0.04, 0.04, 0.04] == pytest.approx(benjamini_hochberg([0.5, 0.01, 0.03, 0.02]))
    assert [] == benjamini_hochberg([])


@pytest.mark.parametrize("p", [-0.1, 1.1, float("nan")])
def test_no_p(p: float) -> None:
    """A mistake of the caller."""
    with pytest.raises(ValueError, match="between 0 and 1"):
        benjamini_hochberg([0.5, p])
