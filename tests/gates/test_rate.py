"""Rates are judged by their interval, and the reason says what would decide."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_xling.gates.estimate import Measure, estimate
from pytest_xling.gates.judge import judge, tolerated
from pytest_xling.records import Estimate, Score, Threshold, Verdict
from tests.gates.judging import score

ORDER = ["pass", "inconclusive", "fail"]


def _scores(flagged: int, n: int, *, repeats: int = 1, unscored: int = 0) -> list[Score]:
    values = [float(i < flagged) for i in range(n)] + [None] * unscored
    return [
        score(value, f"q{i // repeats}", condition=f"r{i % repeats}")
        for i, value in enumerate(values)
    ]


def _threshold(max_rate: float | None = 0.05, *, alpha: float = 0.05, min_n: int = 20) -> Threshold:
    return Threshold(
        benchmark="culture",
        metric="m",
        language="hi",
        max_rate=max_rate,
        alpha=alpha,
        min_n=min_n,
        origin="thresholds.yaml:3",
    )


def _estimate(scores: list[Score], alpha: float = 0.05) -> Estimate:
    return estimate(scores, Measure(metric="m", language="hi", share=True, alpha=alpha))


def _judge(scores: list[Score], threshold: Threshold) -> Verdict:
    return judge(_estimate(scores, threshold.alpha), threshold, case="gate")


def test_verdict_holds_everything() -> None:
    """A verdict can be read on its own."""
    result, threshold = _estimate(_scores(0, 100)), _threshold()
    expected = Verdict(
        case="gate",
        outcome="pass",
        estimate=result,
        threshold=threshold,
        reason="0 of 100 answers flagged: 0.0% (95% interval 0.0% to 3.6%); budget 5.0%",
    )
    assert expected == judge(result, threshold, case="gate")


@pytest.mark.parametrize(
    ("flagged", "n", "outcome", "reason"),
    [
        (
            30,
            100,
            "fail",
            "30 of 100 answers flagged: 30.0% (95% interval 21.2% to 40.0%); budget 5.0% exceeded",
        ),
        (
            0,
            54,
            "inconclusive",
            (
                "0 of 54 answers flagged: 0.0% (95% interval 0.0% to 6.6%); budget 5.0%;"
                " passing takes 72 answers without a flag; has 54"
            ),
        ),
        (
            4,
            54,
            "inconclusive",
            (
                "4 of 54 answers flagged: 7.4% (95% interval 2.1% to 17.9%); budget 5.0%;"
                " needs about 386 answers at this value; has 54"
            ),
        ),
        (
            3,
            60,
            "inconclusive",
            (
                "3 of 60 answers flagged: 5.0% (95% interval 1.0% to 13.9%); budget 5.0%;"
                " cannot be decided so near the limit"
            ),
        ),
        (
            12,
            12,
            "fail",
            "12 of 12 answers flagged: 100.0% (95% interval 73.5% to 100.0%); budget 5.0% exceeded",
        ),
        (
            2,
            12,
            "inconclusive",
            (
                "2 of 12 answers flagged: 16.7% (95% interval 2.1% to 48.4%); budget 5.0%;"
                " too few answers: needs 20, has 12; passing takes 142 answers with no more than 2"
                " flagged"
            ),
        ),
    ],
)
def test_outcomes(flagged: int, n: int, outcome: str, reason: str) -> None:
    """The interval within the budget passes, above it fails, else more answers are asked for."""
    verdict = _judge(_scores(flagged, n), _threshold())
    assert (outcome, reason) == (verdict.outcome, verdict.reason)


def test_nothing_scored() -> None:
    """No answer is no pass, even where no flag is tolerated; the reason is the estimate's."""
    for budget in (0.0, 0.05, 1.0):
        verdict = _judge(_scores(0, 0, unscored=2), _threshold(budget))
        assert ("inconclusive", "none of 2 answers could be scored; too short") == (
            verdict.outcome,
            verdict.reason,
        )


@pytest.mark.parametrize(
    ("flagged", "n", "budget", "end"),
    [
        (0, 4, 0.05, "needs 10, has 4; passing takes 72 answers without a flag"),
        (1, 4, 0.05, "needs 10, has 4; passing takes 110 answers with no more than 1 flagged"),
        (0, 18, 0.05, "budget 5.0%; passing takes 72 answers without a flag; has 18"),
        # Ten without a flag do.
        (0, 4, 0.35, "needs 10, has 4"),
    ],
)
def test_what_passing_takes(flagged: int, n: int, budget: float, end: str) -> None:
    """Where more than min_n answers are needed the reason says so, and so many pass."""
    limits = _threshold(budget, min_n=10)
    reason = _judge(_scores(flagged, n), limits).reason
    assert reason.endswith(end)
    if asked := re.search(r"passing takes (\d+) answers", reason):
        answers = int(asked[1])
        outcomes = [_judge(_scores(flagged, n), limits).outcome for n in (answers, answers - 1)]
        assert ["pass", "inconclusive"] == outcomes


