"""What two languages have of the same samples."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_xling.errors import EvaluationError
from pytest_xling.gates.estimate import Measure, estimate
from pytest_xling.gates.pairing import differing, paired_means, sample_means, temperature_of
from pytest_xling.records import Condition
from tests.gates.judging import score

if TYPE_CHECKING:
    from pytest_xling.records import Score


def _score(sample: str, value: float | None, **fields: str) -> Score:
    return score(value, sample, **{"benchmark": "health"} | fields)


def test_repeats_are_averaged_at_each_temperature() -> None:
    """By benchmark and sample; what has no value is not there."""
    scores = [
        _score("q2", 0.5, condition="t1-r1"),
        _score("q1", 1.0),
        _score("q2", 0.1, condition="t1"),
        _score("q1", 2.0, condition="r1"),
        _score("q1", None, condition="t1"),
        _score("q3", None),
        _score("q1", 5.0, benchmark="bread"),
    ]
    found = sample_means(scores)
    assert {
        ("bread", "q1"): {0.0: 5.0},
        ("health", "q1"): {0.0: 1.5},
        ("health", "q2"): {1.0: 0.3},
    } == found
    assert list(found.items()) == list(sample_means(scores[::-1]).items())


def test_only_what_both_have_is_paired() -> None:
    """The same samples, at the same temperatures."""
    ours = [_score("q1", 1.0), _score("q1", 3.0, condition="t1"), _score("q2", 4.0)]
    theirs = [
        _score("q1", 5.0, condition="t1"),
        _score("q1", 6.0, condition="t0.5"),
        _score("q3", 7.0),
        _score("q2", 8.0, benchmark="bread"),
    ]
    assert [(3.0, 5.0)] == paired_means(ours, theirs)
    assert [] == paired_means(ours, [])


def test_samples_of_a_question_are_one_pair() -> None:
    """Paired one by one, then averaged: a question counts once, whatever it is asked about."""
    ours = [_score(f"q1-a{n}", float(n), cluster="q1") for n in (1, 2, 3)]
    theirs = [_score(f"q1-a{n}", 10.0 * n, cluster="q1") for n in (1, 2)]
    other = _score("q2-a1", 7.0, cluster="q2")
    assert [(1.5, 15.0), (7.0, 7.0)] == paired_means([*ours, other], [*theirs, other])


def test_what_is_no_number_is_refused() -> None:
    """A mean of NaN would be NaN."""
    with pytest.raises(EvaluationError, match="gave nan"):
        sample_means([_score("q1", math.nan)])


def test_estimates_know_of_questions() -> None:
    """Five answers about one question are worth one: the interval is that of the questions."""
    flags = [1.0, 0.0, 0.0, 1.0, 0.0, 0.0]
    alike = [
        _score(f"q{number}-a{answer}", value, cluster=f"q{number}")
        for number, value in enumerate(flags)
        for answer in range(5)
    ]
    single = [_score(f"q{number}", value) for number, value in enumerate(flags)]
    made, expected = (
        estimate(scores, Measure(metric="m", language="hi", share=True))
        for scores in (alike, single)
    )
    assert (30, 6) == (made.n, expected.n)
    assert (expected.low, expected.high) == pytest.approx((made.low, made.high))


@given(st.none() | st.floats(0, 2) | st.sampled_from([0.25, 1.0, 1e-7, 2.0]), st.integers(0, 20))
def test_what_a_condition_says_is_read_back(temperature: float | None, repeat: int) -> None:
    """Whatever the temperature and the repeat; None reads as 0, since the id has neither."""
    condition = Condition(temperature=temperature, repeat=repeat)
    assert (temperature or 0.0) == temperature_of(condition.id)


@pytest.mark.parametrize("text", ["0.7", "tr1", "t", "r", "t1r2", "-r2", "t1-", "t1-r2-r3", "q1"])
def test_other_texts_are_refused(text: str) -> None:
    """Whatever is no condition is an error, not a temperature of 0."""
    with pytest.raises(EvaluationError, match="is no condition"):
        temperature_of(text)


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
