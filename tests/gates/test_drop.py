"""Drops from a baseline: gaps between two runs in one language."""

from __future__ import annotations

from dataclasses import replace

import pytest
from scipy import stats

from pytest_xling.errors import EvaluationError
from pytest_xling.gates.differences import gap_estimate
from pytest_xling.gates.estimate import Measure
from pytest_xling.gates.judge import judge
from pytest_xling.gates.pairing import differing
from pytest_xling.records import Estimate, Score, Threshold

NOW = [0.7, 0.75, 0.8, 0.6, 0.8, 0.5, 0.5, 0.85, 0.6, 0.7, 0.75, 0.6]
THEN = [0.9, 0.8, 0.95, 0.7, 0.85, 0.6, 0.75, 0.9, 0.8, 0.88, 0.92, 0.66]
LIMITS = Threshold(benchmark="b", metric="m", language="hi", max_drop=0.1, min_n=10)


def _scores(values: list[float], *, language: str = "hi", signature: str = "m|v1") -> list[Score]:
    return [
        Score(
            metric="m",
            benchmark="b",
            sample_id=f"q{number}",
            language=language,
            condition="",
            value=value,
            reason="",
            signature=signature,
        )
        for number, value in enumerate(values)
    ]


def _drop(now: list[Score], then: list[Score], *, margin: float = 0.0) -> Estimate:
    return gap_estimate(
        now, then, Measure(metric="m", language="hi", limits=(margin,)), baseline="base-1"
    )


def test_a_drop_is_that_of_the_paired_t_test() -> None:
    """The mean of the differences, its interval and p, as scipy has them."""
    found = _drop(_scores(NOW), _scores(THEN))
    test = stats.ttest_rel(THEN, NOW)
    interval = test.confidence_interval(0.95)
    assert interval.low == pytest.approx(found.low)
    # The upper end leaves room for answers not seen that lost all there is.
    mean, most = sum(THEN) / 12 - sum(NOW) / 12, sum(THEN) / 12
    assert mean + (1 - 0.025 ** (1 / 12)) * (most - mean) == pytest.approx(found.high)
    assert found.high is not None
    assert found.high > interval.high
    assert test.pvalue == pytest.approx(found.p, rel=1e-3)
    assert ("base-1", "", 12) == (found.baseline, found.pivot, found.n)


def test_a_drop_is_a_gap_under_another_name() -> None:
    """To the last bit; only what it is compared with is told elsewhere."""
    there = [replace(score, language="en") for score in _scores(THEN)]
    gap = gap_estimate(
        _scores(NOW),
        there,
        Measure(metric="m", language="hi", limits=(0.0,)),
        pivot="en",
    )
    assert gap == replace(_drop(_scores(NOW), _scores(THEN)), pivot="en", baseline="")


def test_three_outcomes() -> None:
    """Surely within the margin, surely beyond it, and neither; in words of runs."""
    found = _drop(_scores(NOW), _scores(THEN))
    verdicts = [
        judge(found, replace(LIMITS, max_drop=limit), case="m-drop-hi", kind="drop")
        for limit in (0.35, 0.05, 0.13)
    ]
    assert ["pass", "fail", "inconclusive"] == [verdict.outcome for verdict in verdicts]
    assert verdicts[1].reason.startswith(
        "0.130 worse than base-1 on 12 questions (drop's 95% interval "
    )
    assert "detects drops from" in verdicts[2].reason
    few = judge(found, replace(LIMITS, min_n=13), case="m-drop-hi", kind="drop")
    assert few.reason.endswith("too few questions in both runs: needs 13, has 12")


def test_the_same_drop_everywhere_is_not_certain() -> None:
    """However little they spread, others may have lost all there is; so where nothing differs."""
    same = judge(_drop(_scores([0.5] * 12), _scores([0.9] * 12)), LIMITS, case="g", kind="drop")
    assert "inconclusive" == same.outcome
    assert "(drop's 95% interval 0.056 to 0.532)" in same.reason
    nothing = judge(
        _drop(_scores([0.5] * 12), _scores([0.5] * 12)),
        replace(LIMITS, max_drop=0.0),
        case="g",
        kind="drop",
    )
    assert "inconclusive" == nothing.outcome


def test_one_question_decides_nothing() -> None:
    """However much worse, and whatever min_n says."""
    one = judge(
        _drop(_scores([0.1]), _scores([0.9])), replace(LIMITS, min_n=1), case="g", kind="drop"
    )
    assert "inconclusive" == one.outcome
    assert "0.800 worse than base-1 on 1 question; no spread is known; needs 2 questions" == (
        one.reason
    )


def test_what_is_no_drop() -> None:
    """A threshold without one, and scores that do not belong together."""
    with pytest.raises(ValueError, match="has no max_drop"):
        judge(
            _drop(_scores(NOW), _scores(THEN)),
            replace(LIMITS, max_drop=None),
            case="g",
            kind="drop",
        )
    with pytest.raises(EvaluationError, match="different ways"):
        _drop(_scores(NOW), _scores(THEN, signature="m|v2"))


@pytest.mark.parametrize(
    ("here", "there", "said"),
    [
        ("m|v1|text_in:native", "m|v1|text_in:english", "text_in: english there, native here"),
        ("m|v2", "m|v1", "version: v1 there, v2 here"),
        ("m|v1|torch:2.13", "m|v1", "torch: nothing there, 2.13 here"),
        (
            "m|v1|a:1|b:1|c:1|d:1",
            "m|v1|a:2|b:2|c:2|d:2",
            "a: 2 there, 1 here; b: 2 there, 1 here; c: 2 there, 1 here; and 1 more",
        ),
        ("m|v1|a:x:y", "m|v1|a:x:z", "a: x:z there, x:y here"),
        ("m|v1", "m|v1", ""),
    ],
)
def test_fields_that_differ(here: str, there: str, said: str) -> None:
    """Each by its name, then what it was, then what it is."""
    assert said == differing(here, there)
