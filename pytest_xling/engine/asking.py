"""The step that annotates answers by asking a model: a judge, a translator."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from pytest_xling.engine.annotating import AnnotationStep
from pytest_xling.errors import XlingError
from pytest_xling.keys import content_key
from pytest_xling.records import Request

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pytest_xling.annotators import AskingAnnotator
    from pytest_xling.engine.memo import Memo
    from pytest_xling.keys import JsonValue
    from pytest_xling.records import Answer, Message, PromptStyle, Response

__all__ = ["Asking", "RoleAsk"]

MAX_TOKENS = 1024
"""The longest reply of a judge or translator that says nothing else."""


class RoleAsk:
    """Puts questions to the model of a role, through its memo.

    Args:
        memo: of the step that asks the model.
        model: its name, as its provider knows it.
        style: how it wants to be asked.
        structured: whether its provider takes ``response_format``.
    """

    def __init__(
        self,
        memo: Memo[Request, Response],
        *,
        model: str,
        style: PromptStyle,
        structured: bool = False,
    ) -> None:
        self.style = style
        self.structured = structured
        self._memo = memo
        self._model = model

    async def __call__(
        self,
        messages: Sequence[Message],
        *,
        params: Mapping[str, JsonValue] | None = None,
        repeat: int = 0,
    ) -> Response:
        """Return what the model answers.

        Raises:
            ProviderFault, BudgetExceeded: nothing was answered.
        """
        asked = {"max_tokens": MAX_TOKENS, "temperature": 0.0, **(params or {})}
        return await self._memo(
            Request(model=self._model, messages=tuple(messages), params=asked, repeat=repeat)
        )


class Asking(AnnotationStep):
    """Annotates answers, each by as many questions as its annotator has."""

    def __init__(
        self, annotator: AskingAnnotator, *, parameters: Mapping[str, JsonValue], ask: RoleAsk
    ) -> None:
        self.name = annotator.name
        self.version = annotator.version
        self.parameters = parameters
        self._annotator = annotator
        self._ask = ask

    def key(self, answer: Answer) -> bytes:
        """Return the content key of all the annotator looks at."""
        return content_key(self._annotator.looks_at(answer))

    async def compute(
        self,
        answers: Sequence[Answer],
        done: Callable[[int, JsonValue], None],
        failed: Callable[[int, XlingError], None],
    ) -> None:
        """Annotate all *answers* at once; the model's limit holds back what is too much."""

        async def one(index: int, answer: Answer) -> None:
            try:
                value = await self._annotator.annotate(answer, self._ask)
            except XlingError as error:
                failed(index, error)
            else:
                done(index, value)

        await asyncio.gather(*(one(index, answer) for index, answer in enumerate(answers)))
