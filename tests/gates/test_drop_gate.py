"""What a run and its baseline share, and gates of drops on bad input."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import pytest

from pytest_xling.analysis.baseline import Baseline
from pytest_xling.gates.decide import judge_gates
from pytest_xling.gates.spec import GateSpec
from pytest_xling.records import Score, Threshold, Verdict
from pytest_xling.store.questions import Question, Questions, digest_of
from tests.gates.judging import judge_gate, score

if TYPE_CHECKING:
    from pytest_xling.gates.pairing import BaselineSide
    from pytest_xling.store.human_labels import HumanLabel

METRIC = "sim_sent"
LIMITS = Threshold(benchmark="b", metric=METRIC, language="hi", max_drop=0.1, min_n=4)


@dataclass(frozen=True)
class Known:
    """A baseline whose scores are at hand."""

    by_language: dict[str, list[Score]] = field(default_factory=dict)
    asked: Questions = field(default_factory=dict)

    def metrics(self, benchmark: str) -> tuple[str, ...]:
        """Return the one metric."""
        return (METRIC,) if benchmark == "b" else ()

    def pivot(self, benchmark: str) -> str | None:
        """Return that it is not known."""
        assert "b" == benchmark
        return None

    def scores(self, benchmark: str, metric: str) -> dict[str, list[Score]]:
        """Return the scores of whatever metric."""
        assert "b" == benchmark
        return {
            language: [replace(score, metric=metric) for score in scores]
            for language, scores in self.by_language.items()
        }

    def questions(self, benchmark: str) -> Questions:
        """Return what was asked."""
        assert "b" == benchmark
        return self.asked

    def labels(
        self, benchmark: str, metric: str, language: str
    ) -> dict[tuple[str, str], HumanLabel]:
        """Return that nobody labelled anything."""
        del metric, language
        assert "b" == benchmark
        return {}


def _scores(values: list[float | None], *, signature: str = "m|v1", first: int = 0) -> list[Score]:
    return [
        score(value, f"q{number}", metric=METRIC, signature=signature)
        for number, value in enumerate(values, first)
    ]


def _asked(scores: list[Score], *, version: str = "") -> Questions:
    return {
        (score.sample_id, score.language): Question(
            digest=digest_of(f"{score.sample_id}{version}", None),
            cluster=score.cluster or score.sample_id,
        )
        for score in scores
    }


def _side(
    now: list[Score],
    then: list[Score],
    *,
    asked_now: Questions | None = None,
    asked_then: Questions | None = None,
    metric: str = METRIC,
    pivot: str | None = None,
) -> BaselineSide:
    known = Known({"hi": then} if then else {}, _asked(then) if asked_then is None else asked_then)
    baseline = Baseline(
        reference="base-1", names={"b": "base-1"}, description="run base-1", source=known
    )
    asked = _asked(now) if asked_now is None else asked_now
    return baseline.side("b", metric, asked=asked, pivot=pivot)


def _judge(now: list[Score], side: BaselineSide, limits: Threshold = LIMITS) -> Verdict:
    return judge_gate(now, limits, kind="drop", baseline=side)


NOW: list[float | None] = [0.5, 0.6, 0.55, 0.5, 0.65, 0.45, 0.6, 0.5]
THEN: list[float | None] = [0.8, 0.85, 0.8, 0.9, 0.75, 0.8, 0.85, 0.9]


def test_questions_in_both_are_compared() -> None:
    """Two of ten are new: told, and the gate judges by the others."""
    now, then = _scores([*NOW, 0.1, 0.2]), _scores(THEN)
    verdict = _judge(now, _side(now, then))
    assert ("fail", 8, 0) == (verdict.outcome, verdict.estimate.n, verdict.estimate.unscored)
    assert verdict.reason.endswith("; base-1 has 8 of 10 questions")


def test_what_is_not_answered_is_not_passed_over() -> None:
    """The baseline has 60 values, the candidate 20, all as good: too few of them to pass."""
    then = _scores([0.5 + number / 100 for number in range(60)])
    now = [
        replace(score, value=None, reason="no answer") if number >= 20 else score
        for number, score in enumerate(then)
    ]
    verdict = _judge(now, _side(now, then))
    assert ("inconclusive", 20) == (verdict.outcome, verdict.estimate.n)
    whole = _judge(then, _side(then, then), replace(LIMITS, max_drop=0.15))
    assert "pass" == whole.outcome


def test_a_question_that_reads_otherwise_is_another() -> None:
    """The same id with another text, or another right answer, is not compared."""
    now, then = _scores(NOW), _scores(THEN)
    asked = _asked(now) | {
        ("q0", "hi"): Question(digest=digest_of("q0, reworded", None), cluster="q0")
    }
    found = _side(now, then, asked_now=asked).shared(now)
    assert (8, 7) == (found.asked, found.shared)
    assert {f"q{number}" for number in range(1, 8)} == {score.sample_id for score in found.others}


@pytest.mark.parametrize(
    ("common", "outcome"), [(5, "fail"), (4, "fail"), (3, "error"), (0, "error")]
)
def test_fewer_than_half_are_too_few(common: int, outcome: str) -> None:
    """Half of the run's questions may be new, not more."""
    now = _scores(NOW)
    side = _side(now, _scores(THEN[:common]) or _scores([0.9], first=99))
    verdict = _judge(now, side)
    assert outcome == verdict.outcome
    if outcome == "error":
        assert f"base-1 has only {common} of 8 questions, fewer than half" == verdict.reason
        assert ("base-1", None) == (verdict.estimate.baseline, verdict.estimate.value)


