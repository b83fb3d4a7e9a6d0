"""Tukey's HSD, against statsmodels and XLingEval's Tables 2 and 3."""

from __future__ import annotations

import pytest
from statsmodels.stats.multicomp import pairwise_tukeyhsd

from pytest_xling.papers.xlingeval import tukey
from pytest_xling.stats.p_values import stars
from tests.papers.xlingeval_printed import PRINTED, ROUNDING, Printed, identity

GROUPS = {
    "en": [0.91, 0.95, 0.88, 0.97],
    "es": [0.9, 0.93, 0.86],
    "hi": [0.71, 0.8, 0.77, 0.69, 0.92],
}

MISPRINTS = {
    # A mean difference of -0.0004 in an interval of ±0.034 has p = 0.99999.
    ("sim_hdp", 1.0, "en", "es"): "0.9909",
    # Three stars are due, as es-zh next to it has.
    ("sim_hdp", 1.0, "en", "zh"): "0.0004**",
    ("sim_hdp", 0.0, "es", "hi"): "<0.001",
}


@pytest.mark.parametrize("alpha", [0.05, 0.01])
def test_agrees_with_statsmodels(alpha: float) -> None:
    """Differences, intervals and p values, sizes being different."""
    values = [value for group in GROUPS.values() for value in group]
    names = [name for name, group in GROUPS.items() for _ in group]
    expected = pairwise_tukeyhsd(values, names, alpha=alpha)
    found = tukey(GROUPS, alpha=alpha)
    assert [("en", "es"), ("en", "hi"), ("es", "hi")] == [(d["first"], d["second"]) for d in found]
    assert list(expected.meandiffs) == pytest.approx([d["difference"] for d in found])
    assert list(expected.confint[:, 0]) == pytest.approx([d["low"] for d in found])
    assert list(expected.confint[:, 1]) == pytest.approx([d["high"] for d in found])
    assert list(expected.pvalues) == pytest.approx([d["p"] for d in found])


@pytest.mark.parametrize("printed", PRINTED, ids=identity)
def test_intervals_and_p_values_of_the_paper(printed: Printed) -> None:
    """From the means and one width, all of Tables 2 and 3 follows but for three misprints."""
    unit = tukey(printed.groups(1.0))[0]
    found = tukey(printed.groups(printed.half_width() / (unit["high"] - unit["difference"])))
    for pair, made in zip(printed.pairs, found, strict=True):
        assert (pair.first, pair.second) == (made["first"], made["second"])
        assert pair.mean == pytest.approx(made["difference"], abs=2.1 * ROUNDING)
        assert pair.low == pytest.approx(made["low"], abs=3 * ROUNDING)
        assert pair.high == pytest.approx(made["high"], abs=3 * ROUNDING)
        place = (printed.metric, printed.temperature, pair.first, pair.second)
        if place in MISPRINTS:
            assert MISPRINTS[place] == pair.p_adj
            continue
        number = pair.p_adj.rstrip("*")
        assert pair.p_adj == f"{number}{stars(made['p'])}"
        if number == "<0.001":
            assert made["p"] < 0.001
        else:
            assert float(number) == pytest.approx(made["p"], abs=0.007)


def test_swapping_groups_swaps_the_sign() -> None:
    """The same pair, seen from the other side."""
    one = tukey(GROUPS)[0]
    other = tukey({"es": GROUPS["es"], "en": GROUPS["en"], "hi": GROUPS["hi"]})[0]
    turned = (-one["difference"], -one["high"], -one["low"])
    assert turned == pytest.approx((other["difference"], other["low"], other["high"]))
    assert one["p"] == pytest.approx(other["p"])


@pytest.mark.parametrize(
    "groups", [{"en": [1.0, 1.0], "hi": [0.5, 0.5]}, {"en": [1.0], "hi": [0.5]}]
)
def test_without_spread_there_is_no_interval(groups: dict[str, list[float]]) -> None:
    """The difference is told, and why it has neither interval nor p."""
    (found,) = tukey(groups)
    assert -0.5 == found["difference"]
    assert {"low", "high", "p"}.isdisjoint(found)
    assert "there is no spread within the groups" == found["reason"]


def test_p_values_stay_in_range() -> None:
    """The numeric integral may miss 0; a probability does not."""
    (found,) = tukey({"en": [1.0, 1.01, 1.02], "hi": [100.0, 100.0, 100.01]})
    assert 0 <= found["p"] < 1e-6


@pytest.mark.parametrize(
    ("p", "expected"),
    [(None, ""), (0.05, ""), (0.049, "*"), (0.01, "*"), (0.0099, "**"), (0.001, "**"), (0, "***")],
)
def test_stars(p: float | None, expected: str) -> None:
    """Below .05, .01 and .001."""
    assert expected == stars(p)
