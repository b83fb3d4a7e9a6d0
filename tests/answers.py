"""Answers with what annotators said of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from pytest_xling.records import Annotation, Answer, AnswerSet, Response, Sample
from pytest_xling.registry import load

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_xling.interfaces.metric import Metric
    from pytest_xling.keys import JsonValue
    from pytest_xling.records import StopReason

Scored = TypeVar("Scored", Answer, AnswerSet)


def annotated_answer(
    text: str | None,
    language: str = "en",
    said: Mapping[str, JsonValue] | None = None,
    *,
    stop_reason: StopReason = "stop",
    **sample: Any,
) -> Answer:
    """Return an answer to a question, with what each annotator *said* of it.

    Args:
        text: of the answer.
        language: it should be in.
        said: the value by the annotator's name.
        stop_reason: why the model stopped.
        sample: other fields of the sample.
    """
    plain = {"id": "q1", "benchmark": "b", "prompt": {"question": "?"}}
    return Answer(
        sample=Sample(language=language, **plain | sample),
        response=Response(text=text, stop_reason=stop_reason),
        annotations={
            name: Annotation(kind=name, value=value, signature="")
            for name, value in (said or {}).items()
        },
    )


def translation(text: str | None, why: str = "repeats itself") -> dict[str, JsonValue]:
    """Return a translation, or *why* there is none."""
    return {"text": text, "reason": "" if text else why}


def checked(metric: Metric[Scored], answers: Scored) -> Scored:
    """Return an answer, or a set, with its checks annotated by the annotator *metric* names."""
    annotator = load("annotator", metric.checked_by)()
    checks = metric.checks(answers)
    values = annotator.annotate([c.text for c in checks], [c.language for c in checks])
    annotated = [
        replace(check, annotations={annotator.name: Annotation(kind="", value=v, signature="")})
        for check, v in zip(checks, values, strict=True)
    ]
    return replace(answers, checks=tuple(annotated))
