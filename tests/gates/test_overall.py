"""Gates over all languages together, and single languages that they stand behind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import pytest

from pytest_xling.errors import EvaluationError
from pytest_xling.gates.decide import judge_gates
from pytest_xling.gates.judge import blocks
from pytest_xling.gates.pairing import BaselineSide
from pytest_xling.gates.spec import GateSpec
from pytest_xling.records import ALL_LANGUAGES, Score, Threshold
from pytest_xling.store.human_labels import HumanLabel
from pytest_xling.store.questions import Question
from tests.gates.judging import scores_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pytest_xling.gates.spec import GateKind
    from pytest_xling.records import Verdict

Scores = dict[str, list[Score]]
FOUR = ("en", "es", "hi", "zh")


def _scores(
    flagged: Mapping[str, int | Sequence[float | None]],
    *,
    n: int = 60,
    metric: str = "wrong_language",
    level: int | None = None,
) -> Scores:
    """Return scores by language: so many of *n* flagged, or these values."""
    made: Scores = {}
    for code, given in flagged.items():
        values = [float(at < given) for at in range(n)] if isinstance(given, int) else list(given)
        made[code] = scores_of(values, code, metric=metric, level=level)
    return made


def _gate(
    language: str,
    kind: GateKind = "limit",
    *,
    weights: Mapping[str, float] | None = None,
    languages: Sequence[str] = FOUR,
    metric: str = "wrong_language",
    **limits: Any,
) -> GateSpec:
    """Return a gate of one language, or of all together."""
    shares = weights or dict.fromkeys(languages, 1 / len(languages))
    threshold = Threshold(
        benchmark="b",
        metric=metric,
        language=language,
        min_n=10,
        weights=tuple(shares.items()) if language == ALL_LANGUAGES else (),
        **limits,
    )
    return GateSpec(threshold=threshold, kind=kind, pivot="en" if kind == "gap" else None)


def _one(gate: GateSpec, scores: Scores, **more: Any) -> Verdict:
    (verdict,) = judge_gates([gate], scores.__getitem__, **more)
    return verdict


def test_languages_count_the_same_however_many_answers_they_have() -> None:
    """A language with ten answers weighs as much as one with sixty."""
    scores = _scores({"en": 0, "es": 0, "hi": 0}) | _scores({"zh": 4}, n=10)
    verdict = _one(_gate(ALL_LANGUAGES, max_rate=0.2), scores)
    assert verdict.estimate.value == pytest.approx(0.1)
    assert (verdict.estimate.n, verdict.estimate.flagged) == (190, 4)
    assert verdict.reason.startswith("4 languages, each the same: 4 of 190 answers flagged")


def test_weights_are_those_of_the_users_traffic() -> None:
    """A language with most of the traffic decides."""
    scores = _scores({"en": 0, "es": 0, "hi": 0, "zh": 30})
    light = {"en": 0.5, "es": 0.3, "hi": 0.18, "zh": 0.02}
    heavy = {"en": 0.02, "es": 0.05, "hi": 0.03, "zh": 0.9}
    fine = _one(_gate(ALL_LANGUAGES, max_rate=0.2, weights=light), scores)
    bad = _one(_gate(ALL_LANGUAGES, max_rate=0.2, weights=heavy), scores)
    assert (fine.outcome, bad.outcome) == ("pass", "fail")
    assert fine.estimate.value == pytest.approx(0.01)
    assert bad.estimate.value == pytest.approx(0.45)
    assert "4 languages, weighed as given" in bad.reason


def test_what_no_language_proves_alone_all_prove_together() -> None:
    """One flag in sixty leaves each up to 8.9 %, and all four up to less than 5 %."""
    last: list[float | None] = [*[0.0] * 59, 1.0]
    scores = _scores({"en": 1, "es": 0, "hi": last, "zh": 0})
    alone = _one(_gate("hi", max_rate=0.05), scores)
    together = _one(_gate(ALL_LANGUAGES, max_rate=0.05), scores)
    assert (alone.outcome, together.outcome) == ("inconclusive", "pass")


def test_a_bad_release_fails() -> None:
    """Three times the limit in all languages."""
    scores = _scores(dict.fromkeys(FOUR, 9))
    assert "fail" == _one(_gate(ALL_LANGUAGES, max_rate=0.05), scores).outcome


@pytest.mark.parametrize(
    ("hi", "on_inconclusive", "held", "closes"),
    [
        (3, "estimate", "within", False),
        (9, "estimate", "beyond", True),
        (3, "fail", "", True),
        (9, "warn", "", False),
    ],
)
def test_a_language_is_held_to_its_estimate(
    hi: int, on_inconclusive: Literal["estimate", "fail", "warn"], held: str, *, closes: bool
) -> None:
    """Where all together pass, an inconclusive one closes only beyond its limit."""
    scores = _scores({"en": 0, "es": 0, "hi": hi, "zh": 0})
    own = _gate("hi", max_rate=0.1, on_inconclusive=on_inconclusive)
    together, alone = judge_gates([_gate(ALL_LANGUAGES, max_rate=0.2), own], scores.__getitem__)
    assert ("pass", "inconclusive") == (together.outcome, alone.outcome)
    assert (alone.held, blocks(alone)) == (held, closes)
    if held:
        said = "is within its limit" if held == "within" else "is beyond its limit: closes"
        assert alone.reason.endswith(f"all languages together pass, and its own estimate {said}")


def test_nothing_stands_behind_it_where_all_together_do_not_pass() -> None:
    """Neither without such a gate nor where that is inconclusive."""
    scores = _scores({"en": 3, "es": 3, "hi": 3, "zh": 3})
    own = _gate("hi", max_rate=0.1, on_inconclusive="estimate")
    (lone,) = judge_gates([own], scores.__getitem__)
    _, behind = judge_gates([_gate(ALL_LANGUAGES, max_rate=0.06), own], scores.__getitem__)
    assert ("unbacked", True) == (lone.held, blocks(lone)) == (behind.held, blocks(behind))
    assert "there is no gate over all languages together" in lone.reason
    assert "all languages together do not pass either" in behind.reason


def test_one_that_fails_closes_always() -> None:
    """Whatever all together say."""
    scores = _scores({"en": 0, "es": 0, "hi": 20, "zh": 0})
    own = _gate("hi", max_rate=0.1, on_inconclusive="estimate")
    together, alone = judge_gates([_gate(ALL_LANGUAGES, max_rate=0.3), own], scores.__getitem__)
    assert ("pass", "fail", "") == (together.outcome, alone.outcome, alone.held)
    assert blocks(alone)


def test_too_little_is_not_held_to_its_estimate() -> None:
    """Nine answers without a flag say nothing of a language."""
    scores = _scores({"en": 0, "es": 0, "zh": 0}) | _scores({"hi": 0}, n=9)
    own = _gate("hi", max_rate=0.1, on_inconclusive="estimate")
    _, alone = judge_gates([_gate(ALL_LANGUAGES, max_rate=0.3), own], scores.__getitem__)
    assert ("unbacked", True) == (alone.held, blocks(alone))
    assert alone.reason.endswith("closes: its own estimate is of too little")


def test_all_together_are_no_part_of_the_family() -> None:
    """Holm counts the languages, and not what is made of them."""
    scores = _scores({"en": 0, "es": 0, "hi": 20, "zh": 0})
    single = [_gate(code, max_rate=0.1) for code in FOUR]
    before = judge_gates(single, scores.__getitem__)
    after = judge_gates([*single, _gate(ALL_LANGUAGES, max_rate=0.3)], scores.__getitem__)
    assert before == after[:4]
    assert after[4].estimate.p is None


def test_a_language_without_values_is_left_out() -> None:
    """It is said; and where half of the weight is left out, nothing passes."""
    none: list[float | None] = [None] * 60
    scores = _scores({"en": 0, "es": 0, "hi": 0, "zh": none})
    verdict = _one(_gate(ALL_LANGUAGES, max_rate=0.1), scores)
    assert "pass" == verdict.outcome
    assert verdict.reason.endswith("; without zh, where none has a value")
    scores = _scores({"en": 0, "es": 0, "hi": none, "zh": none})
    verdict = _one(_gate(ALL_LANGUAGES, max_rate=0.1), scores)
    assert "inconclusive" == verdict.outcome
    assert verdict.reason.endswith("those have half of the weight or more")
    scores = _scores(dict.fromkeys(FOUR, none))
    assert "inconclusive" == _one(_gate(ALL_LANGUAGES, max_rate=0.1), scores).outcome


def test_means_have_floors_and_ceilings() -> None:
    """Of numbers with bounds what is not seen may be as bad as they allow."""
    values = {code: [0.98, 1.0, 0.96] * 20 for code in FOUR}
    scores = _scores(values, metric="language_consistency")
    gate = _gate(ALL_LANGUAGES, metric="language_consistency", floor=0.85)
    verdict = _one(gate, scores)
    assert "pass" == verdict.outcome
    assert verdict.estimate.value == pytest.approx(0.98)
    assert 0.85 < (verdict.estimate.low or 0) < 0.98
    high = _gate(ALL_LANGUAGES, metric="language_consistency", floor=0.97)
    assert "inconclusive" == _one(high, scores).outcome
    bad = _scores({c: [0.5, 0.6, 0.4] * 20 for c in FOUR}, metric="language_consistency")
    assert "fail" == _one(gate, bad).outcome


def test_gaps_are_of_the_same_questions() -> None:
    """The pivot stands beside each language; it has no gap to itself."""
    three = ("es", "hi", "zh")
    fine = _scores({"en": 2, "es": 2, "hi": 2, "zh": 2})
    gate = _gate(ALL_LANGUAGES, "gap", languages=three, max_gap=0.15)
    verdict = _one(gate, fine)
    assert ("pass", 60, 0.0) == (verdict.outcome, verdict.estimate.n, verdict.estimate.value)
    assert "3 languages, each the same: no worse than en on 60 questions" in verdict.reason
    worse = _scores({"en": 0, "es": 20, "hi": 20, "zh": 20})
    assert "fail" == _one(gate, worse).outcome


def test_gaps_of_numbers_are_judged_as_in_one_language() -> None:
    """By Student's t over questions, with room for some that lost all there is."""
    better = {code: [0.9, 0.92, 0.88, 0.91] * 15 for code in ("es", "hi", "zh")}
    scores = _scores({"en": [0.9, 0.9, 0.9, 0.91] * 15, **better}, metric="sim_sent")
    gate = _gate(
        ALL_LANGUAGES, "gap", languages=("es", "hi", "zh"), metric="sim_sent", max_gap=0.06
    )
    verdict = _one(gate, scores)
    assert "pass" == verdict.outcome
    assert 0.04 < (verdict.estimate.high or 1) < 0.06


