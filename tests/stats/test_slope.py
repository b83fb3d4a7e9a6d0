"""Slopes of a claim's answers over levels, against scipy."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from pytest_xling.stats.trend import slope, slopes, steepest

points = st.dictionaries(st.integers(0, 4), st.floats(0, 1), min_size=2, max_size=5)


@settings(max_examples=60, deadline=None)
@given(points)
def test_agrees_with_scipy(found: dict[int, float]) -> None:
    """Least squares."""
    expected = stats.linregress(list(found), list(found.values())).slope
    assert expected == pytest.approx(slope(found), abs=1e-9)


def test_one_point_has_no_slope() -> None:
    """Nor has none."""
    assert slope({2: 1.0}) is None
    assert slope({}) is None


@pytest.mark.parametrize("size", [2, 3, 4, 5])
def test_none_is_steeper(size: int) -> None:
    """Of all ways to be 0 or 1 at some levels."""
    for levels in itertools.combinations(range(5), size):
        slopes = [
            slope(dict(zip(levels, values, strict=True)))
            for values in itertools.product((0.0, 1.0), repeat=size)
        ]
        assert max(found for found in slopes if found is not None) == pytest.approx(
            steepest(levels)
        )


def test_five_levels_by_hand() -> None:
    """0 0 1 1 1 or 0 0 0 1 1: 3/10."""
    assert 0.3 == pytest.approx(steepest(range(5)))
    with pytest.raises(ValueError, match="two different places"):
        steepest([3, 3])


def test_of_whole_lines_the_values_are_their_slopes() -> None:
    """With the same places, each line counts alike."""
    lines = [{0: 0.0, 1: 0.5, 2: 1.0}, {0: 1.0, 1: 1.0, 2: 0.0}, {0: 0.2, 1: 0.1, 2: 0.7}]
    assert slopes(lines) == [pytest.approx(slope(line)) for line in lines]


def test_a_short_line_tells_little_of_the_common_slope() -> None:
    """It is the within estimator: numpy's least squares with a constant for each line."""
    lines = [{0: 0.0, 1: 0.0, 2: 0.0, 3: 0.0, 4: 1.0}, {3: 0.0, 4: 1.0}, {0: 1.0, 4: 0.0}, {2: 1.0}]
    values = slopes(lines)
    assert 3 == len(values)
    rows = [(number, x, y) for number, line in enumerate(lines) for x, y in line.items()]
    design = np.array([[x, *(n == k for k in range(len(lines)))] for n, x, _ in rows], dtype=float)
    fitted = np.linalg.lstsq(design, np.array([y for *_, y in rows]), rcond=None)[0]
    assert np.mean(values) == pytest.approx(fitted[0])


def test_lines_without_two_points_have_no_value() -> None:
    """Nor has nothing."""
    assert [] == slopes([{}, {3: 1.0}])
