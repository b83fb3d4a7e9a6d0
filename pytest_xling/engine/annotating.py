"""The step that runs an annotator."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, ClassVar

from pytest_xling.engine.step import Batched
from pytest_xling.keys import canonical_json, content_key

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from concurrent.futures import Executor

    from pytest_xling.errors import XlingError
    from pytest_xling.interfaces.annotator import AnswerAnnotator, TextAnnotator
    from pytest_xling.keys import JsonValue
    from pytest_xling.records import Answer

__all__ = ["Annotating", "AnnotatingAnswers", "AnnotationStep"]


class AnnotationStep:
    """How annotations are kept, however they are made."""

    kind: ClassVar[str] = "annotation"
    exclusive = False

    def payload(self, _value: object) -> None:
        """Keep nothing: the answer is kept, and so is what was asked of it."""

    def encode(self, value: JsonValue) -> str:
        """Return *value* as JSON."""
        return canonical_json(value)

    def decode(self, text: str) -> JsonValue:
        """Return the value in *text*."""
        value: JsonValue = json.loads(text)
        return value

    def cost_usd(self, _value: JsonValue) -> float:
        """Return 0: what was asked is booked where it was asked."""
        return 0.0


class Annotating(AnnotationStep):
    """Annotates pairs of a text and the language it should be in."""

    def __init__(
        self, annotator: TextAnnotator, *, parameters: Mapping[str, JsonValue], executor: Executor
    ) -> None:
        self.name = annotator.name
        self.version = annotator.version
        self.parameters = parameters
        self._annotator = annotator
        self._run = Batched(self._annotate, size=_length, executor=executor)

    def _annotate(self, pairs: Sequence[tuple[str, str]]) -> list[JsonValue]:
        return self._annotator.annotate([text for text, _ in pairs], [lang for _, lang in pairs])

    def key(self, pair: tuple[str, str]) -> bytes:
        """Return the content key of a text and its language."""
        return content_key(list(pair))

    async def compute(
        self,
        pairs: Sequence[tuple[str, str]],
        done: Callable[[int, JsonValue], None],
        failed: Callable[[int, XlingError], None],
    ) -> None:
        """Annotate *pairs* in batches of similar length."""
        await self._run(pairs, done, failed)


def _length(pair: tuple[str, str]) -> int:
    return len(pair[0])


class AnnotatingAnswers(AnnotationStep):
    """Annotates answers beside what was asked."""

    def __init__(
        self, annotator: AnswerAnnotator, *, parameters: Mapping[str, JsonValue], executor: Executor
    ) -> None:
        self.name = annotator.name
        self.version = annotator.version
        self.parameters = parameters
        self._annotator = annotator
        self._run = Batched(annotator.annotate, size=_text_length, executor=executor)

    def key(self, answer: Answer) -> bytes:
        """Return the content key of all the annotator looks at."""
        return content_key(self._annotator.looks_at(answer))

    async def compute(
        self,
        answers: Sequence[Answer],
        done: Callable[[int, JsonValue], None],
        failed: Callable[[int, XlingError], None],
    ) -> None:
        """Annotate *answers* in batches of similar length."""
        await self._run(answers, done, failed)


def _text_length(answer: Answer) -> int:
    return len(answer.text)
