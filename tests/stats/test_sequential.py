"""Looks before the end, against published boundaries and simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from pytest_xling.stats.paired_means import paired_mean
from pytest_xling.stats.sequential import Spending, _run, decide, looks, spent
from tests.intervals import ends

FIVE = [0.2, 0.4, 0.6, 0.8, 1.0]
TEN = [k / 10 for k in range(1, 11)]
rising = st.lists(st.integers(1, 40), min_size=1, max_size=6, unique=True).map(
    lambda steps: [step / 40 for step in sorted(steps)]
)


def _crossing(zs: list[float], fractions: list[float]) -> list[float]:
    """Return the probability that each look is the first beyond its boundary, on one side."""
    return [chance for _, chance in _run(fractions, lambda index, _: zs[index])]


def test_obrien_fleming_like_boundaries() -> None:
    """Five looks as the Lan-DeMets programs print them for a two-sided 5 %."""
    printed = [4.877, 3.357, 2.680, 2.290, 2.031]
    assert printed == [round(look.z, 3) for look in looks(FIVE)]


def test_pocock_like_boundaries() -> None:
    """Likewise."""
    printed = [2.438, 2.427, 2.410, 2.397, 2.386]
    assert printed == pytest.approx([look.z for look in looks(FIVE, spending="pocock")], abs=6e-4)


def test_boundaries_of_another_program() -> None:
    """Four looks, one-sided 5 %, as the README of SeqBounds.jl shows them."""
    found = looks([0.25, 0.5, 0.75, 1.0], alpha=0.1)
    assert [3.74955, 2.53993, 2.01604, 1.72014] == pytest.approx(
        [look.z for look in found], abs=1e-4
    )
    spent_by_then = [8.85754e-5, 0.0055746, 0.0236251, 0.05]
    assert spent_by_then == pytest.approx([look.spent / 2 for look in found], rel=1e-4)


@pytest.mark.parametrize(
    ("many", "pocock", "obrien_fleming"),
    [
        (2, 2.178, 1.977),
        (3, 2.289, 2.004),
        (4, 2.361, 2.024),
        (5, 2.413, 2.040),
        (10, 2.555, 2.087),
    ],
)
def test_classical_boundaries(many: int, pocock: float, obrien_fleming: float) -> None:
    """The constants of Jennison and Turnbull's Tables 2.1 and 2.3 are crossed in 5 % of cases."""
    fractions = [(k + 1) / many for k in range(many)]
    for zs in (
        [pocock] * many,
        [obrien_fleming / math.sqrt(fraction) for fraction in fractions],
    ):
        assert 0.05 == pytest.approx(2 * sum(_crossing(zs, fractions)), abs=2e-4)


@settings(max_examples=25, deadline=None)
@given(rising, st.sampled_from(["obrien-fleming", "pocock"]), st.sampled_from([0.01, 0.05, 0.2]))
def test_spends_what_it_says(fractions: list[float], spending: Spending, alpha: float) -> None:
    """By each look just as much of alpha as its function gives, however they lie."""
    found = looks(fractions, alpha=alpha, spending=spending)
    crossed = np.cumsum(_crossing([look.z for look in found], fractions))
    for look, by in zip(found, crossed, strict=True):
        assert look.spent / 2 == pytest.approx(by, abs=1e-10)
        assert look.spent == pytest.approx(
            spent(look.fraction, alpha=alpha, spending=spending), abs=1e-13
        )
        assert look.alpha == pytest.approx(2 * float(stats.norm.sf(look.z)), abs=1e-15)


@settings(max_examples=15, deadline=None)
@given(rising)
def test_looks_to_come_change_nothing(fractions: list[float]) -> None:
    """How often one will look need not be planned."""
    found = looks(fractions)
    for many in range(1, len(fractions)):
        expected = [look.z for look in found[:many]]
        assert expected == pytest.approx([look.z for look in looks(fractions[:many])])


def test_one_look_at_the_end_is_an_ordinary_test() -> None:
    """With all of alpha."""
    [look] = looks([1.0])
    assert (1.959964, 0.05, 0.05) == pytest.approx((look.z, look.alpha, look.spent))


def test_nothing_to_spend_yet() -> None:
    """A look after a hundredth cannot decide; it takes nothing from the next."""
    first, second = looks([0.01, 0.3])
    assert (math.inf, 0.0, 0.0) == (first.z, first.alpha, first.spent)
    assert looks([0.3])[0].z == pytest.approx(second.z)


