"""The four metrics that read a judge's label."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from pytest_xling.annotators.correctness_label import CorrectnessLabel
from pytest_xling.records import Annotation, Answer, Reading
from pytest_xling.registry import load
from tests.annotators.judges import Judge, annotation, says
from tests.answers import annotated_answer

if TYPE_CHECKING:
    from pytest_xling.keys import JsonValue

LABELS = ("contradictory", "dissimilar", "less_comprehensive", "more_comprehensive")
REASONING = "Both say \x1b[31mthe same\x1b[0m.\n" + "And so it goes. " * 50


def judged(reply: str, *, reference: str | None = "Two litres.") -> Answer:
    """Return an answer with what the real annotator makes of a judge's reply."""
    plain = annotated_answer("दो लीटर।", "hi", reference=reference)
    return labelled(plain, annotation(CorrectnessLabel(), plain, Judge(lambda *_: reply)))


def labelled(answer: Answer, value: JsonValue) -> Answer:
    """Return an answer with a judge's label."""
    seen = Annotation(kind="correctness_label", value=value, signature="")
    return replace(answer, annotations={"correctness_label": seen})


@pytest.fixture(params=LABELS)
def metric(request: pytest.FixtureRequest) -> Any:  # noqa: ANN401  any of the classes
    """Give each of the metrics."""
    return load("metric", request.param)()


def test_one_label_raises_one_metric(metric: Any) -> None:  # noqa: ANN401
    """In a batch of all labels each metric sees its own, with the judge's reasoning."""
    assert ("correctness_label",) == metric.needs
    readings = metric.score([judged(says(label, REASONING)) for label in LABELS])
    assert [float(label == metric.name) for label in LABELS] == [r.value for r in readings]
    (reason,) = [r.reason for r in readings if r.value]
    assert reason.startswith("Both say the same. And so it goes.")
    assert reason.isprintable()
    assert len(reason) <= 300
    assert {""} == {r.reason for r in readings if not r.value}


def test_no_label_is_no_value(metric: Any) -> None:  # noqa: ANN401
    """A judge that talks nonsense, or nothing to compare with, is None with the reason."""
    nonsense, missing = metric.score(
        [judged("\x1b[31mno idea\ud800"), judged(says("dissimilar"), reference=None)]
    )
    assert nonsense.value is None
    assert nonsense.reason.startswith("no label: the judge's reply cannot be read")
    assert nonsense.reason.isprintable()
    assert Reading(value=None, reason="no label: the sample has no reference answer") == missing


def test_a_base_model_gives_no_reasoning(metric: Any) -> None:  # noqa: ANN401
    """A raised metric then says that much."""
    value = {"label": metric.name, "reasoning": "", "reason": "", "swapped": None}
    plain = labelled(annotated_answer("दो लीटर।", "hi"), value)
    assert [Reading(value=1.0, reason="the judge gave no reasoning")] == metric.score([plain])
