"""Estimates count every answer, keep samples together and refuse what cannot be compared."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_xling.errors import EvaluationError
from pytest_xling.gates.estimate import Measure, estimate
from pytest_xling.records import ALL_LANGUAGES, Estimate, Score
from pytest_xling.stats.mean import mean_interval
from pytest_xling.stats.rate_intervals import exact_interval
from tests.gates.judging import score

if TYPE_CHECKING:
    import random

    from pytest_xling.interfaces.metric import Bounds, MetricKind


def _score(value: float | None, sample: str, **fields: str) -> Score:
    return score(value, sample, **{"signature": "m|v1", "reason": ""} | fields)


def _estimate(
    scores: list[Score],
    kind: MetricKind = "flag",
    language: str = "hi",
    bounds: Bounds = (None, None),
) -> Estimate:
    return estimate(
        scores, Measure(metric="m", language=language, share=kind == "flag", bounds=bounds)
    )


def test_rate() -> None:
    """One answer per sample gives the plain exact interval; what has no score is counted apart."""
    scores = [_score(float(i < 4), f"q{i}") for i in range(54)] + [_score(None, "q54")]
    low, high = exact_interval(4 / 54, 54) or (0.0, 0.0)
    expected = Estimate(
        metric="m",
        language="hi",
        value=4 / 54,
        low=low,
        high=high,
        n=54,
        unscored=1,
        flagged=4,
        signature="m|v1",
        share=True,
    )
    assert expected == _estimate(scores)


def test_repeats_do_not_narrow_the_interval() -> None:
    """Asking the same questions five times with the same outcome says nothing new."""
    once = [_score(float(i < 4), f"q{i}") for i in range(20)]
    often = [replace(score, condition=f"r{k}") for score in once for k in range(5)]
    one, five = _estimate(once), _estimate(often)
    assert pytest.approx((one.value, one.low, one.high)) == (five.value, five.low, five.high)
    assert (100, 20) == (five.n, five.flagged)


def test_mean() -> None:
    """A number gets the clustered interval of a mean, its standard error, and no flags."""
    scores = [_score(float(i % 7), f"q{i % 9}", condition=f"r{i}") for i in range(30)]
    result = _estimate(scores, "number")
    expected = mean_interval([float(i % 7) for i in range(30)], [i % 9 for i in range(30)])
    assert expected is not None
    found = (result.low, result.high, result.error)
    assert (expected.low, expected.high, expected.error) == pytest.approx(found)
    assert (30, 0) == (result.n, result.flagged)


def test_an_interval_knows_the_bounds() -> None:
    """A share is not above 1; what has not been seen may be as low as the bound, not lower."""
    values = [1.0, 1.0, 0.5, 1.0]
    scores = [_score(value, f"q{i}") for i, value in enumerate(values)]
    result = _estimate(scores, "number", bounds=(0.0, 1.0))
    expected = mean_interval(values, range(4), bounds=(0.0, 1.0))
    assert expected is not None
    assert (expected.low, expected.high) == (result.low, result.high)
    far = _estimate(scores, "number", bounds=(-3.0, 1.0))
    assert (far.high, far.value) == (result.high, result.value)
    assert far.low is not None
    assert result.low is not None
    assert far.low < result.low


def test_equal_numbers_have_an_interval_where_bounds_are_known() -> None:
    """Else there is none, and the reason says why."""
    scores = [_score(1.0, f"q{i}") for i in range(10)]
    known = _estimate(scores, "number", bounds=(0.0, 1.0))
    assert (0.69, 1.0) == pytest.approx((known.low, known.high), abs=0.01)
    unknown = _estimate(scores, "number", bounds=(None, None))
    assert (1.0, None, None) == (unknown.value, unknown.low, unknown.high)
    assert unknown.reason.startswith("all values are equal")


@pytest.mark.parametrize("value", [-0.25, 1.25])
def test_a_value_beyond_the_bounds(value: float) -> None:
    """It contradicts what the metric says of itself."""
    scores = [_score(value, "q1"), _score(0.5, "q2")]
    with pytest.raises(EvaluationError, match=r"'m' gave .* its bounds are 0.0 and 1.0"):
        _estimate(scores, "number", bounds=(0.0, 1.0))


def test_one_sample_has_a_mean_but_no_interval() -> None:
    """A mean of one sample is known, its spread is not."""
    result = _estimate([_score(3.0, "q0"), _score(5.0, "q0", condition="r1")], "number")
    assert (4.0, None, None, 2) == (result.value, result.low, result.high, result.n)
    assert result.reason.endswith("needs 2 questions")


def test_languages_pooled() -> None:
    """All languages together keep the parallel versions of a sample in one cluster."""
    scores = [_score(1.0, f"q{i}", language=code) for i in range(4) for code in ("hi", "zh", "sw")]
    result = _estimate(scores, language=ALL_LANGUAGES)
    assert pytest.approx(exact_interval(1.0, 4)) == (result.low, result.high)


@pytest.mark.parametrize(
    ("scores", "reason"),
    [
        ([], "no answers"),
        (
            [_score(None, "a", reason="empty"), _score(None, "b", reason="empty")],
            "none of 2 answers could be scored; empty",
        ),
        (
            [
                _score(None, "a", reason="z"),
                _score(None, "b", reason="filtered"),
                _score(None, "c", reason="empty"),
                _score(None, "d", reason="filtered"),
            ],
            "none of 4 answers could be scored; 2 of them: filtered",
        ),
    ],
)
@pytest.mark.parametrize("kind", ["flag", "number"])
def test_no_score_no_value(scores: list[Score], reason: str, kind: MetricKind) -> None:
    """Without any score the value is None and the reason says why."""
    expected = Estimate(
        metric="m",
        language="hi",
        value=None,
        low=None,
        high=None,
        n=0,
        unscored=len(scores),
        reason=reason,
        share=kind == "flag",
    )
    assert expected == _estimate(scores, kind)


def test_different_signatures() -> None:
    """Scores made in different ways are never put together; both ways are named."""
    scores = [_score(0.0, "a"), replace(_score(0.0, "b"), signature="m|v2")]
    with pytest.raises(EvaluationError, match=r"'m\|v1'; 'm\|v2'\. Score all answers again"):
        _estimate(scores)


def test_a_function_that_every_process_signs_otherwise() -> None:
    """What it names was made of a set; the message says what to do."""
    scores = [replace(_score(0.0, name), signature=f"m|v1|source:{name}") for name in "ab"]
    with pytest.raises(EvaluationError, match=r"one version; where one run made them, .* sort wha"):
        _estimate(scores)


def test_signature_of_what_has_no_score() -> None:
    """An answer that was never scored has no way it was scored."""
    scores = [_score(0.0, "a"), replace(_score(None, "b"), signature="")]
    assert "m|v1" == _estimate(scores).signature


@pytest.mark.parametrize(
    ("scores", "kind", "expected"),
    [
        ([_score(0.5, "a")], "flag", "a flag is 1.0 or 0.0"),
        ([_score(math.nan, "a")], "number", "a number, or None and a reason"),
        ([_score(math.inf, "a")], "flag", "a number, or None and a reason"),
        ([_score(0.0, "a"), _score(0.0, "a")], "flag", "2 scores for one answer"),
        ([replace(_score(0.0, "a"), metric="x")], "flag", "does not belong to the estimate"),
        ([_score(0.0, "a", language="zh")], "flag", "does not belong to the estimate"),
    ],
)
def test_refused(scores: list[Score], kind: MetricKind, expected: str) -> None:
    """Mixed up or broken scores stop the estimate."""
    with pytest.raises(EvaluationError, match=expected):
        _estimate(scores, kind)


@given(
    st.lists(st.sampled_from([None, 0.0, 1.0]), max_size=40),
    st.sampled_from(["flag", "number"]),
    st.integers(1, 10),
    st.randoms(use_true_random=False),
)
def test_order_does_not_matter(
    values: list[float | None], kind: MetricKind, samples: int, generator: random.Random
) -> None:
    """Answers may come in any order: the estimate is the same to the last bit."""
    scores = [
        _score(value, f"q{i % samples}", condition=f"r{i}", reason=f"why {i % 3}")
        for i, value in enumerate(values)
    ]
    expected = _estimate(scores, kind)
    generator.shuffle(scores)
    assert expected == _estimate(scores, kind)


@given(st.lists(st.booleans(), min_size=1, max_size=60), st.integers(1, 20))
def test_interval_holds_the_rate(flags: list[bool], samples: int) -> None:
    """The interval lies within 0 to 1 and around the rate, however answers cluster."""
    scores = [
        _score(float(flag), f"q{i % samples}", condition=f"r{i}") for i, flag in enumerate(flags)
    ]
    result = _estimate(scores)
    assert result.value is not None
    assert result.low is not None
    assert result.high is not None
    assert 0 <= result.low <= result.value <= result.high <= 1