def test_another_version_of_the_benchmark() -> None:
    """All questions reworded: nothing is shared, whatever the ids."""
    now, then = _scores(NOW), _scores(THEN)
    verdict = _judge(now, _side(now, then, asked_then=_asked(then, version=" v2")))
    assert ("error", "base-1 has only 0 of 8 questions, fewer than half") == (
        verdict.outcome,
        verdict.reason,
    )


def test_numbers_made_in_another_way_are_refused() -> None:
    """The field that differs is named."""
    now = _scores(NOW, signature="sim_sent|v1|text_in:native")
    then = _scores(THEN, signature="sim_sent|v1|text_in:english")
    verdict = _judge(now, _side(now, then))
    assert "error" == verdict.outcome
    assert "made in another way than in base-1: text_in: english there, native here" == (
        verdict.reason
    )


def test_a_metric_the_baseline_lacks() -> None:
    """And a run without any baseline, should somebody judge it."""
    now = _scores(NOW)
    verdict = _judge(now, _side(now, []))
    assert ("error", "base-1 has no scores of this metric") == (verdict.outcome, verdict.reason)
    none = judge_gate(now, LIMITS, kind="drop", baseline=None)
    assert ("error", "no baseline is named") == (none.outcome, none.reason)


@pytest.mark.parametrize(
    ("now", "then", "said"),
    [
        ([None] * 8, THEN, "none of 8 answers could be scored; too short"),
        (NOW, [None] * 8, "base-1: none of 8 answers could be scored; too short"),
        ([None] * 8, [None] * 8, "none of 8 answers could be scored; too short"),
        ([], THEN, "no answers"),
        ([0.5] * 8, [0.9] * 8, "needs about 30 questions at this value; has 8"),
        ([0.5], [0.9], "too few questions in both runs: needs 4, has 1"),
        ([0.5, None] * 4, [None, 0.5] * 4, "no question has a value both here and in base-1"),
    ],
)
def test_nothing_to_decide_by(now: list[float | None], then: list[float | None], said: str) -> None:
    """Without values, without a spread, with one question: inconclusive, and the reason."""
    scores = _scores(now)
    verdict = _judge(scores, _side(scores, _scores(then)))
    assert "inconclusive" == verdict.outcome
    assert said in verdict.reason


def test_ties_everywhere() -> None:
    """Where nothing has changed, so few answers prove little: numbers and flags alike."""
    now = _scores([0.5] * 8)
    assert "inconclusive" == _judge(now, _side(now, now)).outcome
    many = _scores([0.5] * 100)
    assert "pass" == _judge(many, _side(many, many)).outcome
    assert "inconclusive" == _judge(many, _side(many, many), replace(LIMITS, max_drop=0)).outcome
    flags = [replace(score, metric="no_answer", value=0.0) for score in now]
    side = _side(flags, flags, metric="no_answer")
    verdict = _judge(flags, side, replace(LIMITS, metric="no_answer"))
    assert "inconclusive" == verdict.outcome
    assert "McNemar p = 1" in verdict.reason


