"""Bootstrap intervals over clusters, against scipy, by hand and by laws."""

from __future__ import annotations

import math
import tracemalloc
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from pytest_xling.stats.cluster_bootstrap import (
    _acceleration,
    _intervals,
    cluster_bootstrap,
)
from tests.intervals import ends

if TYPE_CHECKING:
    from numpy.typing import NDArray

RNG = np.random.default_rng(1)
SKEWED = RNG.exponential(size=(40, 3))


@pytest.mark.parametrize("alpha", [0.05, 0.2])
@pytest.mark.parametrize("values", [SKEWED[:, 0], np.repeat([0.0, 1.0], [31, 9])])
def test_interval_is_scipys(values: NDArray[np.float64], alpha: float) -> None:
    """Of the same resampled means scipy reads the same ends, bias, acceleration and all."""
    peers = stats.bootstrap(
        (values,), np.mean, n_resamples=3000, confidence_level=1 - alpha, method="BCa", rng=2
    )
    column = values[:, None]
    [found] = _intervals(
        np.sort(peers.bootstrap_distribution)[None, :],
        values.mean(keepdims=True),
        _acceleration(column, np.ones_like(column)),
        np.array([len(values)]),
        alpha=alpha,
        margin=0.0,
        expanded=False,
    )
    expected = (peers.confidence_interval.low, peers.confidence_interval.high)
    assert expected == pytest.approx(ends(found))
    assert float(peers.standard_error) == pytest.approx(found.error)


def test_resamples_are_as_scipys() -> None:
    """With draws of our own, but for what chance makes of 40,000."""
    found = cluster_bootstrap(SKEWED, resamples=40_000, expanded=False)
    for values, ours in zip(SKEWED.T, found, strict=True):
        peers = stats.bootstrap((values,), np.mean, n_resamples=40_000, method="BCa", rng=2)
        expected = (peers.confidence_interval.low, peers.confidence_interval.high)
        assert expected == pytest.approx(ends(ours), abs=0.05 * peers.standard_error)
        assert float(values.mean()) == pytest.approx(ours.mean)


def test_expansion_is_that_of_students_t() -> None:
    """Where resampled means are normal the expanded interval is the one of the t test."""
    values = stats.norm.ppf((np.arange(12) + 0.5) / 12)
    [found] = cluster_bootstrap(values[:, None], resamples=200_000)
    expected = stats.ttest_1samp(values, 0).confidence_interval()
    assert (expected.low, expected.high) == pytest.approx(ends(found), rel=0.06)
    [narrow] = cluster_bootstrap(values[:, None], resamples=200_000, expanded=False)
    assert ends(narrow)[1] < 0.9 * ends(found)[1]


@settings(max_examples=25, deadline=None)
@given(st.integers(2, 25), st.integers(0, 10_000), st.floats(-3, 3), st.floats(0.1, 10))
def test_moves_with_the_values(n: int, seed: int, shift: float, scale: float) -> None:
    """Shifted and stretched values have their interval shifted and stretched."""
    values = np.random.default_rng(seed).normal(size=(n, 1))
    [found] = cluster_bootstrap(values, resamples=300, alpha=0.2)
    [moved] = cluster_bootstrap(shift + scale * values, resamples=300, alpha=0.2)
    if found.low is None:
        assert None is moved.low
        return
    expected = [shift + scale * end for end in ends(found)]
    assert expected == pytest.approx(ends(moved), abs=1e-9 * scale + 1e-12)


@settings(max_examples=40, deadline=None)
@given(
    st.integers(3, 40),
    st.integers(0, 10_000),
    st.floats(-0.6, 0.6),
    st.sampled_from([0.05, 0.2]),
    st.booleans(),
)
def test_p_goes_with_the_interval(
    n: int,
    seed: int,
    margin: float,
    alpha: float,
    expanded: bool,  # noqa: FBT001  drawn
) -> None:
    """It is below alpha where the interval leaves the margin out, but right at its ends."""
    values = np.random.default_rng(seed).gamma(2.0, size=(n, 1)) - 2
    [found] = cluster_bootstrap(
        values, resamples=4999, margin=margin, alpha=alpha, expanded=expanded
    )
    if found.p is None:
        assert n < 10
        return
    low, high = ends(found)
    if min(abs(margin - low), abs(margin - high)) > 0.02 * (high - low):
        assert (found.p < alpha) == (not low <= margin <= high)


def test_columns_do_not_disturb_each_other() -> None:
    """A language has the same interval alone and among many."""
    values = RNG.normal(size=(30, 5))
    together = cluster_bootstrap(values, resamples=500)
    alone = [cluster_bootstrap(values[:, [column]], resamples=500)[0] for column in range(5)]
    for one, other in zip(alone, together, strict=True):
        assert ends(one) == pytest.approx(ends(other), abs=1e-12)
        assert one.p == pytest.approx(other.p)


