"""The steps that run annotators: over texts, over answers, and by asking a model."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar

from pytest_xling.engine.batches import in_batches
from pytest_xling.errors import XlingError
from pytest_xling.interfaces.annotator import (
    Annotator,
    AnswerAnnotator,
    AskingAnnotator,
    TextAnnotator,
)
from pytest_xling.judging.panel import agreed
from pytest_xling.keys import canonical_json, content_key

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence

    from pytest_xling.engine.executor import Executor
    from pytest_xling.interfaces.annotator import Ask
    from pytest_xling.keys import JsonValue
    from pytest_xling.records import Answer, Message, Response

AnyAnnotator = TypeVar("AnyAnnotator", bound=Annotator)


class AnnotationStep(Generic[AnyAnnotator]):
    """How annotations are kept, however they are made."""

    kind: ClassVar[str] = "annotation"
    exclusive = False

    def __init__(self, annotator: AnyAnnotator, *, parameters: Mapping[str, JsonValue]) -> None:
        self.name = annotator.name
        self.version = annotator.version
        self.parameters = parameters
        self._annotator = annotator

    def payload(self, _value: object) -> None:
        """Keep nothing: the answer is kept, and so is what was asked of it."""

    def encode(self, value: JsonValue) -> str:
        """Return *value* as JSON."""
        return canonical_json(value)

    def decode(self, text: str) -> JsonValue:
        """Return the value in *text*."""
        value: JsonValue = json.loads(text)
        return value

    def broken(self, error: BaseException) -> BaseException:
        """Return *error*: it is a bug, and ends the run."""
        return error

    def cost_usd(self, _value: JsonValue) -> float:
        """Return 0: what was asked is booked where it was asked."""
        return 0.0


class _BatchedStep(AnnotationStep[AnyAnnotator]):
    """Runs an annotator over batches."""

    def __init__(
        self, annotator: AnyAnnotator, *, parameters: Mapping[str, JsonValue], executor: Executor
    ) -> None:
        super().__init__(annotator, parameters=parameters)
        self._executor = executor


class AnnotatingTexts(_BatchedStep[TextAnnotator]):
    """Annotates pairs of a text and the language it should be in."""

    def key(self, pair: tuple[str, str]) -> bytes:
        """Return the content key of a text and its language."""
        return content_key(list(pair))

    def compute(
        self, pairs: Sequence[tuple[str, str]]
    ) -> AsyncIterator[dict[int, JsonValue | XlingError]]:
        """Annotate *pairs* in batches of similar length."""
        sizes = [len(text) for text, _ in pairs]
        return in_batches(self._annotator, pairs, sizes=sizes, executor=self._executor)


class AnnotatingAnswers(_BatchedStep[AnswerAnnotator]):
    """Annotates answers beside what was asked."""

    def key(self, answer: Answer) -> bytes:
        """Return the content key of all the annotator looks at."""
        return content_key(self._annotator.looks_at(answer))

    def compute(
        self, answers: Sequence[Answer]
    ) -> AsyncIterator[dict[int, JsonValue | XlingError]]:
        """Annotate *answers* in batches of similar length."""
        sizes = [answer.size for answer in answers]
        return in_batches(self._annotator, answers, sizes=sizes, executor=self._executor)


class AnnotatingByAsking(AnnotationStep[AskingAnnotator]):
    """Annotates answers by asking a judge, or a panel of them, a translator or a search."""

    def __init__(
        self,
        annotator: AskingAnnotator,
        *,
        parameters: Mapping[str, JsonValue],
        asks: Sequence[Ask],
    ) -> None:
        super().__init__(annotator, parameters=parameters)
        self._asks = asks

    def key(self, answer: Answer) -> bytes:
        """Return the content key of all the annotator looks at."""
        return content_key(self._annotator.looks_at(answer))

    async def compute(
        self, answers: Sequence[Answer]
    ) -> AsyncIterator[dict[int, JsonValue | XlingError]]:
        """Annotate all *answers* at once; the model's limit holds back what is too much."""
        yield dict(enumerate(await asyncio.gather(*map(self._annotate, answers))))

    async def _annotate(self, answer: Answer) -> JsonValue | XlingError:
        annotator = self._annotator
        asks = [_Noting(ask) for ask in self._asks]
        try:
            values = await asyncio.gather(*(annotator.annotate(answer, ask) for ask in asks))
        except XlingError as error:
            return error
        value = values[0] if len(values) == 1 else agreed(annotator, values)
        versions = set().union(*(ask.versions for ask in asks))
        if annotator.calibrated and versions and isinstance(value, dict):
            return {**value, "served": sorted(versions)}
        return value


class _Noting:
    """An ask that notes which versions of its model have answered, as the server names them."""

    def __init__(self, ask: Ask) -> None:
        self.style = ask.style
        self.structured = ask.structured
        self.versions: set[str] = set()
        self._ask = ask

    async def __call__(
        self,
        messages: Sequence[Message],
        *,
        params: Mapping[str, JsonValue] | None = None,
        repeat: int = 0,
    ) -> Response:
        response = await self._ask(messages, params=params or {}, repeat=repeat)
        # Behind it stands what says less: a fingerprint of the server, which changes by itself.
        self.versions.update(response.model_version.split()[:1])
        return response
