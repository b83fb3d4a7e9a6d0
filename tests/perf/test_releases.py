"""Whole releases of the smallest benchmark that decides: good ones open, bad ones close."""

from __future__ import annotations

import pytest

from perf.releases import GOOD, Release, folders_of_benchmarks, simulate, simulate_again

SMALLEST = "crosslingual"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scenario", "opens_from", "opens_to"),
    [
        ("good", 0.95, 1.0),
        ("one at 15%", 0.0, 0.2),
        ("one at 40%", 0.0, 0.01),
        ("all at 3x", 0, 0.05),
    ],
)
def test_a_good_release_opens_and_a_bad_one_closes(
    scenario: str, opens_from: float, opens_to: float
) -> None:
    """As docs/planning.md promises, but for three standard errors of so few releases."""
    releases = 100
    opened, closed = simulate(SMALLEST, scenario, releases=releases, languages=8)
    error = (
        3
        * (max(0.0099, opens_to * (1 - opens_to), opens_from * (1 - opens_from)) / releases) ** 0.5
    )
    assert opens_from - error <= opened <= opens_to + error, closed


@pytest.mark.slow
def test_the_same_model_twice_is_seldom_worse() -> None:
    """By 60 questions in 8 languages a drop of 10 points is ruled out."""
    assert simulate_again(SMALLEST, 0.1, releases=20, languages=8) <= 0.1


@pytest.mark.slow
def test_every_gated_metric_has_a_good_value() -> None:
    """Of the smallest benchmark, whose runs have all the cases of its plan."""
    release = Release(SMALLEST, languages=3)
    assert release.gates.keys() <= GOOD.keys()
    assert (60, "wrong_language", 0.05) == (release.questions, release.flag, release.budget)


@pytest.mark.parametrize("name", folders_of_benchmarks())
def test_every_bundled_benchmark_can_be_simulated(name: str) -> None:
    """Folders of several benchmarks are none themselves."""
    assert Release(name, languages=2).questions > 1
