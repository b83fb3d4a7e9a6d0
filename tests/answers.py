"""Answers with what annotators said of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_xling.records import Annotation, Answer, Response, Sample

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_xling.keys import JsonValue
    from pytest_xling.records import StopReason


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
