"""How numbers are worded."""

from __future__ import annotations

import pytest

from pytest_xling.records import Threshold
from pytest_xling.reports.figures import Figures, limit_of


@pytest.mark.parametrize(
    ("kind", "values", "worded"),
    [
        ("flag", [0.0557, 1.0], "5.6%"),
        ("number", [0.9137, 1.0], "0.914"),
        ("number", [3.14159], "3.14"),
        ("number", [47.123, None], "47.1"),
        ("number", [512.4, 98.0], "512"),
        ("flag", [None], "–"),
    ],
)
def test_values(kind: str, values: list[float | None], worded: str) -> None:
    """Rates are percentages with one decimal; means have about three digits."""
    figures = Figures.fitting("flag" if kind == "flag" else "number", values)
    assert worded == figures.value(values[0])


def test_intervals() -> None:
    """Ends are worded as the value is, without the percent sign; none is nothing."""
    figures = Figures.fitting("flag", [])
    assert "1.0–25.8" == figures.interval(0.01, 0.2577)
    assert "" == figures.interval(None, None)


@pytest.mark.parametrize(
    ("limits", "worded"),
    [
        ({"max_rate": 0.05}, "max 5%"),
        ({"max_rate": 0.0}, "max 0%"),
        ({"floor": 0.9}, "min 0.9"),
        ({"ceiling": 1024.0}, "max 1024"),
        ({"floor": 10.0, "ceiling": 20.0}, "10 to 20"),
    ],
)
def test_limits(limits: dict[str, float], worded: str) -> None:
    """A gate's demand in two words."""
    threshold = Threshold(benchmark="b", metric="m", language="hi", **limits)  # type: ignore[arg-type]  # all are floats
    assert worded == limit_of(threshold)
