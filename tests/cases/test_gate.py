"""One gate, judged by a run's scores."""

from __future__ import annotations

import pytest

from pytest_xling.cases.gate import gate_id, judge_gate
from pytest_xling.records import Score, Threshold


def scores(metric: str, language: str, values: list[float]) -> list[Score]:
    """Return a score for each value, each of a question of its own."""
    return [
        Score(
            metric=metric,
            benchmark="b",
            sample_id=f"q{number}",
            language=language,
            condition="",
            value=value,
            reason="",
            signature="s",
        )
        for number, value in enumerate(values)
    ]


def test_gates_have_names() -> None:
    """A level and a gap are two gates."""
    assert ("m-hi", "m-gap-hi") == (gate_id("m", "hi", gap=False), gate_id("m", "hi", gap=True))


@pytest.mark.parametrize("metric", ["more_comprehensive", "says_right"])
def test_ten_of_ten_prove_no_more_than_of_a_flag(metric: str) -> None:
    """A number that is 0 or 1 is a share: where all agree its interval still has a width."""
    limits = Threshold(benchmark="b", metric=metric, language="hi", floor=0.9, min_n=5)
    verdict = judge_gate(scores(metric, "hi", [1.0] * 10), limits)
    assert "inconclusive" == verdict.outcome
    assert verdict.estimate.low is not None
    assert 0.7 < verdict.estimate.low < 0.75


def test_a_gap_of_shares_has_a_width() -> None:
    """Ten pairs that agree do not prove that no pair ever differs; nor is any gap beyond 1."""
    metric = "more_comprehensive"
    limits = Threshold(benchmark="b", metric=metric, language="hi", max_gap=0.001, min_n=2)
    ones = [1.0] * 10
    alike = judge_gate(
        scores(metric, "hi", ones), limits, pivot="en", pivot_scores=scores(metric, "en", ones)
    )
    assert "inconclusive" == alike.outcome
    few = judge_gate(
        scores(metric, "hi", [0.0, 0.0]),
        limits,
        pivot="en",
        pivot_scores=scores(metric, "en", [1.0, 0.0]),
    )
    assert few.estimate.low is not None
    assert few.estimate.high is not None
    assert -1 <= few.estimate.low < few.estimate.high <= 1


def test_a_mean_is_a_mean() -> None:
    """Other numbers keep their t interval."""
    limits = Threshold(benchmark="b", metric="sim_1gram", language="hi", floor=0.4, min_n=5)
    verdict = judge_gate(scores("sim_1gram", "hi", [0.5, 0.6] * 5), limits)
    assert "pass" == verdict.outcome
