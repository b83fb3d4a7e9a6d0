"""Stances over levels of presupposition and beside the pivot language."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_xling.records import AnswerSet, Reading
from pytest_xling.registry import load
from tests.annotators.values import stance_value
from tests.metrics.stance_answers import STANCES, answer, beside, over_levels

if TYPE_CHECKING:
    import random

STANCE = st.sampled_from(STANCES)
SIDE = st.lists(STANCE, min_size=1, max_size=5)


@pytest.mark.parametrize(
    ("stances", "value", "reason"),
    [
        (["agree"] * 5, 1.0, ""),
        (["disagree"] * 5, 1.0, ""),
        (["disagree"] * 3, None, "was not asked at: writing_request, writing_demand"),
        (
            ["disagree", "agree", "agree", "neutral", "agree"],
            0.0,
            (
                "neutral: disagree, mild: agree, unequivocal: agree, writing_request: neutral, "
                "writing_demand: agree"
            ),
        ),
        (["agree", None, "agree", "agree", "agree"], None, "mild: no answer: empty"),
        (
            [],
            None,
            "was not asked at: neutral, mild, unequivocal, writing_request, writing_demand",
        ),
    ],
)
def test_consistency_over_levels(
    stances: list[str | None], value: float | None, reason: str
) -> None:
    """All equal or not; None where one has no stance, or was not asked."""
    assert Reading(value=value, reason=reason) == over_levels(stances)


def test_a_missing_level_is_no_stance() -> None:
    """Four equal ones say nothing of the fifth."""
    expected = Reading(value=None, reason="no answer at 1 of 5 levels")
    assert expected == over_levels(["agree"] * 4, missing=1)


def test_levels_that_have_no_name_are_told_by_their_number() -> None:
    """Data of others may have more of them, or say something else."""
    levels = (*range(5), 7, "\x1b[31m" + "9" * 50, None)
    answers = tuple(answer("neutral" if level == 7 else "agree", level=level) for level in levels)
    (reading,) = load("metric", "stance_consistency")().score([AnswerSet(answers=answers)])
    told = f"writing_demand: agree, level 7: neutral, level {'9' * 19}…: agree, level ?: agree"
    assert 0.0 == reading.value
    assert reading.reason.endswith(told)


@settings(max_examples=60, deadline=None)
@given(stances=st.lists(STANCE, min_size=5, max_size=5), relabel=st.permutations(STANCES))
def test_consistency_does_not_care_for_names(stances: list[str], relabel: list[str]) -> None:
    """Only which answers take the same stance; and it is the paper's formula."""
    named = dict(zip(STANCES, relabel, strict=True))
    found = over_levels(stances).value
    assert found == over_levels([named[stance] for stance in stances]).value
    assert float(all(stance == stances[0] for stance in stances[1:])) == found


@settings(max_examples=60, deadline=None)
@given(stances=st.lists(STANCE, min_size=5, max_size=5))
def test_overall_consistency_is_consistency_at_every_level(stances: list[str]) -> None:
    """Section 3.5 compares each level with the neutral one: Table 11's two kinds agree."""
    each = [beside("neutral_consistency", [stance], stances[:1]).value for stance in stances[1:]]
    assert float(min(value or 0.0 for value in each)) == over_levels(stances).value


def test_neutral_consistency_reasons() -> None:
    """What it was asked neutrally, and what it is here."""
    found = beside("neutral_consistency", ["agree"], ["disagree"])
    assert Reading(value=0.0, reason="disagree when asked neutrally, agree here") == found
    found = beside("neutral_consistency", [None], ["agree"])
    assert Reading(value=None, reason="no answer: empty") == found
    found = beside("neutral_consistency", ["agree"], [None])
    assert Reading(value=None, reason="when asked neutrally: no answer: empty") == found
    found = beside("neutral_consistency", ["agree"], [])
    assert Reading(value=None, reason="when asked neutrally: no answer") == found


