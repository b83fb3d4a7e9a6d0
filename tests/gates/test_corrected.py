"""Gates by a judge's labels of all answers, corrected by people's of some."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from pytest_xling.gates.corrected import LEAST_LABELS
from pytest_xling.gates.pairing import BaselineSide
from pytest_xling.records import Score, Threshold
from pytest_xling.store.human_labels import HumanLabel
from pytest_xling.store.questions import Question
from tests.gates.judging import judge_gate, score

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Literal

    from pytest_xling.records import Verdict

METRIC = "english_answer"
NUMBER = "language_consistency"
Key = tuple[str, str]


def scores(values: list[float], language: str = "hi", metric: str = METRIC) -> list[Score]:
    """Return one score per question."""
    return [
        score(value, f"q{number:04}", metric=metric, language=language)
        for number, value in enumerate(values)
    ]


def labels_of(
    judged: list[Score], truth: list[float], every: int, *, kind: str = "flag"
) -> dict[Key, HumanLabel]:
    """Return what was said of all answers, and people's labels of each *every*-th."""
    return {
        (score.sample_id, ""): HumanLabel(
            said={1.0: "yes", 0.0: "no"}.get(score.value or 0.0, "no") if kind == "flag" else "all",
            value=truth[number] if number % every == 0 else None,
        )
        for number, score in enumerate(judged)
    }


def threshold(
    *,
    metric: str = METRIC,
    estimate: Literal["corrected", "judge"] | None = None,
    max_rate: float | None = None,
    floor: float | None = None,
    max_gap: float | None = None,
    max_drop: float | None = None,
    relative: bool = False,
    max_trend: float | None = None,
) -> Threshold:
    """Return limits for Hindi."""
    return Threshold(
        benchmark="culture",
        metric=metric,
        language="hi",
        max_rate=max_rate,
        floor=floor,
        max_gap=max_gap,
        max_drop=max_drop,
        relative_drop=relative,
        max_trend=max_trend,
        estimate=estimate,
        min_n=20,
        origin="thresholds.yaml:3",
    )


def blind_judge(n: int = 400, rate: float = 0.3) -> tuple[list[Score], list[float]]:
    """Return the scores of a judge that sees a third of what people flag, and what they flag."""
    chance = np.random.default_rng(5)
    truth = [float(chance.random() < rate) for _ in range(n)]
    return scores([value * (chance.random() < 1 / 3) for value in truth]), truth


def gate(
    judged: list[Score], labels: Mapping[Key, HumanLabel], limits: Threshold, **beside: object
) -> Verdict:
    """Judge one gate; *beside* is what it is compared with."""
    kinds = ("gap", "drop", "trend")
    kind = next((kind for kind in kinds if getattr(limits, f"max_{kind}") is not None), "limit")
    by_language = {"hi": labels, "en": beside.pop("pivot_labels", {})}
    return judge_gate(judged, limits, kind=kind, labels=by_language, **beside)  # type: ignore[arg-type]  # what is beside


def test_people_correct_a_judge_that_overlooks_most() -> None:
    """By itself it opens the gate; with labels, which are there, it does not."""
    judged, truth = blind_judge()
    labels = labels_of(judged, truth, every=4)
    alone = gate(judged, labels, threshold(max_rate=0.15, estimate="judge"))
    assert "pass" == alone.outcome
    corrected = gate(judged, labels, threshold(max_rate=0.15))
    assert "fail" == corrected.outcome
    assert 100 == corrected.estimate.labelled
    low, high = corrected.estimate.low, corrected.estimate.high
    assert low is not None
    assert high is not None
    assert low < sum(truth) / len(truth) < high
    assert "corrected by 100 labels of people" in corrected.reason
    assert corrected.estimate.p is not None
    assert corrected.estimate.p < 0.05
    asked = gate(judged, labels, threshold(max_rate=0.15, estimate="corrected"))
    assert (corrected.outcome, corrected.reason) == (asked.outcome, asked.reason)


def test_a_gate_near_its_limit_says_how_many_labels_it_needs() -> None:
    """More labels decide it, not more answers."""
    judged, truth = blind_judge()
    verdict = gate(judged, labels_of(judged, truth, every=10), threshold(max_rate=0.25))
    assert "inconclusive" == verdict.outcome
    assert "labels at this value; has 40 (xling review --decide)" in verdict.reason


def test_no_more_labels_are_asked_for_than_there_are_answers() -> None:
    """What then decides is more answers."""
    judged, truth = blind_judge()
    verdict = gate(judged, labels_of(judged, truth, every=4), threshold(max_rate=0.33))
    assert "inconclusive" == verdict.outcome
    assert "has 100, of more answers than the 400 there are" in verdict.reason


