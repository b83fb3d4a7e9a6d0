"""How a request is put to a server, which may know less of the protocol than OpenAI's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx2

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    import openai

    from pytest_xling.keys import JsonValue
    from pytest_xling.providers.openai.endpoint import OpenaiEndpoint
    from pytest_xling.records import Message, Request

_SCHEMA = "response_format"
_LIKELIEST = "optional_logprobs"
_UNKNOWN_PARAM = frozenset({httpx2.codes.BAD_REQUEST, httpx2.codes.UNPROCESSABLE_CONTENT})
# Codes of a 400 that is about the question.
_OTHER = frozenset({"content_filter", "context_length_exceeded"})


def _worded(message: Message) -> dict[str, JsonValue]:
    worded: dict[str, JsonValue] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        worded["content"] = message.content or None
        worded["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in message.tool_calls
        ]
    if message.tool_call_id:
        worded["tool_call_id"] = message.tool_call_id
    return worded


class Wording:
    """Words requests for one model, and learns from refusals what its server does not take.

    Args:
        endpoint: the server.
        model: as it knows it.
    """

    def __init__(self, endpoint: OpenaiEndpoint, model: str) -> None:
        # OpenAI's newer models refuse max_tokens; most other servers know nothing else.
        self._renames = endpoint.is_openai
        self._model = model
        self._not_taken: set[str] = set()

    def left_out(self, request: Request) -> tuple[str, ...]:
        """Return the optional params of *request* that this server was found not to take."""
        return tuple(name for name in request.params if name in self._not_taken)

    def body(self, request: Request, without: Collection[str]) -> dict[str, JsonValue]:
        """Return the body of *request* in the server's own words, but for params left out."""
        params = {
            name: value
            for name, value in request.params.items()
            if value is not None and name not in without
        }
        messages: list[JsonValue] = [_worded(message) for message in request.messages]
        extra = params.pop("extra", None)
        body: dict[str, JsonValue] = {"model": self._model, "messages": messages, **params}
        if isinstance(extra, dict):
            # As the client's own extra_body: what is in it stands beside the rest.
            beside = extra.get("extra_body")
            body |= {name: value for name, value in extra.items() if name != "extra_body"}
            body |= beside if isinstance(beside, dict) else {}
        if _LIKELIEST in body:
            body["top_logprobs"] = body.pop(_LIKELIEST)
        if "top_logprobs" in body:
            body["logprobs"] = True
        if self._renames and "max_tokens" in body:
            body.setdefault("max_completion_tokens", body.pop("max_tokens"))
        return body

    def otherwise(
        self,
        error: openai.APIStatusError,
        body: Mapping[str, JsonValue],
        request: Request,
        without: tuple[str, ...],
    ) -> tuple[str, ...] | None:
        """Return what to leave out of a request that was refused; None where that cannot help.

        Args:
            error: the refusal.
            body: what was sent.
            request: what was asked.
            without: what was left out already.
        """
        if "max_tokens" in body and "max_completion_tokens" in str(error):
            self._renames = True
            return without
        if error.status_code in _UNKNOWN_PARAM and error.code not in _OTHER:
            left = request.params.keys() - set(without)
            if _LIKELIEST in left and "logprobs" in f"{error.param} {error}":
                return (_LIKELIEST, *without)
            if _SCHEMA in left:
                # Not every server says what it does not take; asked without, it tells.
                return (_SCHEMA, *without)
        return None

    def learn(self, without: Collection[str]) -> None:
        """Keep in mind that a request was taken once these params were left out."""
        self._not_taken.update(without)
