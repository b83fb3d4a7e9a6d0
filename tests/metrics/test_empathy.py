"""Metrics of expressed empathy: profiles beside the pivot's, and each mechanism's share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_xling.metrics.empathy import (
    EmotionalReactions,
    EmpathyConsistency,
    Explorations,
    Interpretations,
)
from pytest_xling.records import Answer, AnswerSet, Reading
from pytest_xling.text.empathy import MECHANISMS
from tests.annotators.values import empathy_value
from tests.answers import annotated_answer

if TYPE_CHECKING:
    from pytest_xling.text.empathy import Presence

PRESENCE: dict[str, Presence | None] = {"+": "present", "-": "absent", "?": None}


def answer(profile: str, language: str = "hi", *, reason: str = "no answer: refusal") -> Answer:
    """Return an answer with the mechanisms that *profile* marks, such as ``+-+``."""
    present = {
        mechanism: PRESENCE[mark] for mechanism, mark in zip(MECHANISMS, profile, strict=True)
    }
    value = empathy_value(
        present,
        reason=reason if "?" in profile else "",
        reasoning={mechanism: f"sees {mechanism}" for mechanism in MECHANISMS},
    )
    return annotated_answer("…", language, {"empathy_head": value})


def consistency(own: tuple[str, ...], pivot: tuple[str, ...]) -> Reading:
    """Return the reading of answers beside those in English."""
    return EmpathyConsistency().read(
        AnswerSet(
            answers=tuple(answer(each) for each in own),
            pivot=tuple(answer(each, "en") for each in pivot),
        )
    )


def test_equal_profiles_are_consistent() -> None:
    """All three mechanisms count (section 3.2)."""
    for profile in ("---", "+-+", "+++"):
        assert Reading(value=1.0) == consistency((profile,), (profile,))


def test_what_differs_is_said() -> None:
    """What is lacking, and what is new."""
    assert Reading(
        value=0.0, reason="beside en: lacks emotional reactions and explorations"
    ) == consistency(("-+-",), ("+++",))
    assert Reading(
        value=0.0, reason="beside en: lacks explorations, adds interpretations"
    ) == consistency(("++-",), ("+-+",))


def test_what_most_repeats_have_counts() -> None:
    """An answer without a profile has no vote; a tie decides nothing."""
    assert 1.0 == consistency(("++-", "++-", "---"), ("++-",)).value
    assert 1.0 == consistency(("++-", "???"), ("++-",)).value
    tie = consistency(("++-", "---"), ("++-",))
    assert (None, "no majority: 1 repeats each have another profile") == (tie.value, tie.reason)


def test_no_profile_is_none_with_the_reason() -> None:
    """Neither alike nor different: nothing was said, or a mechanism was not judged."""
    assert Reading(value=None, reason="no answer: refusal") == consistency(("???",), ("+++",))
    assert Reading(value=None, reason="in en: no answer: refusal") == consistency(
        ("+++",), ("+?+",)
    )


@pytest.mark.parametrize(
    ("metric", "expected"),
    [(EmotionalReactions(), 1.0), (Interpretations(), 0.0), (Explorations(), None)],
)
def test_each_mechanism_by_itself(
    metric: EmotionalReactions | Interpretations | Explorations, expected: float | None
) -> None:
    """A mechanism that was not judged leaves the others as they are; more is better."""
    reading = metric.read(answer("+-?", reason="explorations not judged: declines"))
    assert expected == reading.value
    told = "explorations not judged: declines" if expected is None else f"sees {metric.name}"
    assert told == reading.reason
    assert metric.compares_languages()
    assert (metric.name,) == metric.aspects


def test_annotators_by_name() -> None:
    """As the option names them."""
    for how, name in (
        ("head", "empathy_head"),
        ("head:out", "empathy_head"),
        ("llm", "empathy_llm"),
    ):
        metric = Explorations(empathy=how)
        metric.check()
        assert (name,) == metric.needs
