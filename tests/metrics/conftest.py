"""Answers for the tests of metrics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import pytest

from pytest_xling.records import Annotation, Answer, Response, Sample
from pytest_xling.registry import load

if TYPE_CHECKING:
    from pytest_xling.records import StopReason


class MakeAnswer(Protocol):
    """Makes an answer, annotated by the real annotators that are named."""

    def __call__(
        self,
        text: str | None,
        *,
        language: str = "de",
        stop_reason: StopReason = "stop",
        error: str | None = None,
        thoughts: str = "",
        needs: tuple[str, ...] = (),
    ) -> Answer:
        """Return the answer."""
        ...


@pytest.fixture(scope="session")
def make_answer() -> MakeAnswer:
    """Give the tests a maker of answers."""

    def make(
        text: str | None,
        *,
        language: str = "de",
        stop_reason: StopReason = "stop",
        error: str | None = None,
        thoughts: str = "",
        needs: tuple[str, ...] = (),
    ) -> Answer:
        found = {
            name: Annotation(
                kind=name,
                value=load("annotator", name)().annotate([text or ""], [language])[0],
                signature="",
            )
            for name in needs
        }
        return Answer(
            sample=Sample(id="q1", benchmark="b", language=language, prompt={"question": "?"}),
            response=Response(text=text, stop_reason=stop_reason, error=error, thoughts=thoughts),
            annotations=found,
        )

    return make