def _claims(metric: str, samples: list[str], value: float) -> list[Score]:
    return [
        replace(score, metric=metric, sample_id=name, cluster=name.partition("-")[0])
        for score, name in zip(_scores([value] * len(samples)), samples, strict=True)
    ]


def test_readings_of_several_answers_need_all_their_questions() -> None:
    """A reading over all levels is of all their queries, one beside level 0 of that, too."""
    names = [f"c{claim}-l{level}" for claim in range(4) for level in range(5)]
    asked = _asked(_claims("stance_consistency", names, 1.0))
    reworded = asked | {("c0-l4", "hi"): Question(digest=digest_of("new", None), cluster="c0")}
    fewer = {key: one for key, one in asked.items() if key != ("c1-l2", "hi")}
    first = _claims("stance_consistency", [f"c{claim}-l0" for claim in range(4)], 1.0)

    def shared(scores: list[Score], then: Questions) -> set[str]:
        side = _side(
            scores, scores, asked_now=asked, asked_then=then, metric=scores[0].metric, pivot="en"
        )
        return {score.sample_id for score in side.shared(scores).scores}

    assert {"c1-l0", "c2-l0", "c3-l0"} == shared(first, reworded)
    assert {"c0-l0", "c2-l0", "c3-l0"} == shared(first, fewer)
    third = _claims("neutral_consistency", [f"c{claim}-l3" for claim in range(4)], 1.0)
    neutral = asked | {("c0-l0", "hi"): Question(digest=digest_of("new", None), cluster="c0")}
    assert {"c1-l3", "c2-l3", "c3-l3"} == shared(third, neutral)
    assert {f"c{claim}-l3" for claim in range(4)} == shared(third, fewer)
    # What compares with the pivot language rests on that question, too.
    english = {(sample, "en"): one for (sample, _), one in asked.items()}
    other = english | {("c0-l3", "en"): Question(digest=digest_of("new", None), cluster="c0")}
    flips = _claims("flip_to_false", [f"c{claim}-l3" for claim in range(4)], 1.0)
    side = _side(
        flips,
        flips,
        asked_now=asked | english,
        asked_then=asked | other,
        metric="flip_to_false",
        pivot="en",
    )
    assert {"c1-l3", "c2-l3", "c3-l3"} == {s.sample_id for s in side.shared(flips).scores}


def test_drops_of_a_metric_are_a_family() -> None:
    """Among many languages one is worse by chance: Holm's correction over all drops."""
    now, then = _scores(NOW), _scores(THEN)
    then = [replace(one, value=(one.value or 0) - 0.12) for one in then]
    languages = ["es", "hi", "zh"]

    def moved(scores: list[Score], language: str) -> list[Score]:
        return [replace(score, language=language) for score in scores]

    here = {code: moved(now, code) for code in languages}
    there = {code: moved(then, code) for code in languages}
    everything = [score for scores in here.values() for score in scores]
    baseline = Baseline(
        reference="base-1", names={}, description="", source=Known(there, _asked(everything))
    )
    side = baseline.side("b", METRIC, asked=_asked(everything), pivot=None)
    gates = [
        GateSpec(threshold=replace(LIMITS, language=code, max_drop=0.03), kind="drop")
        for code in languages
    ]
    verdicts = judge_gates(gates, here.__getitem__, baseline=side)
    alone = judge_gates(gates[:1], here.__getitem__, baseline=side)
    assert alone[0].estimate.p is not None
    assert [1.5 * alone[0].estimate.p] * 3 == pytest.approx([v.estimate.p_holm for v in verdicts])
    advice = [
        replace(gate, threshold=replace(gate.threshold, tier="advisory")) for gate in gates[1:]
    ]
    mixed = judge_gates([gates[0], *advice], here.__getitem__, baseline=side)
    assert alone[0] == mixed[0], "advisory ones are a family of their own and take no power"
    assert [alone[0].estimate.p] * 2 == pytest.approx([v.estimate.p_holm for v in mixed[1:]])
    assert {"fail"} == {v.outcome for v in alone}
    assert all("after Holm over 3 gates" in v.reason for v in verdicts)