def test_unscored_answers_are_told() -> None:
    """A reader sees how many answers the rate leaves out."""
    reason = _judge(_scores(0, 100, unscored=7), _threshold()).reason
    assert reason.startswith("0 of 100 answers flagged, 7 unscored: 0.0%")


def test_repeats_are_told() -> None:
    """Where answers are alike, the reason says how little they are worth together."""
    verdict = _judge(_scores(0, 100, repeats=5), _threshold())
    assert "inconclusive" == verdict.outcome
    assert verdict.reason.endswith(
        "passing takes 360 answers without a flag; has 100, worth 20 since answers to one question"
        " are alike"
    )


@pytest.mark.parametrize(
    ("flagged", "n", "outcome", "end"),
    [
        (1, 500, "fail", "budget 0.0%: none is tolerated"),
        (1, 3, "fail", "budget 0.0%: none is tolerated"),
        (0, 20, "pass", "budget 0.0%"),
        (0, 3, "inconclusive", "too few answers: needs 20, has 3"),
    ],
)
def test_a_budget_of_zero_is_a_rule(flagged: int, n: int, outcome: str, end: str) -> None:
    """One flag fails whatever the interval says; none passes once there are min_n answers."""
    verdict = _judge(_scores(flagged, n), _threshold(0.0))
    assert outcome == verdict.outcome
    assert verdict.reason.endswith(end)


def test_a_budget_of_one_always_passes() -> None:
    """A rate cannot exceed 1."""
    assert "pass" == _judge(_scores(20, 20), _threshold(1.0)).outcome


def test_tolerated() -> None:
    """A single flag is expected only where a budget above 0 says so."""
    assert [False, False, True, False] == [
        tolerated(None),
        tolerated(_threshold(0.0)),
        tolerated(_threshold(0.05)),
        tolerated(_threshold(None)),
    ]


def test_tolerated_by_all_gates_it_counts_for() -> None:
    """A flag counts for all levels and for its own: the stricter of the two rules."""
    gap = replace(_threshold(None), max_gap=0.1)
    assert [True, False, False, True, False] == [
        tolerated(_threshold(0.3), _threshold(0.05)),
        tolerated(_threshold(0.3), _threshold(0.0)),
        tolerated(_threshold(0.0), _threshold(0.3)),
        tolerated(gap, _threshold(0.3)),
        tolerated(gap, None),
    ]


def test_advisory_gates_fail_no_case() -> None:
    """A flag that counts for these only is tolerated, whatever the budget; others still hold."""
    advice = replace(_threshold(0.0), tier="advisory")
    assert [True, True, False, True, False] == [
        tolerated(advice),
        tolerated(advice, None),
        tolerated(advice, _threshold(0.0)),
        tolerated(_threshold(0.05), advice),
        tolerated(advice, _threshold(None)),
    ]


@given(st.integers(1, 200), st.data(), st.floats(0, 1), st.floats(0.001, 0.5), st.integers(1, 50))
def test_more_flags_never_help(
    n: int, data: st.DataObject, budget: float, alpha: float, min_n: int
) -> None:
    """Flagging one more of independent answers never moves the outcome towards pass."""
    flagged = data.draw(st.integers(0, n - 1))
    threshold = _threshold(budget, alpha=alpha, min_n=min_n)
    before = _judge(_scores(flagged, n), threshold).outcome
    after = _judge(_scores(flagged + 1, n), threshold).outcome
    assert ORDER.index(before) <= ORDER.index(after)


@given(
    st.lists(st.booleans(), min_size=1, max_size=60), st.data(), st.integers(1, 6), st.floats(0, 1)
)
def test_more_flags_never_turn_fail_into_pass(
    flags: list[bool], data: st.DataObject, repeats: int, budget: float
) -> None:
    """That holds for repeated answers too, wherever the new flag falls."""
    scores = [
        replace(score, value=float(flag))
        for score, flag in zip(_scores(0, len(flags), repeats=repeats), flags, strict=True)
    ]
    place = data.draw(st.integers(0, len(flags) - 1))
    worse = [*scores]
    worse[place] = replace(scores[place], value=1.0)
    outcomes = [_judge(given_, _threshold(budget, min_n=1)).outcome for given_ in (scores, worse)]
    assert ["fail", "pass"] != outcomes


@given(st.integers(20, 300), st.data(), st.floats(0.01, 0.99))
def test_what_would_decide_does(n: int, data: st.DataObject, budget: float) -> None:
    """With as many answers as the reason asks for, at the same rate, the gate is decided."""
    flagged = data.draw(st.integers(0, n))
    verdict = _judge(_scores(flagged, n), _threshold(budget))
    asked = re.search(r"(?:needs about|passing takes) (\d+) answers", verdict.reason)
    if asked is None:
        assert "inconclusive" != verdict.outcome or "cannot be decided" in verdict.reason
        return
    # Whole multiples keep the rate exactly.
    times = -(-int(asked[1]) // n)
    decided = _judge(_scores(flagged * times, n * times), _threshold(budget))
    assert decided.outcome in ("pass", "fail")
