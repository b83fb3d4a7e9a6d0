"""The Cochran-Armitage test, against statsmodels and by hand."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.contingency_tables import Table

from pytest_xling.stats.trend import cochran_armitage

level = st.integers(1, 40).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@settings(max_examples=60, deadline=None)
@given(st.lists(level, min_size=2, max_size=5))
def test_agrees_with_statsmodels(counts: list[tuple[int, int]]) -> None:
    """Its z, which takes the variance of a permutation: ours times √((N - 1)/N)."""
    total, raised = sum(n for _, n in counts), sum(r for r, _ in counts)
    found = cochran_armitage(counts)
    if raised in {0, total}:
        assert found.z is None
        return
    table = Table([[n - r for r, n in counts], [r for r, _ in counts]], shift_zeros=False)
    expected = table.test_ordinal_association()
    assert found.z is not None
    assert expected.zscore == pytest.approx(found.z * math.sqrt((total - 1) / total), abs=1e-9)


def test_by_hand() -> None:
    """10, 20 and 30 of 100: p = .2, Σ(x - 1)·raised = 20, Σ(x - 1)²·n = 200."""
    found = cochran_armitage([(10, 100), (20, 100), (30, 100)])
    assert found.z is not None
    assert 20 / math.sqrt(0.2 * 0.8 * 200) == pytest.approx(found.z)
    assert 0.000407 == pytest.approx(found.p, abs=1e-6)


@settings(max_examples=30, deadline=None)
@given(st.lists(level, min_size=2, max_size=5))
def test_backwards_falls(counts: list[tuple[int, int]]) -> None:
    """What rises one way falls the other, and so does what is not raised."""
    found, back = cochran_armitage(counts), cochran_armitage(counts[::-1])
    other = cochran_armitage([(n - r, n) for r, n in counts])
    if found.z is None or back.z is None or other.z is None:
        assert found.z is back.z is other.z is None
        return
    assert (-found.z, -found.z) == pytest.approx((back.z, other.z), abs=1e-9)
    assert found.p == pytest.approx(back.p)


@pytest.mark.parametrize(
    ("counts", "why"),
    [
        ([], "fewer than two levels have answers"),
        ([(1, 2), (0, 0)], "fewer than two levels have answers"),
        ([(0, 2), (0, 3)], "none are raised"),
        ([(2, 2), (3, 3)], "all are raised"),
    ],
)
def test_no_trend_has_a_reason(counts: list[tuple[int, int]], why: str) -> None:
    """No z, rather than 0 or NaN."""
    found = cochran_armitage(counts)
    assert (None, None, why) == (found.z, found.p, found.reason)


def test_a_level_without_answers_keeps_its_place() -> None:
    """From 0 to 2 is twice as far as from 0 to 1."""
    near = cochran_armitage([(1, 10), (5, 10), (9, 10), (9, 10)])
    far = cochran_armitage([(1, 10), (5, 10), (9, 10), (0, 0), (9, 10)])
    assert near.z != far.z


@pytest.mark.parametrize("counts", [[(3, 2), (0, 1)], [(-1, 2), (0, 1)]])
def test_more_than_there_are(counts: list[tuple[int, int]]) -> None:
    """A mistake of the caller."""
    with pytest.raises(ValueError, match="0 to n are raised"):
        cochran_armitage(counts)
