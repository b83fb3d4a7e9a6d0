"""Which changes of a judge are found, and how often one is found where there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from pytest_xling.analysis.drift import MOST, anchors_among, change_p, versions_of
from pytest_xling.analysis.labelled import bundled_labels
from pytest_xling.store.measurements import LEVEL, AnchorCheck

if TYPE_CHECKING:
    from pytest_xling.analysis.labelled import Labelled
    from pytest_xling.keys import JsonValue


def found(now: float, *, noise: float, of_claim: int = 1, times: int = 1000) -> float:
    """Return how often a change is found of a judge that was right about 90 % of what it reads.

    Args:
        now: what it is right about now, 0 to 1.
        noise: how often it says the contrary of what it thinks, whenever it is asked.
        of_claim: how many answers are about the same claim.
        times: how many judges there are.
    """
    random = np.random.default_rng(0)
    clusters = [str(number // of_claim) for number in range(MOST)]
    changes = 0
    for _ in range(times):
        depth = random.random(MOST)
        slips = random.random((2, MOST)) < noise
        was, is_now = ((depth < 0.9) ^ slips[0]).tolist(), ((depth < now) ^ slips[1]).tolist()
        changes += change_p(was, is_now, clusters=clusters) < LEVEL
    return changes / times


@pytest.mark.slow
@pytest.mark.parametrize("noise", [0.0, 0.05, 0.1, 0.2])
@pytest.mark.parametrize("of_claim", [1, 3])
def test_a_judge_that_has_not_changed_is_seldom_said_to_have(noise: float, of_claim: int) -> None:
    """However noisy it is: at most at the level that is meant (docs/corrected.md)."""
    assert found(0.9, noise=noise, of_claim=of_claim) <= LEVEL


@pytest.mark.slow
def test_a_judge_that_has_become_much_worse_is_found() -> None:
    """The figures of docs/corrected.md: the less noise, the more."""
    assert found(0.6, noise=0.0) > 0.9
    assert found(0.6, noise=0.05) > 0.65
    assert found(0.5, noise=0.1) > 0.7


def test_what_changes_in_both_directions_is_noise() -> None:
    """Ten labels lost and ten won leave the judge as good as it was; ten lost do not."""
    was = [True] * 10 + [False] * 10
    clusters = [str(number) for number in range(20)]
    assert 1.0 == change_p(was, [not right for right in was], clusters=clusters)
    assert change_p(was, [False] * 20, clusters=clusters) < 0.01
    assert 1.0 == change_p(was, was, clusters=clusters)


def test_anchors_are_the_same_answers_whatever_their_order() -> None:
    """Drawn by their texts, with what the judge said of each."""
    items = bundled_labels("stance").of("hi")
    pairs: list[tuple[Labelled, JsonValue]] = [(item, {"stance": item.label}) for item in items]
    drawn = anchors_among(pairs, annotator="stance_llm")
    assert drawn == anchors_among(pairs[::-1], annotator="stance_llm")
    assert MOST == len(drawn)
    assert all(anchor.given == anchor.item["label"] for anchor in drawn)


@pytest.mark.parametrize(
    ("then", "now", "changed"),
    [
        (("v1",), ("v1",), False),
        (("v1",), ("v2",), True),
        (("v1",), ("v1", "v2"), True),
        (("v1", "v2"), ("v2",), False),
        ((), ("v1",), False),
        (("v1",), (), False),
    ],
)
def test_a_version_that_was_not_measured_is_a_change(
    then: tuple[str, ...], now: tuple[str, ...], *, changed: bool
) -> None:
    """Where both are known: servers need not name any."""
    check = AnchorCheck(
        run_id="r",
        signature="s",
        language="en",
        created_at="2026-11-22T10:00:00.000+00:00",
        n=30,
        right_then=28,
        right_now=28,
        p=1.0,
        versions_then=then,
        versions_now=now,
    )
    assert changed == ("its server names" in check.changed)


def test_versions_are_gathered_from_values() -> None:
    """Of those that have any: what was judged by earlier versions of ours has none."""
    assert versions_of([{"served": ["b"]}, {"label": None}, {"served": ["a", "b"]}]) == ("a", "b")
