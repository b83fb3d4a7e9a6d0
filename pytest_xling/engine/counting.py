"""Count the tokens of an answer whose provider does not."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_xling.records import Request, Response, Usage

MESSAGE_TOKENS = 4
"""Tokens of a message beside its text: its role, its beginning and its end."""
_encoding = threading.Lock()  # several threads would each build the encoding


async def with_tokens(request: Request, response: Response) -> Response:
    """Return *response* with counts of tokens, made here where the provider gave none.

    A prompt of no token, or a text of none, was not counted. The tokens are those of o200k_base, of
    which other models' texts have about as many; thoughts that a model does not show are not
    counted.
    """
    usage, text = response.usage, response.text or response.thoughts
    if usage.prompt_tokens and (usage.completion_tokens or not text):
        return response
    return replace(response, usage=await asyncio.to_thread(_count, request, response))


def _count(request: Request, response: Response) -> Usage:
    from pytest_xling.text.tokens import encode  # noqa: PLC0415  loads tiktoken: seldom needed

    texts = [message.content for message in request.messages]
    with _encoding:
        *prompt, answer = map(len, encode([*texts, response.thoughts + (response.text or "")]))
    usage = response.usage
    return replace(
        usage,
        prompt_tokens=usage.prompt_tokens or sum(prompt) + MESSAGE_TOKENS * len(texts),
        completion_tokens=usage.completion_tokens or answer,
        estimated=True,
    )
