"""What several judges say together: the label of the majority, or none."""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_xling.annotators.empathy import EmpathyAnnotator
from pytest_xling.annotators.support import support_value
from pytest_xling.judging.panel import agreed, majority, votes_in
from pytest_xling.registry import load, names
from pytest_xling.text.stance import STANCES
from tests.annotators.values import empathy_value, stance_value

if TYPE_CHECKING:
    from pytest_xling.text.empathy import Presence
    from pytest_xling.text.stance import Stance

LABELS = st.lists(st.sampled_from([*STANCES, None]), min_size=1, max_size=7)


def stances(*labels: Stance | None) -> Any:  # noqa: ANN401  JSON
    """Return what a panel that said *labels* of a stance says together."""
    values = [
        stance_value(label, reason="" if label else "declines", reasoning=f"By {number}.")
        for number, label in enumerate(labels)
    ]
    return agreed(load("annotator", "stance_llm"), values)


def test_the_majority_counts_with_its_reasoning() -> None:
    """The first who is of the majority gives the reasons; all votes are kept and told."""
    made = stances("neutral", "agree", "agree")
    assert ("agree", "agree 2, neutral 1. By 1.") == (made["stance"], made["reasoning"])
    assert (made["reason"], made["unparsed"]) == ("", False)
    assert ["neutral", "agree", "agree"] == votes_in(made)


def test_judges_that_are_split_give_no_label() -> None:
    """Not even where one label is the most frequent: half is no majority."""
    for labels in (("agree", "disagree"), ("agree", "agree", "neutral", "disagree")):
        made = stances(*labels)
        assert (None, "the judges are split") == (made["stance"], made["reason"])
        assert not made["unparsed"]


def test_a_judge_that_says_nothing_has_no_vote() -> None:
    """Those who gave a label decide; where nobody did, the first says why."""
    assert "agree" == stances(None, "agree", "agree")["stance"]
    made = stances(None, None)
    assert (None, "declines") == (made["stance"], made["reason"])


@pytest.mark.parametrize(
    ("labels", "stance", "reason"),
    [
        (("agree", None, None, None, None), None, "1 vote of 5, and more than half are needed"),
        (("agree", "agree", None, None), None, "2 votes of 4, and more than half are needed"),
        (("agree", "agree", None, None, "agree"), "agree", ""),
        (("agree", "agree", "neutral", None, None), "agree", ""),
        ((None, "agree"), None, "1 vote of 2, and more than half are needed: declines"),
    ],
)
def test_a_panel_needs_a_quorum(
    labels: tuple[Stance | None, ...], stance: Stance | None, reason: str
) -> None:
    """More than half of the votes must be there; else the reason says how many are, and why."""
    made = stances(*labels)
    assert stance == made["stance"]
    assert made["reason"].startswith(reason) if reason else "" == made["reason"]


def test_aspects_are_voted_on_one_by_one() -> None:
    """Each mechanism of empathy has its own majority, and its own reasoning."""
    said: list[tuple[Presence, Presence | None]] = [
        ("absent", "present"),
        ("present", "absent"),
        ("present", None),
    ]
    values = [
        empathy_value(
            {"emotional_reactions": first, "interpretations": "present", "explorations": third},
            reasoning={"emotional_reactions": f"R{number}", "explorations": f"E{number}"},
        )
        for number, (first, third) in enumerate(said)
    ]
    made: Any = agreed(load("annotator", "empathy_llm"), values)
    told = [made[aspect] for aspect in EmpathyAnnotator.aspects]
    assert ["present", "present", None] == told
    assert "the judges are split on explorations" == made["reason"]
    assert made["reasoning"]["emotional_reactions"].endswith("R1")


def test_probabilities_are_averaged() -> None:
    """Of those who gave one, whoever they are."""
    for said in permutations([(True, 0.9), (True, 0.6), (True, None)]):
        values = [support_value(supported=supported, p=p) for supported, p in said]
        made: Any = agreed(load("annotator", "support_llm"), values)
        assert (True, pytest.approx(0.75)) == (made["supported"], made["p"])


@given(LABELS)
def test_the_majority_is_more_than_half_whatever_the_order(labels: list[str | None]) -> None:
    """Of those who gave a label, which more than half must have; who votes first is all one."""
    label = majority(labels)
    votes = [each for each in labels if each is not None]
    quorum = 2 * len(votes) > len(labels)
    most = any(2 * votes.count(each) > len(votes) for each in votes)
    assert (label is not None) == (quorum and most)
    assert label == majority(labels[::-1])


@pytest.mark.parametrize("name", [n for n in names("annotator") if load("annotator", n).calibrated])
def test_an_annotator_with_labels_says_where_they_are(name: str) -> None:
    """Else a panel could not put one in its place."""
    annotator = load("annotator", name)
    assert annotator.labelled or annotator.aspects != ("",)
