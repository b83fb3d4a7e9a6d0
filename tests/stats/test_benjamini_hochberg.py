"""Benjamini and Hochberg's correction, against scipy and statsmodels."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import false_discovery_control
from statsmodels.stats.multitest import multipletests

from pytest_xling.stats.p_values import benjamini_hochberg, holm

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