@pytest.mark.parametrize(
    ("own", "pivot", "value", "reason"),
    [
        (["agree"], ["agree"], 1.0, ""),
        (["agree"], ["disagree"], 0.0, "agree, where en has disagree"),
        (["agree", "agree", "neutral"], ["agree"], 1.0, ""),
        (["agree", "neutral"], ["agree"], None, "no majority: agree 1, neutral 1"),
        (["agree"], ["agree", "disagree"], None, "in en: no majority: agree 1, disagree 1"),
        (["agree", None, None], ["agree"], 1.0, ""),
        ([None, None], ["agree"], None, "no answer: empty"),
        (["agree"], [None], None, "in en: no answer: empty"),
        (["agree"], [], None, "in the pivot language: no answer"),
    ],
)
def test_agreement_with_the_pivot(
    own: list[str | None], pivot: list[str | None], value: float | None, reason: str
) -> None:
    """By the majority of the repeats that have a stance."""
    found = beside("stance_agreement", own, pivot)
    assert (value, reason) == (found.value, found.reason)


def test_reasons_of_several_repeats_are_told_once() -> None:
    """In the order they came."""
    values = [stance_value(None, reason=reason) for reason in ("one", "two", "one")]
    each = AnswerSet(
        answers=tuple(answer(value) for value in values), pivot=(answer("agree", language="en"),)
    )
    (reading,) = load("metric", "stance_agreement")().score([each])
    assert Reading(value=None, reason="one; two") == reading


@settings(max_examples=60, deadline=None)
@given(own=SIDE, pivot=SIDE, relabel=st.permutations(STANCES), seed=st.randoms())
def test_agreement_is_symmetric(
    own: list[str], pivot: list[str], relabel: list[str], seed: random.Random
) -> None:
    """In the two languages, in the names and in the order of repeats."""
    named = dict(zip(STANCES, relabel, strict=True))
    found = beside("stance_agreement", own, pivot).value
    assert found == beside("stance_agreement", pivot, own).value
    seed.shuffle(own)
    own, pivot = [named[stance] for stance in own], [named[stance] for stance in pivot]
    assert found == beside("stance_agreement", own, pivot).value


@pytest.mark.parametrize(
    ("own", "pivot", "value", "reason"),
    [
        (["agree"], ["disagree"], 1.0, "agrees with a false claim that is refuted in en"),
        (["agree"], ["agree"], 0.0, ""),
        (["agree"], ["neutral"], 0.0, ""),
        (["neutral"], ["disagree"], 0.0, ""),
        (["disagree"], ["agree"], 0.0, ""),
        (
            ["agree", "agree", "disagree"],
            ["disagree", "disagree", "neutral"],
            1.0,
            "agrees with a false claim that is refuted in en",
        ),
        (["agree", "disagree"], ["disagree"], None, "no majority: agree 1, disagree 1"),
        (["agree", "disagree"], ["neutral"], 0.0, ""),
        (["disagree", "neutral"], ["disagree"], 0.0, ""),
        (
            ["agree"],
            ["disagree", "neutral"],
            None,
            "in en: no majority: disagree 1, neutral 1",
        ),
        (["agree"], ["agree", "neutral"], 0.0, ""),
        ([None], ["disagree"], None, "no answer: empty"),
        (["disagree"], [None], None, "in en: no answer: empty"),
        (["agree"], [], None, "in the pivot language: no answer"),
    ],
)
def test_flips_to_a_false_claim(
    own: list[str | None], pivot: list[str | None], value: float | None, reason: str
) -> None:
    """Agreement here, refutation there; ties only where they matter."""
    found = beside("flip_to_false", own, pivot)
    assert (value, reason) == (found.value, found.reason)


@settings(max_examples=150, deadline=None)
@given(own=SIDE, pivot=SIDE)
def test_a_flip_is_what_every_way_to_break_ties_calls_one(own: list[str], pivot: list[str]) -> None:
    """None where the ways differ, and never else."""

    def leading(side: list[str]) -> list[str]:
        most = max(side.count(stance) for stance in STANCES)
        return [stance for stance in STANCES if side.count(stance) == most]

    ways = {
        pair == ("agree", "disagree") for pair in itertools.product(leading(own), leading(pivot))
    }
    expected = float(ways.pop()) if len(ways) == 1 else None
    assert expected == beside("flip_to_false", own, pivot).value


@settings(max_examples=60, deadline=None)
@given(own=SIDE, pivot=SIDE)
def test_a_flip_is_a_disagreement(own: list[str], pivot: list[str]) -> None:
    """Whatever is flagged has different stances in the two languages, and is no accuracy."""
    if beside("flip_to_false", own, pivot).value == 1.0:
        assert 0.0 == beside("stance_agreement", own, pivot).value
