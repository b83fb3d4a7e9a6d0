"""Plans for rates, against all tables one by one, simulation and each other."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from pytest_xling.stats.power import (
    PairedRates,
    exact_pairs,
    exact_power,
    normal_pairs,
    normal_power,
    samples_needed,
)
from pytest_xling.stats.tango import RateDifference

RATES = PairedRates(worse=0.25, better=0.1)


def _found(worse: float, better: float, pairs: float, margin: float) -> bool:
    """Tell whether so many pairs are beyond the margin by the interval and the exact test."""
    rates = RateDifference(
        difference=(worse - better) / pairs, differing=(worse + better) / pairs, pairs=pairs
    )
    return rates.interval()[0] > margin and rates.exact_p(margin) <= 0.025


@pytest.mark.parametrize("margin", [0.0, 0.1])
@pytest.mark.parametrize("pairs", [0, 5, 9, 30])
def test_all_tables(pairs: int, margin: float) -> None:
    """Every table that is beyond the margin by both, by its multinomial probability."""
    expected = sum(
        stats.multinomial.pmf([b, c, pairs - b - c], pairs, [0.25, 0.1, 0.65])
        for b in range(pairs + 1)
        for c in range(pairs - b + 1)
        if pairs and _found(b, c, pairs, margin)
    )
    assert float(expected) == pytest.approx(exact_power(RATES, pairs, margin=margin), abs=1e-9)


def test_pairs_that_all_differ() -> None:
    """Then it is the power of a test of the binomial distribution: more than 1.96 √40 apart."""
    found = exact_power(PairedRates(worse=0.7, better=0.3), 40)
    critical = max(c for c in range(20) if 40 - 2 * c > 1.96 * math.sqrt(40))
    assert float(stats.binom.cdf(critical, 40, 0.3)) == pytest.approx(found)


def test_connor_by_hand() -> None:
    """(1.96 √.35 + .8416 √(.35 - .0225))² / .0225, without a margin."""
    z, y = stats.norm.ppf(0.975), stats.norm.ppf(0.8)
    expected = (z * math.sqrt(0.35) + y * math.sqrt(0.35 - 0.0225)) ** 2 / 0.0225
    assert math.ceil(expected) == normal_pairs(RATES) == 120
    assert 0.8 == pytest.approx(normal_power(RATES, expected))


@pytest.mark.parametrize("power", [0.7, 0.9])
@pytest.mark.parametrize("margin", [0.0, 0.02])
@pytest.mark.parametrize(
    ("worse", "better"),
    [pytest.param(0.08, 0.03, marks=pytest.mark.slow), (0.2, 0.08), (0.3, 0.15)],
)
def test_exact_is_near_the_formula(
    worse: float, better: float, margin: float, power: float
) -> None:
    """From there on the power is reached, one pair less it is not."""
    rates = PairedRates(worse=worse, better=better)
    exact = exact_pairs(rates, power=power, margin=margin)
    assert exact is not None
    assert exact == pytest.approx(normal_pairs(rates, power=power, margin=margin), rel=0.2)
    assert exact_power(rates, exact, margin=margin) >= power
    assert exact_power(rates, exact - 1, margin=margin) < power


@pytest.mark.parametrize("rate", [0.05, 0.2])
@pytest.mark.parametrize(("effect", "margin"), [(0.1, 0.0), (0.15, 0.05)])
@pytest.mark.slow
def test_the_power_is_as_planned(rate: float, effect: float, margin: float) -> None:
    """Of 4,000 simulated runs as many are found as the plan says, within two points."""
    rates = PairedRates.of(rate + effect, rate, correlation=0.3)
    for power in (0.8, 0.95):
        pairs = exact_pairs(rates, power=power, margin=margin)
        assert pairs is not None
        rng = np.random.default_rng(6)
        cells = [rates.worse, rates.better, 1 - rates.differing]
        drawn = rng.multinomial(pairs, cells, size=4000).tolist()
        found = np.mean([_found(worse, better, pairs, margin) for worse, better, _ in drawn])
        assert power == pytest.approx(float(found), abs=0.02)


def test_too_many_to_go_through() -> None:
    """The formula has an answer then."""
    tiny = PairedRates(worse=0.0051, better=0.005)
    assert None is exact_pairs(tiny)
    assert normal_pairs(tiny) > 5_000_000
    with pytest.raises(ValueError, match="take normal_power"):
        exact_power(tiny, 10_000)


def test_rates_with_a_correlation() -> None:
    """Pairs alike in their difficulty differ less often, by the same difference."""
    apart, alike = PairedRates.of(0.13, 0.1), PairedRates.of(0.13, 0.1, correlation=0.6)
    assert (0.13 * 0.9, 0.1 * 0.87) == pytest.approx((apart.worse, apart.better))
    assert 0.03 == pytest.approx(apart.effect) == pytest.approx(alike.effect)
    rng = np.random.default_rng(5)
    both = 0.013 + 0.6 * math.sqrt(0.13 * 0.87 * 0.1 * 0.9)
    cells = rng.choice(4, p=[both, 0.13 - both, 0.1 - both, 0.77 + both], size=200_000)
    first, second = cells < 2, (cells == 0) | (cells == 2)
    assert 0.6 == pytest.approx(float(np.corrcoef(first, second)[0, 1]), abs=0.01)
    assert float((first & ~second).mean()) == pytest.approx(alike.worse, abs=0.002)
    assert normal_pairs(alike) < 0.6 * normal_pairs(apart)


def test_interval_gates_need_as_many() -> None:
    """The t test of the differences, by which clusters are planned, asks for the same."""
    for rates in (RATES, PairedRates.of(0.13, 0.1, correlation=0.5)):
        samples = samples_needed(rates.effect, rates.noise())
        assert normal_pairs(rates) == pytest.approx(samples, rel=0.03)
    assert math.sqrt(0.3275) == pytest.approx(RATES.noise(icc=0.4).sd)
    assert 0.4 == RATES.noise(icc=0.4).icc


@pytest.mark.parametrize(("worse", "better"), [(0.1, 0.1), (0.1, 0.2), (0.7, 0.4), (0.1, -0.1)])
def test_no_difference(worse: float, better: float) -> None:
    """There is nothing to plan for."""
    with pytest.raises(ValueError, match="no pairs differ"):
        PairedRates(worse=worse, better=better)


def test_mistakes() -> None:
    """Plans that are none."""
    with pytest.raises(ValueError, match="cannot correlate"):
        PairedRates.of(0.5, 0.1, correlation=0.9)
    with pytest.raises(ValueError, match="the first above the second"):
        PairedRates.of(0.1, 0.2)
    with pytest.raises(ValueError, match="power lies between"):
        normal_pairs(RATES, power=1.0)
    with pytest.raises(ValueError, match="within the margin"):
        normal_pairs(RATES, margin=0.15)
    with pytest.raises(ValueError, match="alpha"):
        exact_power(RATES, 10, alpha=2.0)
