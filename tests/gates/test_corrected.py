"""Gates by a judge's labels of all answers, corrected by people's of some."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pytest_xling.gates.corrected import LEAST_LABELS
from pytest_xling.store.human_labels import HumanLabel
from tests.gates.judging import at_levels, baseline, ends, judge_gate, limits, scores_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_xling.gates.pairing import BaselineSide
    from pytest_xling.gates.spec import GateKind
    from pytest_xling.records import Score, Threshold, Verdict

METRIC = "english_answer"
NUMBER = "language_consistency"
Labels = dict[tuple[str, str], HumanLabel]


def scores(values: Sequence[float], language: str = "hi", metric: str = METRIC) -> list[Score]:
    """Return one score per question."""
    return scores_of(values, language, metric=metric)


def labels_of(
    judged: list[Score], truth: Sequence[float], every: int, *, flag: bool = True
) -> Labels:
    """Return what was said of all answers, and people's labels of each *every*-th."""
    return {
        (score.sample_id, ""): HumanLabel(
            said={1.0: "yes", 0.0: "no"}.get(score.value or 0.0, "no") if flag else "all",
            value=truth[number] if number % every == 0 else None,
        )
        for number, score in enumerate(judged)
    }


def threshold(**demands: Any) -> Threshold:
    """Return limits for Hindi."""
    return limits(**{"metric": METRIC, "min_n": 20} | demands)


def blind_judge(n: int = 400, rate: float = 0.3) -> tuple[list[Score], list[float]]:
    """Return the scores of a judge that sees a third of what people flag, and what they flag."""
    chance = np.random.default_rng(5)
    truth = [float(chance.random() < rate) for _ in range(n)]
    return scores([value * (chance.random() < 1 / 3) for value in truth]), truth


def gate(judged: list[Score], labels: Labels, demands: Threshold, **beside: Any) -> Verdict:
    """Judge one gate; *beside* is what it is compared with."""
    kinds: tuple[GateKind, ...] = ("gap", "drop", "trend")
    there = [kind for kind in kinds if getattr(demands, f"max_{kind}") is not None]
    by_language = {"hi": labels, "en": beside.pop("pivot_labels", {})}
    return judge_gate(judged, demands, kind=[*there, "limit"][0], labels=by_language, **beside)


def corrects(verdict: Verdict, truth: float, *, labelled: int) -> None:
    """Assert that the gate fails by so many labels, around what people would find."""
    made = verdict.estimate
    assert ("fail", labelled) == (verdict.outcome, made.labelled)
    assert f"corrected by {labelled} labels of people" in verdict.reason
    assert ends(made)[0] < truth < ends(made)[1]
    assert made.p is not None
    assert made.p < 0.05


def test_people_correct_a_judge_that_overlooks_most() -> None:
    """By itself it opens the gate; with labels, which are there, it does not."""
    judged, truth = blind_judge()
    labels = labels_of(judged, truth, every=4)
    alone = gate(judged, labels, threshold(max_rate=0.15, estimate="judge"))
    assert "pass" == alone.outcome
    corrected = gate(judged, labels, threshold(max_rate=0.15))
    corrects(corrected, sum(truth) / len(truth), labelled=100)
    asked = gate(judged, labels, threshold(max_rate=0.15, estimate="corrected"))
    assert (corrected.outcome, corrected.reason) == (asked.outcome, asked.reason)


@pytest.mark.parametrize(
    ("every", "limit", "told"),
    [
        (10, 0.25, "labels at this value; has 40 (xling review --decide)"),
        # More answers than there are cannot be labelled: what then decides is more answers.
        (4, 0.33, "has 100, of more answers than the 400 there are"),
    ],
)
def test_a_gate_near_its_limit_says_how_many_labels_it_needs(
    every: int, limit: float, told: str
) -> None:
    """More labels decide it, as long as there are answers without one."""
    judged, truth = blind_judge()
    verdict = gate(judged, labels_of(judged, truth, every=every), threshold(max_rate=limit))
    assert "inconclusive" == verdict.outcome
    assert told in verdict.reason


