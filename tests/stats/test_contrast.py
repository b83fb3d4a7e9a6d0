"""Differences and slopes of estimates, against published numbers and scipy."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_xling.stats.contrast import COUNTED, Interval, contrast, difference, ratio
from pytest_xling.stats.rate_intervals import wilson_interval
from tests.intervals import ends

if TYPE_CHECKING:
    from collections.abc import Hashable


def _wilson(raised: int, n: int) -> Interval:
    low, high = wilson_interval(raised / n, n) or (None, None)
    return Interval(value=raised / n, low=low, high=high)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ((56, 70), (48, 80), (0.0524, 0.3339)),
        ((9, 10), (3, 10), (0.1705, 0.8090)),
        ((0, 10), (0, 20), (-0.1611, 0.2775)),
    ],
)
def test_newcombes_examples(
    first: tuple[int, int], second: tuple[int, int], expected: tuple[float, float]
) -> None:
    """Newcombe (1998), Statistics in Medicine 17, 873-890, Table II, method 10."""
    made = difference(_wilson(*first), _wilson(*second))
    assert expected == pytest.approx((made.low, made.high), abs=6e-5)


def test_of_the_same_questions() -> None:
    """What both have of a question cancels but for a little: nearly paired means' error."""
    rng = np.random.default_rng(1)
    shared = rng.normal(size=200)
    sides = [shared + 0.3 * rng.normal(size=200) for _ in range(2)]
    estimates = []
    for side in sides:
        error = side.std() / math.sqrt(200)
        mean = float(side.mean())
        added: dict[Hashable, float] = dict(enumerate(((side - mean) / 200).tolist()))
        estimates.append(
            Interval(
                value=mean,
                low=mean - 1.96 * error,
                high=mean + 1.96 * error,
                error=error,
                influence=added,
            )
        )
    made = difference(estimates[0], estimates[1])
    whole = float((sides[0] - sides[1]).var())
    counted = COUNTED * whole + (1 - COUNTED) * sum(float(side.var()) for side in sides)
    error = math.sqrt(counted / 200)
    assert made.value is not None
    assert made.error == pytest.approx(error)
    assert (made.value - 1.96 * error, made.value + 1.96 * error) == pytest.approx(
        (made.low, made.high)
    )


def test_a_slope() -> None:
    """Of independent estimates errors are added by squares; ends change sides where c < 0."""
    estimates = [Interval(value=v, low=v - 0.1, high=v + 0.2, error=0.1) for v in (0.2, 0.3, 0.5)]
    made = contrast(estimates, [-0.5, 0.0, 0.5])
    assert 0.15 == pytest.approx(made.value)
    assert (0.15 - math.hypot(0.1, 0.05), 0.15 + math.hypot(0.05, 0.1)) == pytest.approx(
        (made.low, made.high)
    )
    assert math.hypot(0.05, 0.05) == pytest.approx(made.error)


def test_without_an_estimate() -> None:
    """There is none of a difference either; and coefficients are one for each."""
    assert Interval() == difference(_wilson(1, 9), Interval())
    with pytest.raises(ValueError, match="1 estimates, 2 coefficients"):
        contrast([_wilson(1, 9)], [1.0, -1.0])


@given(
    above=st.floats(0.05, 0.9),
    below=st.floats(0.05, 0.9),
    lengths=st.tuples(*[st.floats(0.01, 0.99)] * 4),
    shared=st.floats(-1, 1),
)
def test_a_ratio_ends_where_a_contrast_holds_0(
    above: float, below: float, lengths: tuple[float, ...], shared: float
) -> None:
    """Of first - r second, with r an end, the interval ends at 0."""
    down, up, under, over = lengths
    first = Interval(
        value=above, low=above * (1 - down), high=above + up, error=0.1, influence={0: 0.1}
    )
    second = Interval(
        value=below,
        low=below * (1 - under),
        high=below + over,
        error=0.1,
        influence={0: shared / 10},
    )
    made = ratio(first, second)
    assert made.value == pytest.approx(above / below)
    low, high = ends(made)
    assert 0 <= low <= above / below <= high
    assert 0 == pytest.approx(contrast([first, second], [1.0, -low]).low, abs=1e-6)
    assert 0 == pytest.approx(contrast([first, second], [1.0, -high]).high, abs=1e-6)


def test_fiellers_ratio() -> None:
    """Of normal estimates it is his: 10 ± 1 and 5 ± 0.5, independent."""
    z = 1.96
    first = Interval(value=10.0, low=10 - z, high=10 + z, error=1.0)
    second = Interval(value=5.0, low=5 - z / 2, high=5 + z / 2, error=0.5)
    g = (z * 0.5 / 5) ** 2
    half = z / 5 * math.sqrt(1 * (1 - g) + 4 * 0.25)
    made = ratio(first, second)
    assert ((2 - half) / (1 - g), (2 + half) / (1 - g)) == pytest.approx((made.low, made.high))


@pytest.mark.parametrize(
    ("first", "second"), [((1.0, 0.9, 1.1), (0.1, 0.0, 0.3)), ((0.1, -0.1, 0.3), (1.0, 0.9, 1.1))]
)
def test_no_ratio_to_what_may_be_nothing(
    first: tuple[float, float, float], second: tuple[float, float, float]
) -> None:
    """Nor of what may be below 0."""
    above, below = (
        Interval(value=value, low=low, high=high) for value, low, high in (first, second)
    )
    assert Interval() == ratio(above, below)
