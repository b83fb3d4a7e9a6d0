"""Analysis of variance, against scipy and XLingEval's Table A13."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from pytest_xling.papers.xlingeval import anova, tukey
from tests.papers.xlingeval_printed import PRINTED, ROUNDING, Printed, identity, sample

values = st.lists(st.floats(0, 1).map(lambda x: round(x, 4)), min_size=2, max_size=8)


@settings(max_examples=50, deadline=None)
@given(st.lists(values, min_size=2, max_size=5))
def test_agrees_with_scipy(groups: list[list[float]]) -> None:
    """F and p of any groups, unless nothing varies within them."""
    found = anova(groups)
    if "f" not in found:
        assert "the values within each group are equal" == found["reason"]
        assert all(max(group) - min(group) < 1e-3 for group in groups)
    else:
        expected = stats.f_oneway(*groups)
        assert expected.statistic == pytest.approx(found["f"], rel=1e-7, abs=1e-9)
        # Equal means may give scipy an F just below 0, and no p.
        if expected.statistic > 1e-9:
            assert expected.pvalue == pytest.approx(found["p"], rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("printed", PRINTED, ids=identity)
def test_f_of_the_paper_follows_from_its_intervals(printed: Printed) -> None:
    """Table A13's F within what the rounding of Tables 2 and 3 allows: all six metrics, twice.

    The half-width of a Tukey interval is the quantile of the studentized range times the standard
    error of a mean, which no table prints; nor do they print how many answers there were.
    """
    unit = tukey(printed.groups(1.0))[0]
    quantile = unit["high"] - unit["difference"]
    spread = max(printed.means().values()) - min(printed.means().values())

    def f(half_width: float) -> float:
        return float(anova(list(printed.groups(half_width / quantile).values()))["f"])

    middle = f(printed.half_width())
    # Ends and means are each off by at most ROUNDING; F goes with the square of their quotient.
    off = (1 + ROUNDING / printed.half_width()) * (1 + 2 * ROUNDING / spread)
    assert middle / off**2 <= printed.F <= middle * off**2
    assert off**2 < 1.06
    assert middle == pytest.approx(printed.F, rel=0.006)


@pytest.mark.parametrize("printed", PRINTED, ids=identity)
def test_p_of_the_paper_follows_from_its_f(printed: Printed) -> None:
    """Table A13's p, down to 1e-158, within what the two digits of F after the point allow."""

    # Three equal means and one apart: F = n·d²/4 where the spread is 1.
    def p(f: float) -> float:
        apart = math.sqrt(4 * f / printed.n)
        found = anova([sample(printed.n, mean, 1.0) for mean in (0, 0, 0, apart)])
        assert f == pytest.approx(found["f"])
        assert (3, 4 * (printed.n - 1)) == (found["df_between"], found["df_within"])
        return float(found["p"])

    p_printed = float(printed.p)
    assert p(printed.F + 0.005) * 0.998 <= p_printed <= p(printed.F - 0.005) * 1.002


@pytest.mark.parametrize(
    ("groups", "reason"),
    [
        ([], "needs two groups"),
        ([[1.0, 2.0]], "needs two groups"),
        ([[1.0], [2.0]], "no group has two values"),
        ([[1.0, 1.0], [1.0, 1.0]], "the values within each group are equal"),
        ([[1.0, 1.0 - 6e-8], [1.0, 1.0]], "the values within each group are equal"),
    ],
)
def test_no_f_has_a_reason(groups: list[list[float]], reason: str) -> None:
    """Neither NaN nor infinity, nor an F made of the rounding of equal similarities."""
    found = anova(groups)
    assert (None, None, reason) == (found.get("f"), found.get("p"), found["reason"])


@pytest.mark.parametrize("values", [[], [math.nan], [1.0, math.inf]])
def test_groups_that_are_none(values: list[float]) -> None:
    """An empty group and one with a value that is none are mistakes."""
    with pytest.raises(ValueError, match="a group needs a value, and only finite ones"):
        anova([[1.0, 2.0], values])