def _side(then: Scores, now: Scores) -> BaselineSide:
    asked = {
        (score.sample_id, code): Question(digest=score.sample_id, cluster=score.sample_id)
        for code, scores in now.items()
        for score in scores
    }
    return BaselineSide(
        name="v1", metric="wrong_language", then=then, asked_then=asked, asked_now=asked
    )


def test_drops_are_beside_the_baseline() -> None:
    """Each language by its own questions; without a baseline there is nothing to judge."""
    gate = _gate(ALL_LANGUAGES, "drop", max_drop=0.1)
    then, now = _scores(dict.fromkeys(FOUR, 1)), _scores(dict.fromkeys(FOUR, 25))
    assert "pass" == _one(gate, then, baseline=_side(then, then)).outcome
    verdict = _one(gate, now, baseline=_side(then, now))
    assert ("fail", "v1") == (verdict.outcome, verdict.estimate.baseline)
    assert "error" == _one(gate, now).outcome


def test_one_language_the_baseline_lacks_is_an_error() -> None:
    """It names the language; the others cannot stand for it."""
    now = _scores(dict.fromkeys(FOUR, 1))
    then = {code: scores for code, scores in now.items() if code != "zh"}
    verdict = _one(_gate(ALL_LANGUAGES, "drop", max_drop=0.1), now, baseline=_side(then, now))
    assert "error" == verdict.outcome
    assert verdict.reason.startswith("zh: v1 has only 0 of 60 questions")


