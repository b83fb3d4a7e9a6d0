"""Looks at gates: the same questions everywhere, and no more false alarms than one look has."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest

from pytest_xling.gates.decide import judge_gates
from pytest_xling.gates.interim_looks import Looks, at_look, verdict_at_look
from pytest_xling.gates.spec import GateSpec
from pytest_xling.planning.plan import Case
from pytest_xling.records import Condition, Sample
from tests.gates.judging import limits, scores_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_xling.records import Score, Verdict
    from pytest_xling.stats.sequential import Spending

LANGUAGES = ("es", "hi", "zh")


def _case(number: int, language: str, level: int = 0) -> Case:
    sample = Sample(
        id=f"q{number}-l{level}",
        benchmark="b",
        language=language,
        prompt={"question": "?"},
        parallel_id=f"q{number}",
    )
    return Case(
        id=f"q{number}-l{level}-{language}", sample=sample, condition=Condition(), position=number
    )


def _looks(many: int, *, questions: int = 25, seed: int = 0, reverse: bool = False) -> Looks:
    cases = [_case(n, code, level) for n in range(questions) for code in "xyz" for level in (0, 1)]
    if reverse:
        cases.reverse()
    return Looks.of(
        (case.question for case in cases), benchmark="b", how=f"pocock:{many}", seed=seed
    )


def test_questions_are_drawn_whole_and_in_one_order() -> None:
    """Neither languages nor levels nor the order of cases matter; the seed does."""
    drawn = _looks(10)
    assert drawn.questions == _looks(10, reverse=True).questions != _looks(10, seed=1).questions
    assert {f"q{n}" for n in range(25)} == set(drawn.questions)
    assert drawn.questions != tuple(sorted(drawn.questions))
    assert "q3" == _case(3, "hi", level=4).question
    # Which questions are left of a selection stays in order.
    fewer = [question for question in drawn.questions if int(question[1:]) < 12]
    assert fewer == list(_looks(10, questions=12).questions)


def test_looks_share_the_questions_out() -> None:
    """Each look has the questions of those before it, the last one all."""
    drawn = _looks(10)
    assert (3, 5, 8, 10, 13, 15, 18, 20, 23, 25) == drawn.ends
    assert frozenset() == drawn.asked(0)
    assert drawn.asked(2) == set(drawn.questions[:5])
    assert (0.12, 1.0) == (drawn.share(1), drawn.share(10))
    for question, stage in drawn.stages.items():
        assert question in drawn.asked(stage)
        assert question not in drawn.asked(stage - 1)


def test_fewer_questions_than_looks() -> None:
    """Each question is a look of its own."""
    drawn = _looks(10, questions=3)
    assert ((1, 2, 3), 3) == (drawn.ends, drawn.last)
    assert 0.05 == pytest.approx(drawn.at(3, alpha=0.05).spent)


def _planned(many: int, spending: Spending = "pocock", questions: int = 200) -> Looks:
    """Return looks at questions in the order of their numbers."""
    return Looks(tuple(f"q{n}" for n in range(questions)), spending, many)


def _gate(language: str = "hi", *, metric: str = "no_answer", **demands: float) -> GateSpec:
    threshold = limits(metric=metric, language=language, min_n=5, **demands)
    if "max_gap" in demands:
        return GateSpec(threshold=threshold, kind="gap", pivot="en")
    return GateSpec(threshold=threshold)


def _look(
    gates: Sequence[GateSpec], scores: Mapping[str, list[Score]], planned: Looks, look: int
) -> list[Verdict]:
    """Judge gates at a look by the scores of the first questions."""
    so_far = {code: of[: planned.ends[look - 1] if look else 0] for code, of in scores.items()}
    verdicts = judge_gates([at_look(gate, planned, look) for gate in gates], so_far.__getitem__)
    return [
        verdict_at_look(verdict, gate, planned, look)
        for verdict, gate in zip(verdicts, gates, strict=True)
    ]


def _judged(gate: GateSpec, planned: Looks, look: int, values: Sequence[float]) -> tuple[str, str]:
    scores = scores_of(values, metric=gate.metric)
    (verdict,) = _look([gate], {"hi": scores}, planned, look)
    return verdict.outcome, verdict.reason


def test_a_gate_fails_at_any_look_and_passes_at_the_last() -> None:
    """Each time at the alpha of the look, which is told."""
    planned = _looks(5, questions=100)
    good, bad = [0.0] * 100, [1.0] * 100
    gate = _gate(max_rate=0.3)
    assert "fail" == _judged(gate, planned, 1, bad)[0]
    outcome, reason = _judged(gate, planned, 1, good)
    assert "inconclusive" == outcome
    assert reason.endswith("(pocock): a gate does not pass before the last look")
    outcome, reason = _judged(gate, planned, 5, good)
    assert "pass" == outcome
    assert reason.endswith(
        "look 5 of 5 at 100.0% of the questions, an error of 0.017 of the 0.05 allowed (pocock)"
    )
    assert "98.3% interval" in reason.replace("98.30%", "98.3%").replace("98.29%", "98.3%")


def test_too_early_to_decide() -> None:
    """Where O'Brien and Fleming spend nothing yet, only a rule without alpha can fail."""
    planned = _planned(50, "obrien-fleming", 500)
    assert 0.0 == planned.at(1, alpha=0.05).alpha
    outcome, reason = _judged(_gate(max_rate=0.3), planned, 1, [1.0] * 10)
    assert "inconclusive" == outcome
    assert reason.endswith("too early to decide anything")
    assert "fail" == _judged(_gate(max_rate=0.0), planned, 1, [1.0, *[0.0] * 9])[0]