@pytest.mark.parametrize("labelled", [0, LEAST_LABELS - 1])
def test_too_few_labels_decide_nothing(labelled: int) -> None:
    """Where corrected is asked for; elsewhere the judge decides, as it did before."""
    judged, truth = blind_judge()
    every = len(judged) // labelled + 1 if labelled else 10_000
    labels = {
        key: HumanLabel(said=label.said, value=label.value if labelled else None)
        for key, label in labels_of(judged, truth, every=every).items()
    }
    verdict = gate(judged, labels, threshold(max_rate=0.9, estimate="corrected"))
    assert "inconclusive" == verdict.outcome
    assert f"needs {LEAST_LABELS} labels of people, has {labelled}" in verdict.reason
    plain = gate(judged, labels, threshold(max_rate=0.9))
    told = f"; labels of people do not count: hi has {labelled}, {LEAST_LABELS} are needed"
    assert plain.reason.endswith(told) is (labelled > 0)
    assert ("pass", 0) == (plain.outcome, plain.estimate.labelled)


def test_a_budget_of_0_is_a_rule() -> None:
    """One flagged answer fails it, whatever people say of others."""
    judged, truth = blind_judge()
    labels = labels_of(judged, truth, every=2)
    verdict = gate(judged, labels, threshold(max_rate=0.0))
    assert ("fail", 0) == (verdict.outcome, verdict.estimate.labelled)
    drop = threshold(max_rate=0.0, max_drop=0.1)
    assert 200 == gate(judged, labels, drop, baseline=baseline(judged, labels)).estimate.labelled


def test_gaps_are_of_what_people_would_find_on_both_sides() -> None:
    """A judge that is blind in Hindi alone hides the gap."""
    judged, truth = blind_judge()
    english = [float(number % 20 == 0) for number in range(len(truth))]
    pivot = scores(english, "en")
    limits = threshold(max_gap=0.1)
    labels, pivot_labels = (
        labels_of(of, by_people, every=4) for of, by_people in ((judged, truth), (pivot, english))
    )
    given = {"pivot": ("en", pivot)}
    assert "pass" == gate(judged, {}, limits, **given).outcome
    verdict = gate(judged, labels, limits, **given, pivot_labels=pivot_labels)
    assert "fail" == verdict.outcome
    assert "corrected by 100 labels of people" in verdict.reason
    # Labels of one side correct nothing.
    assert "pass" == gate(judged, labels, limits, **given).outcome


def test_numbers_are_corrected_too() -> None:
    """A judge that is too kind by a tenth."""
    chance = np.random.default_rng(3)
    truth = [round(0.4 + 0.4 * chance.random(), 3) for _ in range(300)]
    judged = scores([value + 0.1 for value in truth], metric=NUMBER)
    labels = labels_of(judged, truth, every=3, kind="number")
    limits = threshold(metric=NUMBER, floor=0.65)
    alone = threshold(metric=NUMBER, floor=0.65, estimate="judge")
    assert "pass" == gate(judged, labels, alone).outcome
    verdict = gate(judged, labels, limits)
    assert "fail" == verdict.outcome
    assert verdict.estimate.value == pytest.approx(sum(truth) / len(truth), abs=0.01)


@pytest.mark.parametrize("only", ["yes", "no"])
@pytest.mark.parametrize("metric", [METRIC, NUMBER])
def test_a_stratum_without_labels(metric: str, only: str) -> None:
    """Labels of what the judge flags say how good its flags are, not how many answers are bad.

    Where nine in ten are labelled and bad the rest does not matter. Of numbers nothing is decided.
    """
    judged = scores([float(number % 10 == 0) for number in range(400)], metric=metric)
    labels = {
        key: HumanLabel(said=label.said, value=1.0 if label.said == only else None)
        for key, label in labels_of(judged, [1.0] * 400, every=1).items()
    }
    limits = threshold(max_rate=0.2) if metric == METRIC else threshold(metric=NUMBER, floor=0.5)
    verdict = gate(judged, labels, limits)
    count, other = (360, "no") if only == "yes" else (40, "yes")
    if metric == METRIC:
        assert ("inconclusive" if only == "yes" else "fail") == verdict.outcome
        low, high = verdict.estimate.low, verdict.estimate.high
        assert low is not None
        assert (0.07 < low < 0.1) if only == "yes" else (low > 0.85)
        assert 1.0 == high
    else:
        assert "inconclusive" == verdict.outcome
        assert f"none of the {count} answers judged '{other}' is labelled" in verdict.reason
        assert verdict.estimate.p is None


