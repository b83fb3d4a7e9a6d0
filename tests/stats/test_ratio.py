"""Ratios of paired means, against the textbook's formula, the bootstrap and simulation."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from scipy import stats

from pytest_xling.stats.paired_means import paired_ratio


def test_rates_by_hand() -> None:
    """Both 20, only the first 15, only the second 5, neither 60: variance (b + c)/[(a+b)(a+c)]."""
    pairs = [(1.0, 1.0)] * 20 + [(1.0, 0.0)] * 15 + [(0.0, 1.0)] * 5 + [(0.0, 0.0)] * 60
    variance = (15 + 5) / (35 * 25) * 100 / 99
    factor = math.exp(stats.t.ppf(0.975, 99) * math.sqrt(variance))
    found = paired_ratio(pairs)
    assert (35 / 25, 35 / 25 / factor, 35 / 25 * factor, 100) == pytest.approx(
        (found.value, found.low, found.high, found.n)
    )


def test_agrees_with_the_bootstrap() -> None:
    """Resampling pairs, independent of any formula, gives about the same interval."""
    rng = np.random.default_rng(3)
    y = rng.binomial(3, 0.3, 300) / 3
    x = np.clip(y + rng.choice([-1 / 3, 0, 0, 1 / 3], 300), 0, 1)
    found = paired_ratio(list(zip(y.tolist(), x.tolist(), strict=True)))
    expected = stats.bootstrap(
        (y, x),
        lambda a, b, axis: np.log(a.mean(axis=axis) / b.mean(axis=axis)),
        paired=True,
        n_resamples=2000,
        rng=rng,
    ).confidence_interval
    assert found.low is not None
    assert found.high is not None
    assert (expected.low, expected.high) == pytest.approx(
        (math.log(found.low), math.log(found.high)), abs=0.01
    )


def test_keeps_its_coverage() -> None:
    """Of 500 simulated runs of 60 samples the interval holds the true ratio about as it says."""
    rng = random.Random(11)  # noqa: S311  a simulation, repeatable
    held = 0
    for _ in range(500):
        pairs = []
        for _ in range(60):
            both = rng.random() < 0.1
            pairs.append((float(both or rng.random() < 0.3), float(both or rng.random() < 0.1)))
        found = paired_ratio(pairs)
        true = (0.1 + 0.9 * 0.3) / (0.1 + 0.9 * 0.1)
        held += found.low is not None and found.high is not None and found.low <= true <= found.high
    assert 0.93 <= held / 500 <= 0.98


@pytest.mark.parametrize(
    ("pairs", "value"),
    [
        ([], None),
        ([(1.0, 0.0), (0.0, 0.0)], None),
        ([(0.0, 1.0), (0.0, 1.0)], 0.0),
        ([(1.0, 0.5)], 2.0),
    ],
)
def test_no_interval(pairs: list[tuple[float, float]], value: float | None) -> None:
    """A mean of 0 has no logarithm and one sample no spread."""
    found = paired_ratio(pairs)
    assert (value, None, None, len(pairs)) == (found.value, found.low, found.high, found.n)


@pytest.mark.parametrize("bad", [-1.0, math.nan, math.inf])
def test_values_that_have_no_ratio(bad: float) -> None:
    """Mistakes of the caller."""
    with pytest.raises(ValueError, match="not negative"):
        paired_ratio([(1.0, 1.0), (bad, 1.0)])
