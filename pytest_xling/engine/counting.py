"""Count the tokens of an answer that its provider has not counted."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_xling.records import Request, Response, Usage

MESSAGE_TOKENS = 4
"""What a message takes beside its text: its role and where it begins and ends."""
_encoding = threading.Lock()  # several threads would each build the encoding


async def with_tokens(request: Request, response: Response) -> Response:
    """Return *response* with tokens to pay for, counted here where the provider gave none.

    A prompt that took no token, or an answer with text that took none, was not counted. Ours are
    tokens of o200k_base, in which other models' texts are about as long; what a model thought
    without showing it is not in them.
    """
    usage, written = response.usage, response.text or response.thoughts
    if usage.prompt_tokens and (usage.completion_tokens or not written):
        return response
    return replace(response, usage=await asyncio.to_thread(_counted, request, response))


def _counted(request: Request, response: Response) -> Usage:
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
