"""Means with clustered intervals agree with independent programs."""

from __future__ import annotations

import math

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from pytest_xling.stats.mean import Description, describe, mean_interval

NUMBERS = st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=40)


def test_one_answer_per_question_is_the_usual_t_interval() -> None:
    """Scipy's t interval comes out."""
    values = [3.1, 4.7, 2.2, 8.0, 5.5]
    expected = stats.t.interval(0.9, 4, loc=np.mean(values), scale=stats.sem(values))
    assert pytest.approx(expected) == mean_interval(values, "abcde", alpha=0.1)


def test_clusters_agree_with_statsmodels() -> None:
    """An intercept with cluster-robust errors comes out."""
    generator = np.random.default_rng(3)
    groups = generator.integers(0, 12, 90)
    values = generator.normal(groups, 1.0)
    fit = sm.OLS(values, np.ones(90)).fit(
        cov_type="cluster", cov_kwds={"groups": groups}, use_t=True
    )
    expected = fit.conf_int(0.05)[0]
    assert pytest.approx(expected.tolist()) == mean_interval(values.tolist(), groups.tolist())


def test_repeating_answers_changes_nothing() -> None:
    """Copies of the same answers carry no information."""
    values = [1.0, 4.0, 2.0]
    assert pytest.approx(mean_interval(values, "abc")) == mean_interval(values * 4, "abc" * 4)


def test_too_few_clusters() -> None:
    """One question, however often asked, has no spread between questions."""
    assert mean_interval([1.0, 2.0], "aa") is None
    assert mean_interval([], "") is None


def test_equal_values_leave_no_width() -> None:
    """Without spread the interval is the value."""
    assert (0.1, 0.1) == mean_interval([0.1] * 30, range(30))


@given(NUMBERS)
def test_interval_holds_the_mean(values: list[float]) -> None:
    """The mean lies inside."""
    low, high = mean_interval(values, range(len(values))) or (1.0, 0.0)
    assert low <= math.fsum(values) / len(values) <= high


@given(NUMBERS)
def test_description_agrees_with_numpy(values: list[float]) -> None:
    """Mean, median and standard deviation (divided by n - 1) are numpy's."""
    said = describe(values)
    spread = 1e-9 * (1 + max(map(abs, values)))
    assert len(values) == said.n
    assert pytest.approx(float(np.mean(values)), abs=spread) == said.mean
    assert pytest.approx(float(np.median(values)), abs=spread) == said.median
    assert pytest.approx(float(np.std(values, ddof=1)), abs=spread) == said.std


def test_descriptions_of_little() -> None:
    """What is not there is None, never 0 or NaN."""
    assert Description(n=0, mean=None, median=None, std=None) == describe([])
    assert Description(n=1, mean=2.0, median=2.0, std=None) == describe([2.0])


def test_bad_input() -> None:
    """Values that are no numbers, and lists of different lengths, are refused."""
    with pytest.raises(ValueError, match="infinite or not a number"):
        describe([1.0, math.nan])
    with pytest.raises(ValueError, match="infinite or not a number"):
        mean_interval([1.0, math.inf], "ab")
    with pytest.raises(ValueError, match="2 values but 1 clusters"):
        mean_interval([1.0, 2.0], "a")
