"""The sign-flip test, against scipy, the exact test of flags, and by hand."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from pytest_xling.stats.mcnemar import Discordance, sign_flip_p
from pytest_xling.stats.paired_tests import sign_flip_test

RNG = np.random.default_rng(3)


@pytest.mark.parametrize("n", [1, 5, 12])
def test_exact_p_is_scipys(n: int) -> None:
    """All flips are tried, as by scipy's permutation test of paired samples."""
    values = RNG.normal(0.3, size=(n, 2))
    found = sign_flip_test(values)
    for column, ours in zip(values.T, found, strict=True):
        assert (True, n) == (ours.exact, ours.n)
        if n == 1:  # scipy takes one value for none
            assert 1.0 == ours.p
            continue
        peers = stats.permutation_test((column,), np.sum, permutation_type="samples")
        assert float(peers.pvalue) == pytest.approx(ours.p)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.sampled_from([-0.5, -0.1, 0.0, 0.1, 0.2, 0.5]), min_size=1, max_size=9))
def test_every_flip_counts(differences: list[float]) -> None:
    """The share of all flips that go as far, counted one by one; ties are no rounding."""
    away = [round(10 * difference) for difference in differences]
    ways = list(itertools.product((1, -1), repeat=len(away)))
    far = sum(
        abs(sum(s * a for s, a in zip(way, away, strict=True))) >= abs(sum(away)) for way in ways
    )
    [found] = sign_flip_test(np.array(differences)[:, None])
    assert far / len(ways) == pytest.approx(found.p)


def test_drawn_flips_are_near_the_exact_p() -> None:
    """Of flags the exact p is known for many clusters, too."""
    values = RNG.choice([-1.0, 0.0, 1.0], p=[0.1, 0.6, 0.3], size=(80, 4))
    for column, found in zip(values.T, sign_flip_test(values, flips=40_000), strict=True):
        exact = sign_flip_p(
            [Discordance(first=int(d > 0), second=int(d < 0), pairs=1) for d in column]
        )
        assert exact is not None
        assert found.p is not None
        assert not found.exact
        assert abs(found.p - exact) < 5 * math.sqrt(exact / 40_000)


def test_drawn_p_is_never_0() -> None:
    """What was seen is one of the flips."""
    [found] = sign_flip_test(np.ones((60, 1)), flips=999)
    assert 1 / 1000 == found.p


def test_ties_leave_it_exact() -> None:
    """Clusters that do not differ need no flip: 12 of 200 are 4,096 ways."""
    column = np.zeros(200)
    column[:12] = 0.5
    [found] = sign_flip_test(column[:, None])
    assert (2 / 2**12, True, 200) == (found.p, found.exact, found.n)


def test_missing_values_are_left_out() -> None:
    """A language's p is that of the clusters which have it, exact or drawn."""
    values = RNG.normal(size=(30, 3))
    values[9:, 1] = np.nan
    values[25:, 2] = np.nan
    found = sign_flip_test(values)
    assert [30, 9, 25] == [one.n for one in found]
    assert sign_flip_test(values[:9, [1]])[0] == found[1]
    [alone] = sign_flip_test(values[:25, [2]])
    assert alone.p == pytest.approx(found[2].p, abs=0.03)


def test_no_evidence() -> None:
    """Clusters without a difference, one cluster, and none."""
    table = np.full((20, 3), np.nan)
    table[:, 0] = 0.0
    table[3, 1] = 0.7
    ties, one, none = sign_flip_test(table)
    assert (1.0, 20) == (ties.p, ties.n)
    assert (1.0, 1) == (one.p, one.n)
    assert (None, 0, "no cluster has a value") == (none.p, none.n, none.reason)
    assert [] == sign_flip_test(np.zeros((4, 0)))
    assert [None] == [found.p for found in sign_flip_test(np.zeros((0, 1)))]


@pytest.mark.parametrize("values", [np.zeros(3), np.array([[math.inf], [0.0]])])
def test_mistakes(values: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> None:
    """What is no table of numbers, and no flips."""
    with pytest.raises(ValueError, match="clusters x columns"):
        sign_flip_test(values)
    with pytest.raises(ValueError, match="at least 1 flip"):
        sign_flip_test(np.zeros((3, 1)), flips=0)
