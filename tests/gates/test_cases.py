"""Limits per case: how many repeats of a question may be flagged, and of how many questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_xling.gates.estimate import Measure, cases_estimate
from pytest_xling.gates.judge import tolerated
from pytest_xling.gates.reasons import limit_of
from pytest_xling.records import Estimate, Score, Threshold, Verdict
from pytest_xling.stats.rate_intervals import exact_interval
from tests.gates.judging import judge_gate, score

if TYPE_CHECKING:
    from random import Random

Flags: TypeAlias = Sequence[float | None]
"""Of one case, by its repeats; None where there is no value."""

METRIC = "no_answer"
LIMITS = Threshold(
    benchmark="b",
    metric=METRIC,
    language="hi",
    max_flagged=1,
    repeats=5,
    max_cases=0.3,
    min_n=10,
)


def _scores(flags: Sequence[Flags], *, temperature: str = "", cluster: str = "") -> list[Score]:
    """Return the scores of cases by their repeats."""
    return [
        score(
            value,
            f"q{number}",
            metric=METRIC,
            condition="-".join(filter(None, (temperature, f"r{repeat}" if repeat else ""))),
            cluster=cluster,
        )
        for number, of_case in enumerate(flags)
        for repeat, value in enumerate(of_case)
    ]


def _judge(flags: Sequence[Flags], **limits: Any) -> Verdict:
    return judge_gate(_scores(flags), replace(LIMITS, **limits), kind="cases")


def _estimate(scores: Sequence[Score]) -> Estimate:
    measure = Measure(metric=METRIC, language="hi", share=True, limits=(0.3,))
    return cases_estimate(scores, measure, flagged=1, repeats=5)


def _case(flagged: int, *, of: int = 5) -> list[float]:
    return [1.0] * flagged + [0.0] * (of - flagged)


def test_a_case_is_bad_with_more_flags_than_may_be() -> None:
    """The share of bad ones has the exact interval, and pass^k is told beside it."""
    verdict = _judge([_case(2), *[_case(1)] * 3, *[_case(0)] * 36])
    assert "no_answer-cases-hi" == verdict.case
    assert "pass" == verdict.outcome
    made = verdict.estimate
    assert (1, 40, 0, 0) == (made.flagged, made.n, made.unscored, made.unknown)
    assert exact_interval(1 / 40, 40, alpha=0.05) == (made.low, made.high)
    assert verdict.reason.startswith(
        "1 of 40 cases with more than 1 of 5 flagged: 2.5% (95% interval 0.1% to 13.2%);"
        " pass^1 97.5% (95% interval "
    )
    assert ", pass^5 90.0% (95% interval 76.3% to 97.2%); budget 30.0%" in verdict.reason
    assert "max 30.0% over 1 of 5" == limit_of(verdict)
    every_time = _judge([_case(2), *[_case(1)] * 3, *[_case(0)] * 36], max_flagged=0)
    assert (4, 0.1) == (every_time.estimate.flagged, every_time.estimate.value)
    assert "fail" == _judge([_case(3)] * 20 + [_case(0)] * 5).outcome


def test_what_would_decide_is_told_in_cases() -> None:
    """As of rates, in their own word; of answers nothing is said."""
    few = _judge([_case(0)] * 4)
    assert few.reason.endswith(
        "too few cases: needs 10, has 4; passing takes 11 cases without a bad one"
    )
    some = _judge([_case(2)] * 4 + [_case(0)] * 16)
    assert "inconclusive" == some.outcome
    assert "needs about" in some.reason
    assert some.reason.endswith("cases at this value; has 20")


def test_none_at_all_is_a_rule() -> None:
    """With no bad case allowed one fails, and what is unknown does not pass."""
    assert "fail" == _judge([_case(2), *[_case(0)] * 40], max_cases=0.0).outcome
    assert "pass" == _judge([_case(1)] * 12, max_cases=0.0).outcome
    unknown = _judge([*[_case(1)] * 12, [1.0, 0.0, 0.0, 0.0, None]], max_cases=0.0)
    assert "inconclusive" == unknown.outcome
    assert unknown.reason.endswith("needs a value of all 5 repeats of a case")


def test_too_few_repeats_are_unknown_where_it_matters() -> None:
    """One is bad already, one stays good; one may become either, as may one without any value."""
    partial: list[Flags] = [
        [1.0, 1.0, None, None, None],
        [0.0, 0.0, 0.0, 0.0, None],
        [1.0, 0.0, 0.0, 0.0, None],
        [None] * 5,
    ]
    made = _judge([*partial, *[_case(0)] * 17]).estimate
    assert (1, 21, 0, 2) == (made.flagged, made.n, made.unscored, made.unknown)
    low, high = exact_interval(1 / 21, 21, alpha=0.05), exact_interval(3 / 21, 21, alpha=0.05)
    assert low is not None
    assert high is not None
    assert (low[0], high[1]) == (made.low, made.high)
    # Asked three times only, cases with one flag are all unknown; those with two are bad.
    short = _judge([_case(1, of=3)] * 30)
    assert "inconclusive" == short.outcome
    assert "0 of 30 cases with more than 1 of 5 flagged, 30 unknown: 0.0%" in short.reason
    assert "fail" == _judge([_case(2, of=3)] * 30).outcome
    assert "no answers" == _judge([]).reason


def test_temperatures_and_further_repeats() -> None:
    """Each temperature is a case of its own, alike within a question; the first five count."""
    flags = [_case(2) if n < 5 else _case(0) for n in range(20)]
    twice = [*_scores(flags, temperature="t0.7"), *_scores(flags)]
    made = _estimate(twice)
    once = _estimate(_scores(flags))
    assert (10, 40) == (made.flagged, made.n)
    assert (once.low, once.high) == pytest.approx((made.low, made.high))
    late: list[Flags] = [[0.0] * 10 + [1.0, 1.0], [None, *_case(2, of=11)]]
    more = _estimate(_scores([*late, *[_case(0, of=12)] * 10]))
    assert (1, 12) == (more.flagged, more.n)


@settings(max_examples=50, deadline=None)
@given(
    st.lists(
        st.lists(st.sampled_from([0.0, 1.0, None]), min_size=1, max_size=7), min_size=1, max_size=12
    ),
    st.randoms(use_true_random=False),
)
def test_neither_order_nor_missing_values_mislead(flags: list[Flags], random: Random) -> None:
    """Whatever the missing ones would have been, the interval is within the one without them."""
    scores = _scores(flags)
    made = _estimate(scores)
    shuffled = list(scores)
    random.shuffle(shuffled)
    assert made == _estimate(shuffled)
    there = [of_case for of_case in flags if any(value is not None for value in of_case)]
    for value in (0.0, 1.0):
        filled = [
            [value if v is None else v for v in (*of_case, *[None] * 5)][:5] for of_case in there
        ]
        if there and all(len(of_case) <= 5 for of_case in flags):
            full = _estimate(_scores(filled))
            assert made.low is not None
            assert made.high is not None
            assert full.low is not None
            assert full.high is not None
            assert made.low <= full.low + 1e-12
            assert full.high <= made.high + 1e-12


def test_a_single_flag() -> None:
    """It fails its own case only where it alone makes a bad one, and none may be."""
    strict = replace(LIMITS, max_flagged=0, max_cases=0.0)
    assert [True, True, True, False, False] == [
        tolerated(LIMITS),
        tolerated(replace(LIMITS, max_cases=0.0)),
        tolerated(replace(strict, max_cases=0.1)),
        tolerated(strict),
        tolerated(replace(LIMITS, max_rate=0.0)),
    ]


@pytest.mark.slow
@pytest.mark.parametrize("rate", [0.02, 0.1, 0.3])
@pytest.mark.parametrize("icc", [0.05, 0.5])
@pytest.mark.parametrize("questions", [20, 60])
def test_shares_and_pass_k_keep_the_level(rate: float, icc: float, questions: int) -> None:
    """93 % at least of the bad cases and of pass^1 and pass^5, at two temperatures alike."""
    rng = np.random.default_rng(9)
    strength = 1 / icc - 1
    many = rng.beta(rate * strength, (1 - rate) * strength, 200_000)
    bad = 1 - (1 - many) ** 5 - 5 * many * (1 - many) ** 4
    truths = [float(bad.mean()), float((1 - many).mean()), float(((1 - many) ** 5).mean())]
    held = np.zeros(3)
    runs = 400
    for _ in range(runs):
        hard = rng.beta(rate * strength, (1 - rate) * strength, questions)
        scores = []
        for temperature in ("", "t0.7"):
            flags = (rng.random((questions, 5)) < hard[:, None]).astype(float)
            scores += _scores(flags.tolist(), temperature=temperature)
        made = _estimate(scores)
        assert made.low is not None
        assert made.high is not None
        ends = [(made.low, made.high)]
        for told in made.tested.split("), "):
            low, high = told.partition("interval ")[2].rstrip(")").split(" to ")
            ends.append((float(low[:-1]) / 100, float(high[:-1]) / 100))
        # What is told is rounded to a tenth of a percent.
        held += [
            low - 5e-4 <= truth <= high + 5e-4
            for (low, high), truth in zip(ends, truths, strict=True)
        ]
    assert (held / runs >= 0.93).all(), held / runs