def test_before_any_question() -> None:
    """A run that stopped elsewhere decides nothing here."""
    outcome, reason = _judged(_gate(max_rate=0.3), _looks(5), 0, [])
    assert "inconclusive" == outcome
    assert "the run stopped early, before this benchmark was asked" == reason


RUNS, FEWER, QUESTIONS = 400, 150, 200


def _alarms(gates: Sequence[GateSpec], answers: np.ndarray, planned: Looks | None) -> np.ndarray:
    """Return in which of many runs a gate fails at a look; naively at ten looks where unplanned.

    Args:
        gates: of one metric.
        answers: 0 or 1, by run, language (English first) and question.
        planned: the looks.
    """
    codes = ("en", *LANGUAGES)
    alarms = np.zeros(len(answers), dtype=bool)
    for run, languages in enumerate(answers.tolist()):
        scores = {
            code: scores_of(values, code, metric="no_answer")
            for code, values in zip(codes, languages, strict=False)
        }
        for look in range(1, 11):
            if planned:
                verdicts = _look(gates, scores, planned, look)
            else:
                end = QUESTIONS * look // 10
                so_far = {code: found[:end] for code, found in scores.items()}
                verdicts = judge_gates(gates, so_far.__getitem__)
            if any(verdict.outcome == "fail" for verdict in verdicts):
                alarms[run] = True
                break
    return alarms


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spending", "budget", "count"),
    [
        ("obrien-fleming", 0.05, 50),
        *(
            pytest.param(spending, budget, RUNS, marks=pytest.mark.slow)
            for spending in ("pocock", "obrien-fleming")
            for budget in (0.05, 0.2)
        ),
    ],
)
def test_a_model_at_its_limit_is_seldom_stopped(
    spending: Spending, budget: float, count: int
) -> None:
    """A rate just at its budget fails in 2.5 % of runs, ten looks together; naively in over 5 %."""
    rng = np.random.default_rng(11)
    answers = (rng.random((count, 2, QUESTIONS)) < budget).astype(float)
    planned = _planned(10, spending)
    gate = _gate(language="es", max_rate=budget)
    # 2.5 % and two standard errors.
    assert _alarms([gate], answers, planned).mean() < 0.025 + 2 * math.sqrt(0.025 * 0.975 / count)
    if spending == "pocock":
        assert _alarms([gate], answers, None).mean() > 0.05


@pytest.mark.slow
def test_a_family_of_gaps_is_seldom_stopped() -> None:
    """Three correlated languages no worse than they may be: one of them fails in under 5 %."""
    rng = np.random.default_rng(12)
    hard = rng.random((FEWER, 1, QUESTIONS)) < 0.5  # half of what raises a flag is the question's
    own = rng.random((FEWER, 4, QUESTIONS))
    rates = np.array([0.1, 0.2, 0.2, 0.2])[:, None]
    answers = (own < np.where(hard, 1.6, 0.4) * rates).astype(float)
    planned = _planned(10)
    gates = [_gate(language=code, max_gap=0.1) for code in LANGUAGES]
    alarms = _alarms(gates, answers, planned)
    assert alarms.mean() < 0.05
    # And three in ten more are found at once.
    worse = (own < np.where(hard, 1.6, 0.4) * np.array([0.1, 0.6, 0.2, 0.2])[:, None]).astype(float)
    assert _alarms(gates, worse[:40], planned).all()


@pytest.mark.slow
def test_skewed_differences_seldom_stop_a_good_model() -> None:
    """Mostly a little worse, seldom much better, on average alike: under 5 % fail at any look.

    By the t interval at looks of 50 questions or more it would be over 8 %.
    """
    rng = np.random.default_rng(13)
    runs, seldom = 120, 0.05
    planned = _planned(10)
    gate = _gate(metric="sim_sent", max_gap=0.0)
    stopped, by_t = 0, 0
    for _ in range(runs):
        rare = rng.random(QUESTIONS) < seldom
        worse = np.where(rare, seldom - 1, seldom) + rng.normal(0, 0.01, QUESTIONS)
        scores = {
            "en": scores_of([0.0] * QUESTIONS, "en", metric="sim_sent"),
            "hi": scores_of((-worse).tolist(), metric="sim_sent"),
        }
        failed = {"t": False, "look": False}
        for look, end in enumerate(planned.ends, start=1):
            so_far = {code: found[:end] for code, found in scores.items()}
            (verdict,) = judge_gates([at_look(gate, planned, look)], so_far.__getitem__)
            failed["t"] |= verdict.outcome == "fail" and end >= 50
            failed["look"] |= verdict_at_look(verdict, gate, planned, look).outcome == "fail"
        stopped += failed["look"]
        by_t += failed["t"]
    assert stopped / runs < 0.05
    assert by_t / runs > 0.08


def test_few_differences_do_not_fail_early() -> None:
    """However much worse: before the last look it takes a hundred. At the last they may."""
    planned, gate = _planned(10, questions=60), _gate(metric="sim_sent", max_gap=0.1)
    rng = np.random.default_rng(14)
    scores = {
        code: scores_of(rng.normal(mean, 0.02, 60).tolist(), code, metric="sim_sent")
        for code, mean in (("en", 0.9), ("hi", 0.4))
    }
    early, last = (_look([gate], scores, planned, look)[0] for look in (9, 10))
    assert ["inconclusive", "fail"] == [early.outcome, last.outcome]
    assert early.reason.endswith("fewer than 100 do not fail before the last look")
