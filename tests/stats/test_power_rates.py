"""Plans for rates, against all tables one by one, simulation and each other."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from pytest_xling.stats.mcnemar import binomial_p
from pytest_xling.stats.power import samples_needed
from pytest_xling.stats.power_rates import (
    PairedRates,
    connor_pairs,
    connor_power,
    mcnemar_pairs,
    mcnemar_power,
)

RATES = PairedRates(worse=0.25, better=0.1)


@pytest.mark.parametrize("mid", [False, True])
@pytest.mark.parametrize("pairs", [0, 5, 9, 30])
def test_all_tables(pairs: int, mid: bool) -> None:  # noqa: FBT001  a test's parameter
    """Every table that the test calls worse, by its multinomial probability."""
    expected = sum(
        stats.multinomial.pmf([b, c, pairs - b - c], pairs, [0.25, 0.1, 0.65])
        for b in range(pairs + 1)
        for c in range(pairs - b + 1)
        if b > c and binomial_p(b, c, mid=mid) < 0.05
    )
    assert float(expected) == pytest.approx(mcnemar_power(RATES, pairs, mid=mid), abs=1e-9)


def test_pairs_that_all_differ() -> None:
    """Then it is the power of a binomial test."""
    found = mcnemar_power(PairedRates(worse=0.7, better=0.3), 40)
    critical = max(c for c in range(20) if binomial_p(40 - c, c) < 0.05)
    assert float(stats.binom.cdf(critical, 40, 0.3)) == pytest.approx(found)


def test_connor_by_hand() -> None:
    """(1.96 √.35 + .8416 √(.35 - .0225))² / .0225."""
    z, y = stats.norm.ppf(0.975), stats.norm.ppf(0.8)
    expected = (z * math.sqrt(0.35) + y * math.sqrt(0.35 - 0.0225)) ** 2 / 0.0225
    assert math.ceil(expected) == connor_pairs(RATES) == 120
    assert 0.8 == pytest.approx(connor_power(RATES, expected))


@pytest.mark.parametrize("power", [0.7, 0.9])
@pytest.mark.parametrize(("worse", "better"), [(0.08, 0.03), (0.2, 0.08), (0.3, 0.15)])
def test_exact_needs_a_little_more(worse: float, better: float, power: float) -> None:
    """The exact test is conservative; its mid-p needs about what Connor says."""
    rates = PairedRates(worse=worse, better=better)
    connor = connor_pairs(rates, power=power)
    exact, mid = (mcnemar_pairs(rates, power=power, mid=mid) for mid in (False, True))
    assert exact is not None
    assert mid is not None
    assert connor < exact
    assert mid <= exact
    assert connor == pytest.approx(mid, rel=0.1)
    assert mcnemar_power(rates, exact, alpha=0.05) >= power
    assert mcnemar_power(rates, exact - 1, alpha=0.05) < power


def test_too_many_to_go_through() -> None:
    """Connor's formula has an answer then."""
    tiny = PairedRates(worse=0.0051, better=0.005)
    assert None is mcnemar_pairs(tiny)
    assert connor_pairs(tiny) > 5_000_000
    with pytest.raises(ValueError, match="take connor_power"):
        mcnemar_power(tiny, 10_000)


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
    assert connor_pairs(alike) < 0.6 * connor_pairs(apart)


def test_interval_gates_need_as_many() -> None:
    """The t test of the differences, by which clusters are planned, asks for the same."""
    for rates in (RATES, PairedRates.of(0.13, 0.1, correlation=0.5)):
        samples = samples_needed(rates.effect, rates.noise())
        assert connor_pairs(rates) == pytest.approx(samples, rel=0.03)
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
        connor_pairs(RATES, power=1.0)
    with pytest.raises(ValueError, match="alpha"):
        mcnemar_power(RATES, 10, alpha=2.0)
