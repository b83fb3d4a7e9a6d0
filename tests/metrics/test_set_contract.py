"""What all metrics share that read the texts of sets of answers."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import pytest

from pytest_xling.records import Annotation, AnswerSet
from pytest_xling.registry import load, names
from pytest_xling.text.answer_text import TextMetric

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_xling.records import Answer

OURS = [
    name
    for name in names("metric")
    if load("metric", name).__module__.startswith("pytest_xling.")
    and issubclass(load("metric", name), TextMetric)
]
NEUTRAL = {"length"}
"""Long answers are neither better nor worse."""


@pytest.fixture(params=OURS)
def metric(request: pytest.FixtureRequest) -> Any:  # noqa: ANN401  any of the classes
    """Give each metric of sets in turn."""
    return load("metric", request.param)()


def test_those_of_xlingeval_are_there() -> None:
    """Section 4.1 names them; cross-lingual ones stand beside them."""
    paper = {"sim_1gram", "sim_2gram", "length", "sim_sent", "bertscore"}
    topics = {"sim_lda_20", "sim_lda_100", "sim_hdp"}
    cross = {f"cross_{name}" for name in topics | {"sim_sent", "bertscore"}}
    assert paper | topics | cross | {"bertscore_precision", "bertscore_recall"} == set(OURS)


def test_says_what_it_is_of(metric: Any) -> None:  # noqa: ANN401
    """Cross-lingual ones need an answer on either side, similarities two on their own."""
    cross = metric.name.startswith("cross_")
    assert ("pivot" if cross else "repeats") == metric.unit
    assert (1 if cross or metric.name == "length" else 2) == metric.least
    assert ("_lda_" in metric.name or "_hdp" in metric.name) == metric.fitted
    assert metric.name in OURS
    assert "number" == metric.kind


def test_has_a_better_end(metric: Any) -> None:  # noqa: ANN401
    """More alike is better, so a language can be worse than English."""
    expected = None if metric.name in NEUTRAL else "higher"
    assert expected == type(metric).better
    assert (expected is not None and metric.unit != "pivot") == metric.compares_languages()
    assert (None, None) != metric.bounds


def test_reads_the_text_it_is_told_to(metric: Any) -> None:  # noqa: ANN401
    """In English it needs translations, else it needs nothing."""
    assert () == metric.needs
    assert ("translate",) == dataclasses.replace(metric, text_in="english").needs


@pytest.mark.parametrize("name", [name for name in OURS if "sent" not in name])
def test_a_translation_that_is_none_is_no_text(
    name: str, make_answer: Callable[..., Answer]
) -> None:
    """Too few translated answers: None, with the translator's reason."""
    if "bertscore" in name:
        pytest.importorskip("torch", reason="bertscore needs an encoder")
    metric = load("metric", name)(text_in="english")
    said = {"text": None, "reason": "goes in circles", "sentences": 1, "resampled": 3}
    answers = tuple(
        dataclasses.replace(make_answer(text), annotations={"translate": _annotation(said)})
        for text in ("eins zwei", "drei vier")
    )
    pivot = (make_answer("one two", language="en"),)
    (reading,) = metric.score([AnswerSet(answers=answers, pivot=pivot)])
    assert reading.value is None
    assert "goes in circles" in reading.reason


def _annotation(value: Any) -> Annotation:  # noqa: ANN401  what an annotator may give
    return Annotation(kind="translate", value=value, signature="t")