def test_answers_that_came_after_the_labels_are_not_left_out() -> None:
    """Of a run that went on, people would have labelled other answers, too."""
    judged, truth = blind_judge()
    labels = labels_of(judged, truth, every=4)
    more = [*judged, *(replace(score, condition="r2") for score in judged[:7])]
    verdict = gate(more, labels, threshold(max_rate=0.15))
    assert "inconclusive" == verdict.outcome
    assert "7 answers came after people's labels: run `xling agreement` again" in verdict.reason


def test_a_gap_is_of_questions_that_both_languages_have() -> None:
    """Those of one language alone may be harder."""
    shared = [float(number % 10 == 0) for number in range(200)]
    own = scores([*shared, *[1.0] * 200])
    pivot = scores(shared, "en")
    labels, pivot_labels = (
        labels_of(of, [score.value or 0.0 for score in of], every=2) for of in (own, pivot)
    )
    given = {"pivot": ("en", pivot), "pivot_labels": pivot_labels}
    verdict = gate(own, labels, threshold(max_gap=0.1), **given)
    assert "pass" == verdict.outcome
    assert pytest.approx(0.0) == verdict.estimate.value
    assert 100 == verdict.estimate.labelled


def baseline(judged: list[Score], labels: Mapping[Key, HumanLabel]) -> BaselineSide:
    """Return a baseline that was asked the same questions."""
    asked = {
        (score.sample_id, score.language): Question(digest="0", cluster=score.sample_id)
        for score in judged
    }
    return BaselineSide(
        name="base-1",
        metric=judged[0].metric,
        then={"hi": judged},
        asked_then=asked,
        asked_now=asked,
        labels_then=lambda language: labels if language == "hi" else {},
    )


@pytest.mark.parametrize("limit", [threshold(max_drop=0.1), threshold(max_drop=0.5, relative=True)])
def test_drops_are_of_what_people_would_find_in_both_runs(limit: Threshold) -> None:
    """The judge sees a third of what is bad now, and all that was: it hides the drop."""
    judged, truth = blind_judge()
    before = [float(number % 10 == 0) for number in range(len(truth))]
    then = scores(before)
    labels, labels_then = (
        labels_of(of, by_people, every=4) for of, by_people in ((judged, truth), (then, before))
    )
    side = baseline(then, labels_then)
    by_judge = replace(limit, estimate="judge")
    assert "fail" != gate(judged, labels, by_judge, baseline=side).outcome
    verdict = gate(judged, labels, limit, baseline=side)
    made = verdict.estimate
    assert ("fail", 100, "base-1") == (verdict.outcome, made.labelled, made.baseline)
    assert "corrected by 100 labels of people" in verdict.reason
    now, was = sum(truth) / len(truth), sum(before) / len(before)
    expected = now / was - 1 if limit.relative_drop else now - was
    assert made.low is not None
    assert made.high is not None
    assert made.low < expected < made.high
    assert made.p is not None
    assert made.p < 0.05


def test_a_drop_whose_baseline_nobody_labelled() -> None:
    """It rests on the judge on both sides, or on nothing where that is not wanted."""
    judged, truth = blind_judge()
    labels = labels_of(judged, truth, every=4)
    side = baseline(judged, {})
    by_judge = gate(judged, labels, threshold(max_drop=0.1), baseline=side)
    assert 0 == by_judge.estimate.labelled
    assert by_judge.reason.endswith("; labels of people do not count: base-1 has none")
    other = gate(judged, {}, threshold(max_drop=0.1), baseline=baseline(judged, labels))
    assert other.reason.endswith("; labels of people do not count: this run has none")
    alone = gate(judged, labels, threshold(max_drop=0.1, estimate="judge"), baseline=side)
    assert "labels" not in alone.reason
    asked = threshold(max_drop=0.1, estimate="corrected")
    verdict = gate(judged, labels, asked, baseline=side)
    assert "inconclusive" == verdict.outcome
    assert "base-1: needs 20 labels of people, has 0 (xling review" in verdict.reason


def test_of_nothing_no_share_is_known() -> None:
    """Where people flag nothing of the baseline there is no relative drop."""
    judged, truth = blind_judge()
    none = scores([0.0] * len(truth))
    side = baseline(none, labels_of(none, [0.0] * len(truth), every=4))
    limit = threshold(max_drop=0.5, relative=True)
    verdict = gate(judged, labels_of(judged, truth, every=4), limit, baseline=side)
    assert "inconclusive" == verdict.outcome
    assert "the baseline's interval reaches 0, of which no share is known" in verdict.reason


def levelled(values: list[list[float]]) -> list[Score]:
    """Return the scores of claims at levels, from 0 on: a list for each claim."""
    return [
        replace(score, sample_id=f"c{claim:03}-l{level}", cluster=f"c{claim:03}", level=level)
        for claim, of_levels in enumerate(values)
        for level, score in enumerate(scores(of_levels))
    ]