@pytest.mark.parametrize("labelled", [0, LEAST_LABELS - 1])
def test_too_few_labels_decide_nothing(labelled: int) -> None:
    """Where corrected is asked for; elsewhere the judge decides, as it did before."""
    judged, truth = blind_judge()
    every = len(judged) // max(labelled, 1) + 1
    labels = labels_of(judged, truth, every=every)
    if not labelled:
        labels = {key: replace(label, value=None) for key, label in labels.items()}
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
    assert 200 == gate(judged, labels, drop, baseline=side(judged, labels)).estimate.labelled


def test_gaps_are_of_what_people_would_find_on_both_sides() -> None:
    """A judge that is blind in Hindi alone hides the gap."""
    judged, truth = blind_judge()
    english = [float(number % 20 == 0) for number in range(len(truth))]
    pivot = scores(english, "en")
    limit, beside = threshold(max_gap=0.1), {"pivot": ("en", pivot)}
    labels = labels_of(judged, truth, every=4)
    assert "pass" == gate(judged, {}, limit, **beside).outcome
    pivot_labels = labels_of(pivot, english, every=4)
    verdict = gate(judged, labels, limit, **beside, pivot_labels=pivot_labels)
    corrects(verdict, (sum(truth) - sum(english)) / len(truth), labelled=100)
    # Labels of one side correct nothing.
    assert "pass" == gate(judged, labels, limit, **beside).outcome


def test_numbers_are_corrected_too() -> None:
    """A judge that is too kind by a tenth."""
    chance = np.random.default_rng(3)
    truth = [round(0.4 + 0.4 * chance.random(), 3) for _ in range(300)]
    judged = scores([value + 0.1 for value in truth], metric=NUMBER)
    labels = labels_of(judged, truth, every=3, flag=False)
    limit = threshold(metric=NUMBER, floor=0.65)
    assert "pass" == gate(judged, labels, replace(limit, estimate="judge")).outcome
    verdict = gate(judged, labels, limit)
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
    limit = threshold(max_rate=0.2) if metric == METRIC else threshold(metric=NUMBER, floor=0.5)
    verdict = gate(judged, labels, limit)
    count, other = (360, "no") if only == "yes" else (40, "yes")
    if metric == METRIC:
        assert ("inconclusive" if only == "yes" else "fail") == verdict.outcome
        low, high = ends(verdict.estimate)
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
    hard = [*shared, *[1.0] * 200]
    own, pivot = scores(hard), scores(shared, "en")
    labels, pivot_labels = labels_of(own, hard, every=2), labels_of(pivot, shared, every=2)
    beside = {"pivot": ("en", pivot), "pivot_labels": pivot_labels}
    verdict = gate(own, labels, threshold(max_gap=0.1), **beside)
    assert ("pass", 100) == (verdict.outcome, verdict.estimate.labelled)
    assert pytest.approx(0.0) == verdict.estimate.value


def side(then: list[Score], labels: Labels) -> BaselineSide:
    """Return a baseline that was asked the same questions."""
    known = {"hi": labels}
    return baseline(
        {"hi": then}, then, metric=METRIC, labels_then=lambda language: known.get(language, {})
    )


@pytest.mark.parametrize(
    "limit", [threshold(max_drop=0.1), threshold(max_drop=0.5, relative_drop=True)]
)
def test_drops_are_of_what_people_would_find_in_both_runs(limit: Threshold) -> None:
    """The judge sees a third of what is bad now, and all that was: it hides the drop."""
    judged, truth = blind_judge()
    before = [float(number % 10 == 0) for number in range(len(truth))]
    then, labels = scores(before), labels_of(judged, truth, every=4)
    beside = side(then, labels_of(then, before, every=4))
    by_judge = gate(judged, labels, replace(limit, estimate="judge"), baseline=beside)
    assert "fail" != by_judge.outcome
    now, was = sum(truth) / len(truth), sum(before) / len(before)
    verdict = gate(judged, labels, limit, baseline=beside)
    corrects(verdict, now / was - 1 if limit.relative_drop else now - was, labelled=100)
    assert "base-1" == verdict.estimate.baseline


