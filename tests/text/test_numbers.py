"""How numbers are worded: one way for each kind, wherever people read them."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_xling.gates.reasons import limit_of
from pytest_xling.records import Verdict
from pytest_xling.text.numbers import (
    NONE,
    Figures,
    age_text,
    amount,
    dollars,
    duration,
    measured,
    p_cell,
    percent,
)
from tests.gates.judging import estimated, limits


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
    assert not share or values[0] is None or worded == percent(values[0])


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
    figures = Figures.of(estimated(amount, high=amount + 0.01, share=share, pivot="en"))
    assert worded == figures.change(amount, noise=1e-6)


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


BOTH = {"max_rate": 0.1, "max_gap": 0.05, "max_trend": 0.025}


@pytest.mark.parametrize(
    ("demands", "kind", "worded", "of_number"),
    [
        ({"max_rate": 0.05}, {}, "max 5.0%", None),
        ({"max_rate": 0.0}, {}, "max 0.0%", None),
        ({"max_rate": 0.0025}, {}, "max 0.25%", None),
        ({"floor": 0.9}, {}, "min 90.0%", "min 0.9"),
        ({"ceiling": 1024.0}, {}, None, "max 1024"),
        ({"ceiling": 1234567.5}, {}, None, "max 1234567.5"),
        ({"floor": 10.0, "ceiling": 20.0}, {}, None, "10 to 20"),
        # Of differences of shares they are points, as these themselves are.
        (BOTH, {"pivot": "en"}, "max 5.0 pp worse", "max 0.05 worse"),
        (BOTH, {"trend": True}, "max 2.5 pp worse per level", "max 0.025 worse per level"),
    ],
)
def test_limits(
    demands: dict[str, float], kind: dict[str, Any], worded: str | None, of_number: str | None
) -> None:
    """A gate's demand is in the unit of what it limits, a share or not, and not rounded."""
    for share, expected in ((True, worded), (False, of_number)):
        made = estimated(0.5, high=0.51, share=share, **kind)
        verdict = Verdict(
            case="m-hi", outcome="pass", estimate=made, threshold=limits(**demands), reason=""
        )
        assert expected in {None, limit_of(verdict)}


def test_a_number_has_no_fewer_digits_than_its_limit() -> None:
    """Or it could not be told from it."""
    made = estimated(0.00042, high=0.01, pivot="en")
    assert "0.0004" == Figures.of(made, limit=0.0005).value(0.00042)


@pytest.mark.parametrize(
    ("usd", "worded"),
    [
        (None, "unknown"),
        (0.0, "$0"),
        (0.0004, "$0.0004"),
        (0.000123, "$0.00012"),
        (0.05, "$0.05"),
        (0.5, "$0.50"),
        (1.25, "$1.25"),
        (12345.678, "$12,345.68"),
    ],
)
def test_prices(usd: float | None, worded: str) -> None:
    """Cents, and two digits of what is less than ten of them: a cheap answer is not free."""
    assert worded == dollars(usd)


@pytest.mark.parametrize(
    ("seconds", "worded"),
    [
        (0.0, "0 s"),
        (0.42, "0.4 s"),
        (9.96, "10 s"),
        (59.6, "1 min 0 s"),
        (185.0, "3 min 5 s"),
        (7800.0, "2 h 10 min"),
    ],
)
def test_durations(seconds: float, worded: str) -> None:
    """One decimal below ten seconds; hours have no seconds."""
    assert worded == duration(seconds)


def test_measures_of_agreement() -> None:
    """Two digits, with the interval where there is one; a dash that no minus is taken for."""
    made = estimated(0.754, low=0.7, high=0.8, n=40)
    assert ["0.75 (0.70–0.80)", "0.75", ""] == [
        measured(made),
        measured(made, interval=False),
        measured(None),
    ]
    assert "-0.10 (-0.30 to 0.10)" == measured(estimated(-0.1, low=-0.3, high=0.1, n=40))


def test_other_numbers() -> None:
    """P below its head, how many there are, how old something is."""
    assert [NONE, "< .001", ".024"] == [p_cell(None), p_cell(1e-9), p_cell(0.024)]
    assert ["1 answer", "2,000 answers"] == [amount(n, "answer") for n in (1, 2000)]
    assert ["less than a minute", "1 hour", "3 weeks"] == [
        age_text(seconds) for seconds in (59, 7199, 22 * 86400)
    ]