def test_crossing_by_simulation() -> None:
    """Of 40,000 sums of normal steps as many cross at each look."""
    zs = [look.z for look in looks(FIVE)]
    rng = np.random.default_rng(1)
    steps = rng.normal(0.0, math.sqrt(0.2), size=(40_000, 5))
    beyond = np.cumsum(steps, axis=1) / np.sqrt(FIVE) > zs
    first = np.where(beyond.any(axis=1), beyond.argmax(axis=1), 5)
    seen = np.bincount(first, minlength=6)[:5] / 40_000
    assert _crossing(zs, FIVE) == pytest.approx(seen.tolist(), abs=0.01)


def _decided(differences: list[float], fractions: list[float]) -> tuple[str, float]:
    """Go through looks until one decides; return what, and at which fraction."""
    for many in range(1, len(fractions) + 1):
        fraction = fractions[many - 1]
        found = paired_mean(differences[: round(fraction * len(differences))])
        decision = decide(found, fractions[:many])
        if decision.action != "go on":
            return decision.action, fraction
    return "never", 1.0


@pytest.mark.slow
def test_false_alarms_over_ten_looks() -> None:
    """Without a difference as many of 1,000 gates stop as with one look; naively over 15 %."""
    rng = np.random.default_rng(2)
    actions: list[str] = []
    naive = 0
    for differences in rng.normal(size=(1000, 100)).tolist():
        actions.append(_decided(differences, TEN)[0])
        naive += any((paired_mean(differences[: 10 * k]).p() or 1.0) < 0.05 for k in range(1, 11))
    worse, better = actions.count("worse") / 1000, actions.count("not worse") / 1000
    assert worse < 0.025 + 0.015
    assert better < 0.025 + 0.015
    assert 0.03 <= worse + better <= 0.07
    assert "never" not in actions
    assert naive / 1000 > 0.15


@pytest.mark.parametrize(("spending", "most"), [("obrien-fleming", 0.3), ("pocock", 0.12)])
def test_a_clearly_bad_model_costs_little(spending: Spending, most: float) -> None:
    """One that is worse by its standard deviation, of 300 samples planned."""
    rng = np.random.default_rng(3)
    cost = []
    for differences in rng.normal(1, 1, size=(100, 300)).tolist():
        for many in range(1, 11):
            found = paired_mean(differences[: 30 * many])
            decision = decide(found, TEN[:many], spending=spending)
            if decision.action != "go on":
                break
        assert "worse" == decision.action
        cost.append(many / 10)
    assert sum(cost) / 100 <= most


def test_decisions() -> None:
    """Worse, not worse, go on, and at the last look inconclusive."""
    bad = [0.4, 0.5, 0.6, 0.45, 0.55, 0.5] * 4
    unsure = [0.5, -0.5] * 12
    assert "worse" == decide(paired_mean(bad), [0.5]).action
    assert "not worse" == decide(paired_mean([-d for d in bad]), [0.5]).action
    assert "not worse" == decide(paired_mean(bad), [0.5], margin=0.9).action
    assert "go on" == decide(paired_mean(bad), [0.5], margin=0.49).action
    assert "go on" == decide(paired_mean(unsure), [0.5]).action
    assert "inconclusive" == decide(paired_mean(unsure), [0.5, 1.0]).action


def test_few_alike_answers_stop_nothing() -> None:
    """Three equal differences have an interval without width, but prove nothing."""
    assert "go on" == decide(paired_mean([0.1 + 0.2] * 3), [0.3]).action
    decision = decide(paired_mean([0.5] * 3), [0.3])
    assert ("go on", None, "no spread is known") == (decision.action, decision.p, decision.reason)
    assert "inconclusive" == decide(paired_mean([0.5]), [0.3, 1.0]).action


def test_looks_and_gates_agree() -> None:
    """An interval made with the look's alpha leaves the margin out where the look decides."""
    rng = np.random.default_rng(4)
    for differences in rng.normal(0.3, 1, size=(60, 60)).tolist():
        decision = decide(paired_mean(differences), [0.3, 0.6], margin=0.05)
        interval = paired_mean(differences, alpha=decision.look.alpha)
        low, high = ends(interval)
        expected = "worse" if low > 0.05 else "not worse" if high < 0.05 else "go on"
        assert expected == decision.action


@pytest.mark.parametrize("fractions", [[0.0, 1.0], [0.5, 0.5], [0.6, 0.4], [0.5, 1.2]])
def test_looks_out_of_order(fractions: list[float]) -> None:
    """They come one after the other, and end with all."""
    with pytest.raises(ValueError, match="rising fractions"):
        looks(fractions)


def test_mistakes() -> None:
    """No look, no alpha, and no such fraction."""
    with pytest.raises(ValueError, match="needs a look"):
        decide(paired_mean([0.1, 0.2]), [])
    with pytest.raises(ValueError, match="alpha"):
        looks([0.5], alpha=1.5)
    with pytest.raises(ValueError, match="above 0 and at most 1"):
        spent(0.0)
