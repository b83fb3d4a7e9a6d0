"""A conversation: one request after the other, each with the model's replies so far."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_xling.records import Message, Response
from pytest_xling.text.thoughts import split_response

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Generator, Sequence

    from pytest_xling.records import Request, Turn


__all__ = ["conversation", "converse", "known_end"]


def conversation(
    request: Request, turns: Sequence[Turn]
) -> Generator[Request, Response | None, None]:
    """Yield each request of a conversation; send the response to it.

    It ends early where a reply is none, or calls a tool of which the next turn has no result: the
    model has said its last.

    Args:
        request: the first.
        turns: what is said after each reply.
    """
    for turn in turns:
        response = yield request
        reply = None if response is None else _reply(split_response(response), turn)
        if reply is None:
            return
        request = replace(request, messages=(*request.messages, *reply))
    yield request


async def converse(
    request: Request, turns: Sequence[Turn], ask: Callable[[Request], Awaitable[Response]]
) -> tuple[Request, Response]:
    """Hold a conversation; return the last request and the response to it."""
    requests = conversation(request, turns)
    last = next(requests)
    while True:
        response = await ask(last)
        try:
            last = requests.send(response)
        except StopIteration:
            return last, response


def known_end(
    request: Request, turns: Sequence[Turn], known: Callable[[Request], Response | None]
) -> tuple[Request, Response | None]:
    """Return the last request of a conversation, and its response, as far as both are *known*."""
    requests = conversation(request, turns)
    last = next(requests)
    while (response := known(last)) is not None:
        try:
            last = requests.send(response)
        except StopIteration:
            break
    return last, response


def _reply(response: Response, turn: Turn) -> Turn | None:
    """Return the model's turn and the one after it; None where they cannot stand together."""
    text, calls = response.text or "", response.tool_calls
    results = [message for message in turn if message.role == "tool"]
    if not results:
        calls = ()
    if not text.strip() and not calls:
        return None
    if not calls:
        if turn[0].role == "tool":
            return None
        return (Message(role="assistant", content=text), *turn)
    # Results name the calls the author thought of; the model has given its own numbers.
    own = iter(calls)
    named = [
        replace(message, tool_call_id=call.id)
        if message.role == "tool" and (call := next(own, None)) is not None
        else message
        for message in turn
    ]
    return (Message(role="assistant", content=text, tool_calls=calls[: len(results)]), *named)