def test_a_drop_whose_baseline_nobody_labelled() -> None:
    """It rests on the judge on both sides, or on nothing where that is not wanted."""
    judged, truth = blind_judge()
    labels = labels_of(judged, truth, every=4)
    limit, nobody = threshold(max_drop=0.1), side(judged, {})
    by_judge = gate(judged, labels, limit, baseline=nobody)
    assert 0 == by_judge.estimate.labelled
    assert by_judge.reason.endswith("; labels of people do not count: base-1 has none")
    other = gate(judged, {}, limit, baseline=side(judged, labels))
    assert other.reason.endswith("; labels of people do not count: this run has none")
    alone = gate(judged, labels, replace(limit, estimate="judge"), baseline=nobody)
    assert "labels" not in alone.reason
    verdict = gate(judged, labels, replace(limit, estimate="corrected"), baseline=nobody)
    assert "inconclusive" == verdict.outcome
    assert "base-1: needs 20 labels of people, has 0 (xling review" in verdict.reason


def test_of_nothing_no_share_is_known() -> None:
    """Where people flag nothing of the baseline there is no relative drop."""
    judged, truth = blind_judge()
    clean = [0.0] * len(truth)
    then = scores(clean)
    beside = side(then, labels_of(then, clean, every=4))
    limit = threshold(max_drop=0.5, relative_drop=True)
    verdict = gate(judged, labels_of(judged, truth, every=4), limit, baseline=beside)
    assert "inconclusive" == verdict.outcome
    assert "the baseline's interval reaches 0, of which no share is known" in verdict.reason


def rising() -> tuple[list[Score], list[float]]:
    """Return flags of a judge that sees no trend of 12 points a level, and what people say."""
    chance = np.random.default_rng(2)
    truth = [[float(chance.random() < 0.1 + 0.12 * level) for level in range(5)] for _ in range(80)]
    flat = [
        [flag * (chance.random() < 0.4 / (1 + level)) for level, flag in enumerate(of)]
        for of in truth
    ]
    return at_levels(flat, metric=METRIC), [flag for of in truth for flag in of]


def test_trends_are_of_what_people_would_find_at_all_levels() -> None:
    """A judge that is the blinder the higher the level hides the trend."""
    judged, truth = rising()
    labels = labels_of(judged, truth, every=2)
    limit = threshold(max_trend=0.04)
    assert "pass" == gate(judged, labels, replace(limit, estimate="judge")).outcome
    verdict = gate(judged, labels, limit)
    corrects(verdict, 0.12, labelled=200)
    assert 80 == verdict.estimate.n
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
    verdict = gate(judged, labels, threshold(max_rate=0.9, level=0))
    assert ("pass", 0) == (verdict.outcome, verdict.estimate.labelled)
    assert verdict.reason.endswith("; labels of people do not count: level 0 has 12, 20 are needed")


def test_claims_that_lack_a_level_are_left_out_of_a_corrected_trend() -> None:
    """Else levels would differ by their claims; without any other there is no estimate."""
    judged, truth = rising()
    labels = labels_of(judged, truth, every=2)
    some = [
        replace(score, value=None, reason="no answer") if score.sample_id == "c0-l4" else score
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
    flags = [float(number < flagged) for number in range(100)]
    judged = scores(flags)
    labels = {
        key: replace(label, raters_agree=99 - number >= differ if number >= 100 - several else None)
        for number, (key, label) in enumerate(labels_of(judged, flags, every=1).items())
    }
    verdict = gate(judged, labels, threshold(max_rate=0.1 if flagged == 0 else 0.11))
    assert outcome == verdict.outcome
    told = "raters differ on 12.0% of the answers that several labelled, more than the budget"
    assert (told in verdict.reason) == (outcome == "inconclusive")
