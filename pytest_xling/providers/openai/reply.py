"""Read the reply of a chat completion; servers differ in what they send."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pytest_xling.errors import PermanentFault, ProviderFault, RateLimited, TransientFault
from pytest_xling.http.reply import (
    EVERY_REQUEST,
    excerpt,
    objects_at,
    text_at,
    token_count,
    value_at,
)
from pytest_xling.records import Response, ToolCall, Usage
from pytest_xling.text.display import clean
from pytest_xling.text.first_token import read_first_token

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_xling.records import StopReason

# OpenAI's own reasons, and those of servers that only claim to speak its protocol.
_STOP_REASONS: Mapping[str, StopReason] = {
    "content_filter": "content_filter",
    "length": "length",
    "max_tokens": "length",
    "prohibited_content": "content_filter",
    "recitation": "content_filter",
    "refusal": "refusal",
    "safety": "content_filter",
}
_TOO_MANY_REQUESTS = 429
_SERVER_ERROR = 500
_THOUGHTS = frozenset({"reasoning", "thinking"})
"""Types of parts of a message that are no part of the answer."""
_THOUGHTS_KEYS = ("reasoning_content", "reasoning")
"""Where a message has thoughts; some servers give the same under both."""
_THOUGHT_KEYS = ("thinking", "reasoning", "summary", "text")
"""Where a part that is a thought has its text."""


def read_completion(reply: object, *, url: str) -> Response:
    """Return the answer in *reply*, which *url* sent as JSON.

    Raises:
        TransientFault: it has no answer in it.
        PermanentFault: the model did something else than answer, such as to draw.
        RateLimited, PermanentFault: it is an error in disguise, as some gateways send.
    """
    if not isinstance(reply, dict):
        msg = f"{url} sent JSON that is no chat completion: {excerpt(str(reply))!r}"
        raise TransientFault(msg)
    choice = value_at(reply, "choices", 0)
    if not isinstance(choice, dict):
        raise _no_choice(reply, url)
    message = choice.get("message")
    if not isinstance(message, dict):
        msg = f"{url} sent a choice without a message: {excerpt(str(choice))!r}"
        raise TransientFault(msg)
    finish = str(choice.get("finish_reason") or "stop").lower()
    if finish == "error":
        msg = f"{url} broke off with an error: {excerpt(str(choice.get('error') or choice))!r}"
        raise TransientFault(msg)
    calls = _tool_calls(message, url)
    text = _text(message, url)
    refusal = message.get("refusal") or _refusal_in(message.get("content"))
    stop_reason = "refusal" if refusal else _STOP_REASONS.get(finish, "stop")
    if stop_reason in {"stop", "length"}:
        text = text or ""  # the model ended without a word, which is an answer, if a poor one
    return Response(
        text=text or None if stop_reason in {"content_filter", "refusal"} else text,
        stop_reason=stop_reason,
        usage=Usage(
            prompt_tokens=token_count(value_at(reply, "usage", "prompt_tokens")),
            completion_tokens=token_count(value_at(reply, "usage", "completion_tokens")),
        ),
        model_version=" ".join(
            part for key in ("model", "system_fingerprint") if (part := text_at(reply, key))
        ),
        error=clean(str(refusal)) if refusal else None,
        first_token=read_first_token(choice.get("logprobs")),
        thoughts=clean(_thoughts_of(message)),
        tool_calls=calls,
    )


def _tool_calls(message: Mapping[str, Any], url: str) -> tuple[ToolCall, ...]:
    """Return what the model wants called; also by the older key of one function.

    Raises:
        PermanentFault: a call has no name.
    """
    older = message.get("function_call")
    listed = message.get("tool_calls") or ([{"function": older}] if older else [])
    calls = []
    for each in listed if isinstance(listed, list) else [listed]:
        name = text_at(each, "function", "name")
        if not name:
            raise _no_text(url, "a call of no function", each)
        arguments = value_at(each, "function", "arguments")
        text = arguments if isinstance(arguments, str) else json.dumps(arguments or {})
        calls.append(ToolCall(name=name, arguments=clean(text), id=text_at(each, "id")))
    return tuple(calls)


def _text(message: Mapping[str, Any], url: str) -> str | None:
    """Return what the model wrote; None where it wrote nothing.

    Raises:
        PermanentFault: it did something else, which is no empty answer.
    """
    content = message.get("content")
    if isinstance(content, list):
        content = _joined(content, url)
    if not isinstance(content, str | None):
        raise _no_text(url, f"{_kind(content)} as its content", content)
    return None if content is None else clean(content)


def _joined(parts: Sequence[Any], url: str) -> str:
    """Return the text of an answer in parts; thoughts are no part of it."""
    texts = []
    for part in parts:
        kind = part.get("type", "text") if isinstance(part, dict) else None
        text = part.get("text") if isinstance(part, dict) else None
        if isinstance(text, str) and kind not in _THOUGHTS:
            texts.append(text)
        elif kind not in _THOUGHTS and kind != "refusal":
            what = _kind(part) if kind is None else f"a part of type {kind!r}"
            raise _no_text(url, f"{what} in its content", part)
    return "".join(texts)


def _thoughts_of(message: Mapping[str, Any]) -> str:
    """Return what the model thought, where the server gives that apart; "" where it does not."""
    for key in _THOUGHTS_KEYS:
        if thoughts := text_at(message, key).strip():
            return thoughts
    parts = objects_at(message, "content")
    return "\n\n".join(filter(None, (_thought_in(p) for p in parts if p.get("type") in _THOUGHTS)))


def _thought_in(part: Mapping[str, Any]) -> str:
    """Return the text of a part that is a thought: under one of several keys, whole or in parts."""
    for key in _THOUGHT_KEYS:
        thought = part.get(key)
        pieces = thought if isinstance(thought, list) else [thought]
        texts = [piece.get("text") if isinstance(piece, dict) else piece for piece in pieces]
        if text := "".join(text for text in texts if isinstance(text, str)).strip():
            return text
    return ""


def _refusal_in(content: object) -> str:
    refusals = (part.get("refusal") for part in objects_at(content))
    return "".join(text for text in refusals if isinstance(text, str))


def _kind(value: object) -> str:
    """Name the JSON type of *value*."""
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, int | float):
        return "a number"
    if isinstance(value, str):
        return "a text"
    return "null" if value is None else "a list" if isinstance(value, list) else "an object"


def _no_text(url: str, what: str, value: object) -> PermanentFault:
    return PermanentFault(
        f"{url} sent {what} where an answer's text should be: {excerpt(str(value))!r}"
    )


def _no_choice(reply: Mapping[str, Any], url: str) -> ProviderFault:
    error = reply.get("error")
    if not error:
        return TransientFault(f"{url} sent a reply without choices: {excerpt(str(dict(reply)))!r}")
    code = value_at(error, "code")
    message = error.get("message", error) if isinstance(error, dict) else error
    msg = f"{url} sent an error as its answer: {excerpt(str(message))!r}"
    if code == _TOO_MANY_REQUESTS:
        return RateLimited(msg)
    if isinstance(code, int) and code < _SERVER_ERROR:
        return PermanentFault(msg, every_request=code in EVERY_REQUEST)
    return TransientFault(msg, status=code if isinstance(code, int) else None)
