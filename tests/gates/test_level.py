"""Means are judged by floor and ceiling through their interval."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_xling.gates.estimate import Measure, estimate
from pytest_xling.gates.judge import judge
from pytest_xling.records import Estimate, Score, Threshold, Verdict

ORDER = ["pass", "inconclusive", "fail"]


def _estimate(mean: float, half: float | None = 1.0, *, n: int = 30, unscored: int = 0) -> Estimate:
    return Estimate(
        metric="m",
        language="hi",
        value=mean,
        low=None if half is None else mean - half,
        high=None if half is None else mean + half,
        n=n,
        unscored=unscored,
    )


def _judge(estimate: Estimate, floor: float | None = None, ceiling: float | None = None) -> Verdict:
    threshold = Threshold(
        benchmark="culture",
        metric="m",
        language="hi",
        floor=floor,
        ceiling=ceiling,
        origin="thresholds.yaml:3",
    )
    return judge(estimate, threshold, case="gate")


@pytest.mark.parametrize(
    ("mean", "floor", "ceiling", "outcome", "end"),
    [
        (6, 5, None, "pass", "mean 6.00 of 30 answers (95% interval 5.00 to 7.00); floor 5"),
        (3.9, 5, None, "fail", "floor 5: below the floor"),
        (4.5, 5, None, "inconclusive", "floor 5; needs about 120 answers at this value; has 30"),
        (5, 5, None, "inconclusive", "floor 5; cannot be decided so near the limit"),
        (4.99, 5, None, "inconclusive", "cannot be decided so near the limit"),
        (4, None, 5, "pass", "ceiling 5"),
        (6.1, None, 5, "fail", "ceiling 5: above the ceiling"),
        (4.5, None, 5, "inconclusive", "needs about 120 answers at this value; has 30"),
        (5, 4, 6, "pass", "floor 4, ceiling 6"),
        (2, 4, 6, "fail", "below the floor"),
        (8, 4, 6, "fail", "above the ceiling"),
        (5.2, 5, 6, "inconclusive", "needs about 750 answers at this value; has 30"),
    ],
)
def test_outcomes(
    mean: float, floor: float | None, ceiling: float | None, outcome: str, end: str
) -> None:
    """The interval within the limits passes, beyond one fails, else more answers are asked for."""
    verdict = _judge(_estimate(mean), floor, ceiling)
    assert outcome == verdict.outcome
    assert verdict.reason.endswith(end)


def test_an_interval_cut_at_a_bound_needs_no_fewer_answers() -> None:
    """What would decide follows from the side that was not cut."""
    free = _judge(_estimate(0.95, 0.1), ceiling=0.97)
    cut = _judge(replace(_estimate(0.95, 0.1), high=1.0), ceiling=0.97)
    assert free.reason.endswith("needs about 750 answers at this value; has 30")
    assert free.reason.partition("needs")[2] == cut.reason.partition("needs")[2]


@pytest.mark.parametrize(
    ("values", "floor"),
    [([1.0] * 10, 0.999), ([1.0] * 10, 0.8), ([1.0] * 15 + [0.5, 0.8, 0.0], 0.8)],
)
def test_what_is_said_to_be_needed_decides(values: list[float], floor: float) -> None:
    """So many answers like these pass, a fifth fewer do not: also where all are perfect."""

    def found(many: int) -> Estimate:
        scores = [
            Score(
                metric="m",
                benchmark="culture",
                sample_id=f"q{number}",
                language="hi",
                condition="",
                value=values[number % len(values)],
                reason="",
                signature="m|v1",
            )
            for number in range(many)
        ]
        return estimate(scores, Measure(metric="m", language="hi", bounds=(0.0, 1.0)))

    limits = Threshold(benchmark="culture", metric="m", language="hi", floor=floor, min_n=10)
    verdict = judge(found(len(values)), limits, case="gate")
    assert "inconclusive" == verdict.outcome
    said = re.search(r"needs about (\d+) answers at this value", verdict.reason)
    assert said is not None
    # In whole copies of the answers, so that the mean is the same.
    copies = int(said[1]) / len(values)
    enough, fewer = (len(values) * share for share in (math.ceil(copies), int(0.8 * copies)))
    assert "pass" == judge(found(enough), limits, case="gate").outcome
    assert "inconclusive" == judge(found(fewer), limits, case="gate").outcome


def test_too_few_answers() -> None:
    """Fewer than min_n answers do not pass, however clear they are; they fail from 4 on."""
    verdict = _judge(_estimate(100.0, n=12, unscored=3), floor=5)
    assert "inconclusive" == verdict.outcome
    assert (
        "mean 100 of 12 answers, 3 unscored (95% interval 99 to 101); floor 5;"
        " too few answers: needs 20, has 12"
    ) == verdict.reason


@pytest.mark.slow
@pytest.mark.parametrize("n", [4, 5, 6, 8])
@pytest.mark.parametrize("spread", [0.5, 1.0])
def test_few_answers_at_the_floor_seldom_fail(n: int, spread: float) -> None:
    """Lognormal numbers, of which no upper bound is known, are the hardest: 5% at most."""
    rng = np.random.default_rng(20261124)
    floor, failed, times = math.exp(spread**2 / 2), 0, 3000
    limits = Threshold(benchmark="culture", metric="m", language="hi", floor=floor, min_n=20)
    for _ in range(times):
        scores = [
            Score(
                metric="m",
                benchmark="culture",
                sample_id=f"q{number}",
                language="hi",
                condition="",
                value=float(rng.lognormal(0, spread)),
                reason="",
                signature="m|v1",
            )
            for number in range(n)
        ]
        made = estimate(scores, Measure(metric="m", language="hi", bounds=(0.0, None)))
        failed += "fail" == judge(made, limits, case="gate").outcome
    assert failed / times < 0.055


def test_no_interval() -> None:
    """Answers to a single question show no spread, so they prove nothing."""
    verdict = _judge(_estimate(100.0, None), floor=5)
    assert ("inconclusive", True) == (verdict.outcome, "needs 2 questions" in verdict.reason)
    one = _judge(_estimate(100.0, None, n=1), floor=5)
    assert "mean 100 of 1 answer; too few answers: needs 20, has 1" == one.reason


def test_nothing_scored() -> None:
    """Without a mean the verdict gives the estimate's reason."""
    nothing = Estimate(
        metric="m", language="hi", value=None, low=None, high=None, n=0, unscored=0, reason="gone"
    )
    verdict = _judge(nothing, floor=5)
    assert ("inconclusive", "gone") == (verdict.outcome, verdict.reason)


@given(st.floats(-100, 100), st.floats(0, 50), st.floats(-100, 100), st.floats(0, 50))
def test_a_lower_mean_never_helps_against_a_floor(
    mean: float, half: float, floor: float, drop: float
) -> None:
    """Moving the whole interval down never moves the outcome towards pass."""
    before = _judge(_estimate(mean, half), floor=floor).outcome
    after = _judge(_estimate(mean - drop, half), floor=floor).outcome
    assert ORDER.index(before) <= ORDER.index(after)


@given(st.floats(-100, 100), st.floats(0, 50), st.floats(-100, 100))
def test_a_ceiling_is_a_floor_upside_down(mean: float, half: float, limit: float) -> None:
    """Changing every sign swaps the two limits."""
    below = _judge(_estimate(mean, half), ceiling=limit).outcome
    assert below == _judge(_estimate(-mean, half), floor=-limit).outcome
