"""How numbers are worded: one way for each kind, wherever people read them."""

from __future__ import annotations

import pytest

from pytest_xling.gates.reasons import limit_of
from pytest_xling.gates.wording import Figures, percent
from pytest_xling.records import Estimate, Threshold, Verdict

NOISE = 1e-6


def _estimate(value: float, *, share: bool, pivot: str = "", trend: bool = False) -> Estimate:
    return Estimate(
        metric="m",
        language="hi",
        value=value,
        low=value - 0.01,
        high=value + 0.01,
        n=30,
        unscored=0,
        share=share,
        pivot=pivot,
        trend=trend,
    )


@pytest.mark.parametrize(
    ("share", "values", "worded"),
    [
        (True, [0.0557, 1.0], "5.6%"),
        (True, [-0.0001], "0.0%"),
        (True, [None], "–"),
        (False, [0.9137, 1.0], "0.914"),
        (False, [3.14159], "3.14"),
        (False, [47.123, None], "47.1"),
        (False, [512.4, 98.0], "512"),
    ],
)
def test_values(share: bool, values: list[float | None], worded: str) -> None:  # noqa: FBT001  a test's parameter
    """Shares are percentages with one decimal; other numbers have about three digits."""
    assert worded == Figures.fitting(values, share=share).value(values[0])


def test_shares_are_worded_as_rates_are() -> None:
    """Whether they stand in a table or in a sentence."""
    assert "7.4%" == percent(0.0741) == Figures.fitting([], share=True).value(0.0741)


@pytest.mark.parametrize(
    ("amount", "share", "worded"),
    [
        (0.0231, True, "2.3 pp worse"),
        (-0.41, True, "41.0 pp better"),
        (0.0004, True, "less than 0.1 pp worse"),
        (1e-9, True, "no worse"),
        (0.0231, False, "0.023 worse"),
        (-0.0002, False, "less than 0.001 better"),
    ],
)
def test_changes(amount: float, share: bool, worded: str) -> None:  # noqa: FBT001  a test's parameter
    """Differences of shares are in percentage points, never in percent or as a bare fraction."""
    figures = Figures.of(_estimate(amount, share=share, pivot="en"))
    assert worded == figures.change(amount, noise=NOISE)


def test_signs() -> None:
    """What is rounded to 0 has none."""
    figures = Figures.fitting([0.5], share=True, difference=True)
    assert ["+41.2 pp", "-0.3 pp", "0.0 pp", "0.0 pp"] == [
        figures.signed(value) for value in (0.412, -0.003, 0.0004, -0.0004)
    ]


def test_intervals() -> None:
    """Beside a value they have no unit; in a sentence a share's ends have it."""
    rates = Figures.fitting([], share=True)
    assert "1.0–25.8" == rates.interval(0.01, 0.2577)
    assert "" == rates.interval(None, None)
    assert ("1.0%", "25.8%") == rates.ends(0.01, 0.2577)
    gaps = Figures.fitting([], share=True, difference=True)
    assert ("-1.0", "25.8 pp") == gaps.ends(-0.01, 0.2577)


@pytest.mark.parametrize(
    ("limits", "share", "worded"),
    [
        ({"max_rate": 0.05}, True, "max 5.0%"),
        ({"max_rate": 0.0}, True, "max 0.0%"),
        ({"max_rate": 0.0025}, True, "max 0.25%"),
        ({"floor": 0.9}, False, "min 0.9"),
        ({"floor": 0.9}, True, "min 90.0%"),
        ({"ceiling": 1024.0}, False, "max 1024"),
        ({"ceiling": 1234567.5}, False, "max 1234567.5"),
        ({"floor": 10.0, "ceiling": 20.0}, False, "10 to 20"),
    ],
)
def test_limits(limits: dict[str, float], share: bool, worded: str) -> None:  # noqa: FBT001  a test's parameter
    """A gate's demand is in the unit of what it limits, and not rounded."""
    threshold = Threshold(benchmark="b", metric="m", language="hi", **limits)  # type: ignore[arg-type]  # all are floats
    assert worded == _limit(threshold, _estimate(0.5, share=share))


@pytest.mark.parametrize(
    ("share", "pivot", "trend", "worded"),
    [
        (True, "en", False, "max 5.0 pp worse"),
        (False, "en", False, "max 0.05 worse"),
        (True, "", True, "max 2.5 pp worse per level"),
        (False, "", True, "max 0.025 worse per level"),
    ],
)
def test_limits_of_differences(share: bool, pivot: str, trend: bool, worded: str) -> None:  # noqa: FBT001  a test's parameters
    """Of shares they are points, as the differences themselves are."""
    threshold = Threshold(
        benchmark="b", metric="m", language="hi", max_rate=0.1, max_gap=0.05, max_trend=0.025
    )
    assert worded == _limit(threshold, _estimate(0.03, share=share, pivot=pivot, trend=trend))


def test_a_number_has_no_fewer_digits_than_its_limit() -> None:
    """Or it could not be told from it."""
    made = _estimate(0.00042, share=False, pivot="en")
    assert "0.0004" == Figures.of(made, limit=0.0005).value(0.00042)


def _limit(threshold: Threshold, made: Estimate) -> str:
    verdict = Verdict(case="m-hi", outcome="pass", estimate=made, threshold=threshold, reason="")
    return limit_of(verdict)
