"""The stance of an answer as a number, on answers annotated by hand."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import pytest

from pytest_xling.errors import ConfigError
from pytest_xling.metrics.stance.answers import StanceScore
from pytest_xling.records import Answer, Reading
from pytest_xling.registry import load
from pytest_xling.text.stance import STANCES
from tests.annotators.values import stance_value
from tests.answers import annotated_answer

if TYPE_CHECKING:
    from pytest_xling.keys import JsonValue


def _answer(value: JsonValue, *, by: str = "stance_reader") -> Answer:
    return annotated_answer("…", "hi", {by: value})


def test_the_registry_knows_the_metric() -> None:
    """It is found under its file's name; its parameters say who finds the stance."""
    assert StanceScore is load("metric", "stance_score")
    assert {"stance": "reader", "text_in": "native"} == dataclasses.asdict(StanceScore())


def test_stances_are_numbers() -> None:
    """In one batch; the annotator's reasoning goes along."""
    answers = [_answer(stance_value(stance, reasoning=f"so {stance}")) for stance in STANCES]
    assert [
        Reading(value=value, reason=f"so {stance}")
        for value, stance in zip((1.0, -1.0, 0.0), STANCES, strict=True)
    ] == StanceScore().score(answers)
    assert [] == StanceScore().score([])


def test_no_stance_is_none() -> None:
    """What the annotator could not read is told from what there is no stance of."""
    empty = stance_value(None, reason="no answer: empty")
    echo = stance_value(None, reason="the judge echoes its instructions", unparsed=True)
    assert [
        Reading(value=None, reason="no answer: empty"),
        Reading(value=None, reason="unparsed: the judge echoes its instructions"),
    ] == StanceScore().score([_answer(empty), _answer(echo)])


def test_another_annotator_is_read() -> None:
    """The one that was named; one that does not exist is a mistake."""
    metric = StanceScore(stance="nli:some/model", text_in="english")
    assert ("stance_nli",) == metric.needs
    answer = _answer(stance_value("agree"), by="stance_nli")
    assert [Reading(value=1.0)] == metric.score([answer])
    with pytest.raises(ConfigError, match="Did you mean 'llm'"):
        StanceScore(stance="llmm").check()