def test_trends_are_the_mean_of_all_languages() -> None:
    """A claim's slope in each language is one value."""
    scores: Scores = {code: [] for code in FOUR}
    for level, flagged in enumerate((0, 0, 1, 15, 25)):
        at = _scores(dict.fromkeys(FOUR, flagged), metric="agrees_with_false", level=level)
        for code in FOUR:
            scores[code] += [
                Score(
                    metric=s.metric,
                    benchmark="b",
                    sample_id=f"{s.sample_id}-l{level}",
                    language=code,
                    condition="",
                    value=s.value,
                    reason="",
                    signature="s",
                    cluster=s.sample_id,
                    level=level,
                )
                for s in at[code]
            ]
    gate = _gate(ALL_LANGUAGES, "trend", metric="agrees_with_false", max_trend=0.05)
    verdict = _one(gate, scores)
    assert ("fail", 60) == (verdict.outcome, verdict.estimate.n)
    loose = _gate(ALL_LANGUAGES, "trend", metric="agrees_with_false", max_trend=0.3)
    assert "pass" == _one(loose, scores).outcome


def _labels(scores: Scores, *, wrong: int) -> Callable[[str], dict[tuple[str, str], HumanLabel]]:
    """Return labels of forty answers a language, that say so many more are flagged."""

    def of(code: str) -> dict[tuple[str, str], HumanLabel]:
        labels = {}
        for number, score in enumerate(scores[code]):
            human = score.value if number >= wrong else 1.0
            labels[score.sample_id, ""] = HumanLabel(
                said="yes" if score.value else "no", value=human if number < 40 else None
            )
        return labels

    return of


