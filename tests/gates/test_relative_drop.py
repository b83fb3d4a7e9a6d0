"""Drops told as a share of what the baseline has."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from scipy import stats

from pytest_xling.gates.differences import gap_estimate, relative_drop
from pytest_xling.gates.estimate import Measure
from pytest_xling.gates.judge import judge
from pytest_xling.gates.reasons import limit_of
from pytest_xling.records import Estimate, Score, Threshold, Verdict
from tests.gates.judging import score

if TYPE_CHECKING:
    from pytest_xling.interfaces.metric import Better

NOW = [0.7, 0.75, 0.8, 0.6, 0.8, 0.5, 0.5, 0.85, 0.6, 0.7, 0.75, 0.6]
THEN = [0.9, 0.8, 0.95, 0.7, 0.85, 0.6, 0.75, 0.9, 0.8, 0.88, 0.92, 0.66]
LIMITS = Threshold(
    benchmark="b", metric="m", language="hi", max_drop=0.1, relative_drop=True, min_n=10
)


def _scores(values: list[float], *, repeats: int = 1) -> list[Score]:
    return [
        score(value, f"q{i // repeats}", condition=f"r{i % repeats}" if i % repeats else "")
        for i, value in enumerate(values)
    ]


def _drop(
    now: list[float],
    then: list[float],
    *,
    margin: float = 0.1,
    flags: bool = False,
    repeats: int = 1,
    widest: float | None = None,
    better: Better | None = None,
) -> Estimate:
    better = better or ("lower" if flags else "higher")
    here, there = _scores(now, repeats=repeats), _scores(then, repeats=repeats)
    measure = Measure(
        metric="m",
        language="hi",
        share=flags,
        better=better,
        bounds=(None if widest is None else 0.0, widest),
        limits=(margin,),
    )
    absolute = gap_estimate(here, there, measure, baseline="base-1")
    return relative_drop(absolute, here, there, measure)


def _judge(made: Estimate, limit: float = 0.1) -> Verdict:
    return judge(made, replace(LIMITS, max_drop=limit), case="m-drop-hi", kind="drop")


def test_of_numbers() -> None:
    """The share, tested by what is left of nine tenths of the baseline's; in percent."""
    made = _drop(NOW, THEN)
    assert 1 - sum(NOW) / sum(THEN) == pytest.approx(made.value)
    test = stats.ttest_1samp([a - 0.9 * b for a, b in zip(NOW, THEN, strict=True)], 0)
    assert test.pvalue == pytest.approx(made.p, rel=1e-3)
    said = _judge(made)
    assert "fail" == said.outcome
    assert (
        "16.1% worse than base-1 on 12 questions (drop's 95% interval 10.7% to 38.3%);"
        " 0.679 after 0.809; may be 10.0% worse: exceeded"
    ) == said.reason
    unclear = _judge(made, 0.2)
    assert unclear.reason.endswith("has 12; detects drops from 27.5% on with 80% power")
    outcomes = [unclear.outcome, _judge(made, 0.4).outcome]
    assert ["inconclusive", "pass"] == outcomes
    assert made.low is not None
    assert made.skewed_low is not None
    assert made.skewed_low < made.low
    assert "max 10.0% worse" == limit_of(said)


def test_of_flags() -> None:
    """By how much of the baseline's rate there are more; McNemar's test is told as ever."""
    then, now = [1.0] * 12 + [0.0] * 88, [1.0] * 24 + [0.0] * 76
    made = _drop(now, then, flags=True, margin=0.2)
    assert 1.0 == pytest.approx(made.value)
    said = _judge(made, 0.2)
    assert "fail" == said.outcome
    assert said.reason.startswith("100.0% worse than base-1 on 100 questions (drop's 95% interval ")
    assert "; 24.0% after 12.0%; worse only here 12, only in base-1 0: McNemar p" in said.reason
    fewer = _judge(_drop(then, now, flags=True), 0.1)
    assert "pass" == fewer.outcome
    assert fewer.reason.startswith("50.0% better than base-1")
    often = _drop(
        [value for value in now for _ in range(3)],
        [value for value in then for _ in range(3)],
        flags=True,
        margin=0.2,
        repeats=3,
    )
    assert (made.value, made.low, made.high) == pytest.approx((often.value, often.low, often.high))


@pytest.mark.parametrize(
    ("now", "then", "flags", "said"),
    [
        ([1.0] + [0.0] * 11, [0.0] * 12, True, "8.3% after 0.0%: the baseline's mean is 0, of whi"),
        ([0.0] * 12, [0.0] * 12, True, "0.0% after 0.0%: the baseline's mean is 0, of which no sh"),
        (NOW, [0.3, -0.3] * 5 + [0.1] * 2, False, "the baseline's interval reaches 0, of which no"),
        (NOW, [0.0] * 12, False, "the baseline's mean is 0, of which no share is known; limit the"),
        ([0.5], [0.9], False, "no spread is known; needs 2 questions"),
        (
            [0.5] * 12,
            [0.5] * 12,
            False,
            "no worse than base-1 on 12 questions (drop's 95% interval -2",
        ),
    ],
)
def test_what_decides_nothing(now: list[float], then: list[float], flags: bool, said: str) -> None:  # noqa: FBT001
    """A baseline that is, or may be, nothing; one question; numbers without spread."""
    verdict = _judge(_drop(now, then, flags=flags))
    assert "inconclusive" == verdict.outcome
    assert said in verdict.reason


def test_without_a_bound_equal_numbers_decide_nothing() -> None:
    """Where low is better no one knows how much more another answer may have."""
    verdict = _judge(_drop([0.5] * 12, [0.5] * 12, better="lower"))
    assert "inconclusive" == verdict.outcome
    assert "all differences are equal: no spread is known" in verdict.reason


def test_nothing_changed_is_not_certain() -> None:
    """Where bounds are known it is as in the metric's units, over the baseline's mean."""
    made = _drop(THEN, THEN, widest=1.0)
    absolute = gap_estimate(
        _scores(THEN),
        _scores(THEN),
        Measure(metric="m", language="hi", bounds=(0.0, 1.0), limits=(0.0,)),
        baseline="base-1",
    )
    assert absolute.high is not None
    mean = sum(THEN) / len(THEN)
    # Answers not seen may have lost all there is.
    assert (0.0, absolute.high / mean) == pytest.approx((made.value, made.high))
    assert absolute.high / mean > 0.2
    assert "inconclusive" == _judge(made).outcome
    many = _drop(THEN * 10, THEN * 10, widest=1.0)
    assert "pass" == _judge(many).outcome
    lost = _drop([0.6 * value for value in THEN] * 10, THEN * 10, widest=1.0)
    assert 0.4 == pytest.approx(lost.value)
    assert "fail" == _judge(lost).outcome
    assert lost.p is not None
    assert lost.p < 0.05
