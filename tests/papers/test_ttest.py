"""Student's and Welch's t tests, against scipy and XLingEval's Table A12."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from pytest_xling.papers.xlingeval import t_test
from pytest_xling.stats.p_values import stars
from tests.papers.xlingeval_printed import PRINTED, Printed, identity, sample

values = st.lists(st.floats(0, 1).map(lambda x: round(x, 3)), min_size=2, max_size=9)


@pytest.mark.filterwarnings("ignore:Precision loss:RuntimeWarning")  # scipy's, of equal values
@settings(max_examples=50, deadline=None)
@given(values, values)
def test_agrees_with_scipy(first: list[float], second: list[float]) -> None:
    """Both tests on any two groups, the sign included, unless nothing varies within them."""
    for equal in (True, False):
        found = t_test(first, second, welch=not equal)
        if "t" not in found:
            assert "the values within each group are equal" == found["reason"]
            assert all(max(group) - min(group) < 1e-3 for group in (first, second))
            continue
        expected = stats.ttest_ind(first, second, equal_var=equal)
        assert expected.statistic == pytest.approx(found["t"], rel=1e-9, abs=1e-12)
        assert expected.pvalue == pytest.approx(found["p"], rel=1e-9)
        assert expected.df == pytest.approx(found["df"])


@pytest.mark.parametrize("printed", PRINTED, ids=identity)
def test_p_values_of_the_paper_follow_from_its_t(printed: Printed) -> None:
    """Table A12: each p within what the rounding of t allows, with as many stars as printed.

    That takes 2n - 2 degrees of freedom, so the test there was the pooled one.
    """
    for pair in printed.pairs:

        def p(t: float) -> float:
            # Means this far apart give this t where the spread is 1.
            first = sample(printed.n, t * math.sqrt(2 / printed.n), 1.0)
            found = t_test(first, sample(printed.n, 0.0, 1.0), welch=False)
            assert (t, 2 * printed.n - 2) == pytest.approx((found["t"], found["df"]))
            return float(found["p"])

        number = float(pair.p.rstrip("*"))
        assert p(pair.t + 0.005) * 0.995 <= number <= p(pair.t - 0.005) * 1.005
        assert stars(p(pair.t)) == pair.p[len(pair.p.rstrip("*")) :]


@pytest.mark.parametrize(
    ("first", "second", "pooled", "welch"),
    [
        ([1.0], [2.0], "each group has one value", "a group has one value only"),
        ([1.0, 1.0], [2.0, 2.0], "the values within each", "the values within each"),
        ([1.0, 1.0], [2.0], "the values within each", "a group has one value only"),
    ],
)
def test_no_t_has_a_reason(
    first: list[float], second: list[float], pooled: str, welch: str
) -> None:
    """Neither NaN nor infinity."""
    for by_welch, reason in ((False, pooled), (True, welch)):
        found = t_test(first, second, welch=by_welch)
        assert {"t", "df", "p"}.isdisjoint(found)
        assert found["reason"].startswith(reason)
