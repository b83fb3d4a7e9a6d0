"""Gates that fail by no more than translation costs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from pytest_xling.gates.evidence import beside_noise
from pytest_xling.records import Estimate, Threshold, Verdict
from pytest_xling.store.measurements import Mean, TranslationNoise

if TYPE_CHECKING:
    from pytest_xling.records import Outcome


def mean(value: float | None) -> Mean:
    """Return a mean of ten readings."""
    return Mean(value=value, low=None, high=None, n=10)


NOISE = TranslationNoise(
    metric="information_recall",
    signature="information_recall|v1",
    translator="translate|v1",
    text_in="english",
    language="hi",
    source="run-1/information",
    created_at="2026-11-21T10:00:00.000+00:00",
    matched=mean(0.91),
    mismatched=mean(0.1),
    cost=mean(0.09),
)
FAILS = Verdict(
    case="information_recall-hi",
    outcome="fail",
    estimate=Estimate(
        metric="information_recall", language="hi", value=0.72, low=0.7, high=0.74, n=40, unscored=0
    ),
    threshold=Threshold(benchmark="b", metric="information_recall", language="hi", floor=0.8),
    reason="mean 0.720 of 40 answers",
)


def missing(value: float, **limits: Any) -> Verdict:
    """Return a verdict that fails with *value*."""
    return replace(
        FAILS,
        estimate=replace(FAILS.estimate, value=value),
        threshold=Threshold(benchmark="b", metric="information_recall", language="hi", **limits),
    )


def test_a_floor_missed_by_less_than_translation_costs_is_not_decided() -> None:
    """The reason says what it costs, and keeps what there was to say."""
    verdict = beside_noise(FAILS, NOISE)
    assert "inconclusive" == verdict.outcome
    assert (
        "translation alone costs 0.09 in hi (xling calibrate translation): nothing is decided; "
        "mean 0.720 of 40 answers"
    ) == verdict.reason
    assert FAILS.estimate == verdict.estimate


@pytest.mark.parametrize(
    ("verdict", "outcome"),
    [
        (missing(0.70, floor=0.8), "fail"),
        (missing(0.72, floor=0.8), "inconclusive"),
        # No answer reaches a floor above what translation leaves.
        (missing(0.2, floor=0.92), "inconclusive"),
        (missing(0.95, ceiling=0.9), "fail"),
        (replace(FAILS, outcome="pass"), "pass"),
        (replace(FAILS, outcome="error"), "error"),
    ],
)
def test_what_translation_explains(verdict: Verdict, outcome: Outcome) -> None:
    """Nothing but a failure by no more than it costs, or below a floor out of reach."""
    assert outcome == beside_noise(verdict, NOISE).outcome


@pytest.mark.parametrize(
    "noise",
    [None, replace(NOISE, text_in="native"), replace(NOISE, cost=mean(None), matched=mean(None))],
)
def test_without_a_measurement_nothing_changes(noise: TranslationNoise | None) -> None:
    """Nor for a metric that reads answers as they are, nor where nothing could be scored."""
    assert beside_noise(FAILS, noise) is FAILS


@pytest.mark.parametrize(("gap", "outcome"), [(0.18, "inconclusive"), (0.2, "fail")])
def test_a_gap_is_of_the_same_kind(gap: float, outcome: Outcome) -> None:
    """Beyond its limit by no more than translation costs; of shares, in percentage points."""
    verdict = missing(gap, max_gap=0.1)
    verdict = replace(verdict, estimate=replace(verdict.estimate, pivot="en", share=True))
    decided = beside_noise(verdict, replace(NOISE, cost=mean(0.085)))
    assert outcome == decided.outcome
    if outcome != "fail":
        assert decided.reason.startswith("translation alone costs 8.5 pp in hi")


def test_drops_and_trends_are_left_alone() -> None:
    """Both of their sides are translated alike."""
    for fields in ({"baseline": "run-0"}, {"trend": True}):
        verdict = replace(FAILS, estimate=replace(FAILS.estimate, **fields))
        assert beside_noise(verdict, NOISE) is verdict
