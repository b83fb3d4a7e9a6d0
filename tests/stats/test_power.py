"""Plans for means, against statsmodels, scipy and simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.power import TTestPower

from pytest_xling.stats.paired_means import detectable, paired_mean
from pytest_xling.stats.power import (
    Noise,
    designs,
    detectable_mean,
    noise_of,
    power_of_mean,
    samples_needed,
)

noises = st.builds(Noise, sd=st.floats(0.05, 2), icc=st.floats(0, 1))


@pytest.mark.parametrize("samples", [2, 3, 12, 100, 1000])
@pytest.mark.parametrize("alpha", [0.05, 0.005])
def test_power_is_that_of_the_t_test(samples: int, alpha: float) -> None:
    """One tail of a two-sided interval: the one-sided test with half of alpha."""
    expected = TTestPower().power(0.3 / 0.4, samples, alpha / 2, alternative="larger")
    found = power_of_mean(0.3, Noise(sd=0.4), samples=samples, alpha=alpha)
    assert float(expected) == pytest.approx(found, abs=1e-9)


@pytest.mark.parametrize("effect", [0.02, 0.1, 0.5])
def test_samples_are_statsmodels(effect: float) -> None:
    """Rounded up."""
    expected = TTestPower().solve_power(effect / 0.4, alpha=0.025, power=0.8, alternative="larger")
    assert math.ceil(expected) == samples_needed(effect, Noise(sd=0.4))


@settings(max_examples=40, deadline=None)
@given(noises, st.floats(0.02, 0.5), st.integers(1, 8), st.sampled_from([0.5, 0.8, 0.95]))
def test_so_many_samples_and_no_fewer(
    noise: Noise, effect: float, repeats: int, power: float
) -> None:
    """What is planned has the power; one sample less has not."""
    samples = samples_needed(effect, noise, repeats=repeats, power=power)
    assert samples is not None
    reached = [
        power_of_mean(effect, noise, samples=n, repeats=repeats) for n in (samples, samples - 1)
    ]
    assert reached[0] >= power - 1e-5
    assert reached[1] < power + 1e-5


@settings(max_examples=40, deadline=None)
@given(noises, st.integers(2, 400), st.integers(1, 8))
def test_what_is_detectable_is_detected(noise: Noise, samples: int, repeats: int) -> None:
    """With the probability that was asked for."""
    effect = detectable_mean(noise, samples=samples, repeats=repeats, power=0.9)
    assert effect is not None
    found = power_of_mean(effect, noise, samples=samples, repeats=repeats)
    assert 0.9 == pytest.approx(found, abs=1e-5)


@pytest.mark.parametrize("samples", [12, 50, 690])
def test_detectable_is_that_of_gates(samples: int) -> None:
    """Who approximate it by two quantiles of t."""
    noise = Noise(sd=0.4)
    expected = detectable(noise.error(samples), samples)
    assert expected == pytest.approx(detectable_mean(noise, samples=samples), rel=0.02)


def test_repeats_of_like_answers_do_not_help() -> None:
    """With an ICC of 1 a repeat is no sample; with 0 it is one."""
    assert samples_needed(0.1, Noise(sd=0.4), repeats=10) == samples_needed(0.1, Noise(sd=0.4))
    free = Noise(sd=0.4, icc=0.0)
    assert Noise(sd=0.4).error(500) == pytest.approx(free.error(100, 5))


def test_designs_trade_repeats_for_samples() -> None:
    """Fewer samples with more repeats, but more answers in all."""
    found = designs(0.03, Noise(sd=0.4, icc=0.5), repeats=(1, 2, 5))
    assert [1, 2, 5] == [design.repeats for design in found]
    assert [1398, 1049, 840] == [design.samples for design in found]
    assert [1398, 2098, 4200] == [design.answers for design in found]
    assert all(0.8 <= design.power < 0.801 for design in found)
    assert [] == designs(1e-9, Noise(sd=1.0))


@pytest.mark.parametrize("icc", [0.0, 0.4, 0.9])
def test_planned_power_is_reached(icc: float) -> None:
    """Of 4,000 simulated comparisons with repeats, the gates' interval finds as many as planned."""
    noise, samples, repeats = Noise(sd=0.5, icc=icc), 25, 4
    effect = detectable_mean(noise, samples=samples, repeats=repeats)
    assert effect is not None
    rng = np.random.default_rng(8)
    own = rng.normal(0, noise.sd * math.sqrt(icc), size=(4000, samples, 1))
    new = rng.normal(0, noise.sd * math.sqrt(1 - icc), size=(4000, samples, repeats))
    means = (effect + own + new).mean(axis=2)
    low = means.mean(axis=1) - stats.t.ppf(0.975, samples - 1) * stats.sem(means, axis=1)
    assert paired_mean(means[0].tolist()).low == pytest.approx(low[0])
    assert 0.8 == pytest.approx((low > 0).mean(), abs=0.025)


def test_noise_of_a_pilot() -> None:
    """With as many repeats each, the ICC is that of the one-way analysis of variance."""
    rng = np.random.default_rng(9)
    table = rng.normal(0, 0.3, size=(60, 1)) + rng.normal(0, 0.4, size=(60, 5))
    found = noise_of(table.tolist())
    f = stats.f_oneway(*table).statistic
    assert found is not None
    assert float((f - 1) / (f + 4)) == pytest.approx(found.icc)
    # The spread of single answers, and of the means of all repeats, which is what gates see.
    assert float(table.std(ddof=1)) == pytest.approx(found.sd, rel=0.01)
    seen = paired_mean(table.mean(axis=1).tolist())
    assert seen.error == pytest.approx(found.error(60, 5))


def test_noise_of_a_ragged_pilot() -> None:
    """Samples may have lost repeats, or all; single answers tell nothing of repeats."""
    rng = np.random.default_rng(10)
    table = [
        (rng.normal(0, 0.3) + rng.normal(0, 0.4, size=rng.integers(0, 6))).tolist()
        for _ in range(4000)
    ]
    found = noise_of(table)
    assert found is not None
    assert (0.5, 0.36) == pytest.approx((found.sd, found.icc), abs=0.03)
    single = noise_of([[0.1], [0.3], [0.2]])
    assert single is not None
    assert 1.0 == single.icc
    assert 0.1 == pytest.approx(single.sd)


@pytest.mark.parametrize("pilot", [[], [[0.3, 0.1]], [[0.2, 0.2], [0.2]], [[], []]])
def test_pilot_without_a_spread(pilot: list[list[float]]) -> None:
    """Nothing can be planned by it."""
    assert None is noise_of(pilot)


def test_one_sample_finds_nothing() -> None:
    """It has no spread."""
    noise = Noise(sd=0.1, icc=0.0)
    assert 0.0 == power_of_mean(1.0, noise, samples=1)
    assert None is detectable_mean(noise, samples=1)
    assert 2 == samples_needed(100.0, noise)


def test_mistakes() -> None:
    """Plans that are none."""
    noise = Noise(sd=0.1)
    with pytest.raises(ValueError, match="above 0, not 0"):
        samples_needed(0, noise)
    with pytest.raises(ValueError, match="power lies between"):
        samples_needed(0.1, noise, power=1.0)
    with pytest.raises(ValueError, match="alpha"):
        detectable_mean(noise, samples=9, alpha=0.0)
    with pytest.raises(ValueError, match="sd=0"):
        Noise(sd=0)
    with pytest.raises(ValueError, match="samples and repeats, not 9 and 0"):
        power_of_mean(0.1, noise, samples=9, repeats=0)
    with pytest.raises(ValueError, match="not a number"):
        noise_of([[0.1, math.nan], [0.2]])