def test_labels_of_people_correct_each_language() -> None:
    """Where all languages have enough of them."""
    scores = _scores({"en": 2, "es": 2, "hi": 2, "zh": 2}, metric="contradictory")
    gate = _gate(ALL_LANGUAGES, metric="contradictory", max_rate=0.4)
    plain = _one(gate, scores)
    verdict = _one(gate, scores, labels=_labels(scores, wrong=8))
    assert (plain.estimate.labelled, verdict.estimate.labelled) == (0, 40)
    assert verdict.estimate.value == pytest.approx(8 / 60 + 0.0, abs=0.08)
    assert (verdict.estimate.value or 0) > (plain.estimate.value or 0)
    some = _labels(scores, wrong=8)
    part = _one(gate, scores, labels=lambda code: some(code) if code == "hi" else {})
    assert 0 == part.estimate.labelled
    assert "labels of people do not count" in part.reason


def test_scores_made_in_different_ways_are_not_put_together() -> None:
    """Two versions of a metric in two languages are no rate."""
    scores = _scores(dict.fromkeys(FOUR, 1))
    other = [
        Score(**{f: getattr(s, f) for f in s.__slots__} | {"signature": "t"}) for s in scores["hi"]
    ]
    with pytest.raises(EvaluationError, match="made in different ways"):
        _one(_gate(ALL_LANGUAGES, max_rate=0.1), scores | {"hi": other})
    english = [
        Score(**{f: getattr(s, f) for f in s.__slots__} | {"signature": "t"}) for s in scores["en"]
    ]
    gap = _gate(ALL_LANGUAGES, "gap", languages=("es", "hi", "zh"), max_gap=0.1)
    with pytest.raises(EvaluationError, match="made in different ways"):
        _one(gap, scores | {"en": english})