def rising() -> tuple[list[Score], list[float]]:
    """Return flags of a judge that sees no trend of 12 points a level, and what people say."""
    chance = np.random.default_rng(2)
    truth = [[float(chance.random() < 0.1 + 0.12 * level) for level in range(5)] for _ in range(80)]
    flat = [
        [flag * (chance.random() < 0.4 / (1 + level)) for level, flag in enumerate(of)]
        for of in truth
    ]
    return levelled(flat), [flag for of in truth for flag in of]


def test_trends_are_of_what_people_would_find_at_all_levels() -> None:
    """A judge that is the blinder the higher the level hides the trend."""
    judged, truth = rising()
    labels = labels_of(judged, truth, every=2)
    limit = threshold(max_trend=0.04)
    assert "pass" == gate(judged, labels, replace(limit, estimate="judge")).outcome
    verdict = gate(judged, labels, limit)
    made = verdict.estimate
    assert ("fail", 200, 80) == (verdict.outcome, made.labelled, made.n)
    assert "corrected by 200 labels of people" in verdict.reason
    assert made.low is not None
    assert made.high is not None
    assert made.low < 0.12 < made.high
    assert made.p is not None
    assert made.p < 0.05
    near = gate(judged, labels, threshold(max_trend=0.1))
    assert "inconclusive" == near.outcome
    assert "labels at this value; has 200 (xling review --metric english_answer)" in near.reason


def test_a_level_without_labels_is_told() -> None:
    """It decides nothing where labels are wanted; elsewhere the judge does, as of gaps."""
    judged, truth = rising()
    labels = {
        (sample, at): replace(label, value=None) if sample.endswith("l3") else label
        for (sample, at), label in labels_of(judged, truth, every=2).items()
    }
    by_judge = gate(judged, labels, threshold(max_trend=0.04))
    assert 0 == by_judge.estimate.labelled
    assert by_judge.reason.endswith("; labels of people do not count: level 3 has none")
    verdict = gate(judged, labels, threshold(max_trend=0.04, estimate="corrected"))
    assert "inconclusive" == verdict.outcome
    assert "level 3: needs 20 labels of people, has 0" in verdict.reason


def test_a_limit_of_a_level_counts_the_labels_of_that_level() -> None:
    """Labels of other levels do not make up for too few of its own."""
    judged, truth = rising()
    labels = labels_of(judged, truth, every=7)
    verdict = gate(judged, labels, replace(threshold(max_rate=0.9), level=0))
    assert ("pass", 0) == (verdict.outcome, verdict.estimate.labelled)
    assert verdict.reason.endswith("; labels of people do not count: level 0 has 12, 20 are needed")


def test_claims_that_lack_a_level_are_left_out_of_a_corrected_trend() -> None:
    """Else levels would differ by their claims; without any other there is no estimate."""
    judged, truth = rising()
    labels = labels_of(judged, truth, every=2)
    some = [
        replace(score, value=None, reason="no answer") if score.sample_id == "c000-l4" else score
        for score in judged
    ]
    made = gate(some, labels, threshold(max_trend=0.04)).estimate
    assert (79, 1) == (made.n, made.unscored)
    halves = [score for score in judged if (score.level or 0) % 2 == int(score.cluster[-1]) % 2]
    verdict = gate(halves, labels, threshold(max_trend=0.04))
    assert "inconclusive" == verdict.outcome
    assert "no claim has values at all levels" in verdict.reason


@pytest.mark.parametrize(
    ("flagged", "differ", "several", "outcome"),
    [
        (0, 0, 100, "pass"),
        (0, 12, 100, "inconclusive"),
        (0, 12, 19, "pass"),  # too few that several labelled: it is not known
        (60, 12, 100, "fail"),  # whoever is right
        (30, 12, 100, "inconclusive"),
    ],
)
def test_raters_who_differ_by_more_than_the_budget(
    flagged: int, differ: int, several: int, outcome: str
) -> None:
    """Open no gate, and close none but where all that they differ about would not open it."""
    judged = scores([float(number < flagged) for number in range(100)])
    labels = {
        key: replace(label, raters_agree=99 - number >= differ if number >= 100 - several else None)
        for number, (key, label) in enumerate(
            labels_of(judged, [score.value or 0.0 for score in judged], every=1).items()
        )
    }
    verdict = gate(judged, labels, threshold(max_rate=0.1 if flagged == 0 else 0.11))
    assert outcome == verdict.outcome
    told = "raters differ on 12.0% of the answers that several labelled, more than the budget"
    assert (told in verdict.reason) == (outcome == "inconclusive")