def test_blocks_are_one_table() -> None:
    """Columns beyond what is held at once are drawn alike."""
    values = RNG.normal(size=(10, 50))
    found = cluster_bootstrap(np.tile(values, 10), resamples=20_000)
    assert found[:50] == found[450:]


def test_missing_values_are_left_out() -> None:
    """A column's interval is about that of the clusters that have a value."""
    values = RNG.normal(size=(120, 2))
    values[80:, 1] = np.nan
    _, found = cluster_bootstrap(values, resamples=20_000)
    [alone] = cluster_bootstrap(values[:80, [1]], resamples=20_000)
    assert 80 == found.n
    assert alone.mean == pytest.approx(found.mean)
    assert ends(alone) == pytest.approx(ends(found), abs=0.1 * (alone.error or 0.0))


def test_few_values_among_many_clusters() -> None:
    """They are drawn among themselves, or some draws would hold no value at all."""
    values = np.full((50, 2), np.nan)
    values[:, 0] = RNG.normal(size=50)
    values[:6, 1] = [0.1, 0.4, 0.2, 0.35, 0.15, 0.3]
    _, found = cluster_bootstrap(values, resamples=20_000)
    [alone] = cluster_bootstrap(values[:6, [1]], resamples=20_000)
    assert 6 == found.n
    assert alone == found
    assert 0.1 < ends(found)[0] < 0.2


@pytest.mark.parametrize(
    ("column", "mean", "n", "reason"),
    [
        ([math.nan] * 4, None, 0, "no cluster has a value"),
        ([0.3, math.nan, math.nan, math.nan], 0.3, 1, "one cluster has no spread"),
        ([0.25] * 4, 0.25, 4, "all 4 clusters are equal"),
        ([0.0] * 4, 0.0, 4, "all 4 clusters are equal"),
        ([0.9, 0.9 + 1e-8, 0.9 - 1e-8, 0.9], 0.9, 4, "all 4 clusters are equal"),
        ([0.1, 0.9, 0.2, 0.4], 0.4, 4, "4 clusters, drawn 200 times, never go as far"),
    ],
)
def test_no_telling(column: list[float], mean: float | None, n: int, reason: str) -> None:
    """Where drawing shows no spread there is no interval but a reason, also beside a good one."""
    values = np.full((40, 2), math.nan)
    values[:, 0] = SKEWED[:, 0]
    values[:4, 1] = column
    good, found = cluster_bootstrap(values, resamples=200)
    assert (None, None, None, None) == (found.low, found.high, found.error, found.p)
    assert (mean if mean is None else pytest.approx(mean), n) == (found.mean, found.n)
    assert reason in found.reason
    assert "" == good.reason


def test_nothing_at_all() -> None:
    """No columns, and no clusters."""
    assert [] == cluster_bootstrap(np.zeros((5, 0)))
    [found] = cluster_bootstrap(np.zeros((0, 1)))
    assert (None, 0) == (found.mean, found.n)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.sampled_from([-1.0, 0.0, 0.0, 0.5, 1.0, math.nan]), min_size=1, max_size=12),
    st.sampled_from([1e-6, 0.05, 0.5]),
)
def test_never_nan(values: list[float], alpha: float) -> None:
    """Ties and gaps, however few: numbers within what was seen, or None with a reason."""
    [found] = cluster_bootstrap(np.array(values)[:, None], resamples=100, alpha=alpha)
    seen = [value for value in values if not math.isnan(value)]
    if found.low is None or found.high is None:
        assert found.reason
        assert found.p is None
        return
    assert min(seen) <= found.low <= found.high <= max(seen)
    assert found.p is not None
    assert 0 < found.p <= 1


@pytest.mark.slow
def test_many_languages_stay_small() -> None:
    """1,000 samples, 30 languages and 10,000 resamples take less than 300 MB."""
    values = RNG.normal(size=(1000, 30))
    values[RNG.random(values.shape) < 0.05] = np.nan
    tracemalloc.start()
    found = cluster_bootstrap(values)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert 30 == len(found)
    assert peak < 300e6


def test_mistakes() -> None:
    """What is no table, no number or no plan."""
    with pytest.raises(ValueError, match="clusters x columns, not an array of 1"):
        cluster_bootstrap(np.zeros(3))
    with pytest.raises(ValueError, match="infinite"):
        cluster_bootstrap(np.array([[math.inf], [0.0]]))
    with pytest.raises(ValueError, match="100 resamples or more, not 10"):
        cluster_bootstrap(SKEWED, resamples=10)
    with pytest.raises(ValueError, match="alpha"):
        cluster_bootstrap(SKEWED, alpha=1.0)
