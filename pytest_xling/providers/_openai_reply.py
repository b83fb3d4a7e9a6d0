"""Read the reply of a chat completion; servers differ in what they send."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pytest_xling.errors import PermanentFault, ProviderFault, RateLimited, TransientFault
from pytest_xling.providers._first_token import read_first_token
from pytest_xling.records import Response, Usage
from pytest_xling.text.clean import clean

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_xling.records import StopReason

__all__ = ["excerpt", "read_reply"]

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
_EXCERPT = 300
_TOO_MANY_REQUESTS = 429
_SERVER_ERROR = 500


def excerpt(text: str) -> str:
    """Return *text* on one line, printable, 300 characters at most."""
    line = " ".join(clean(text[: 4 * _EXCERPT]).split())
    line = "".join(c if c.isprintable() else "\ufffd" for c in line)
    return line if len(line) <= _EXCERPT else f"{line[:_EXCERPT]}…"


def read_reply(body: bytes, *, url: str, latency_s: float) -> Response:
    """Return the answer in *body*, the reply of *url* with a status of success.

    Raises:
        TransientFault: it is HTML, cut short, or has no answer in it.
        RateLimited, PermanentFault: it is an error in disguise, as some gateways send.
    """
    try:
        reply: Any = json.loads(body)
    except (ValueError, RecursionError):
        raise _unreadable(body, url) from None
    if not isinstance(reply, dict):
        msg = f"{url} sent JSON that is no chat completion: {excerpt(str(reply))!r}"
        raise TransientFault(msg)
    choices = reply.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        raise _no_choice(reply, url)
    choice = choices[0]
    message = choice.get("message")
    if not isinstance(message, dict):
        msg = f"{url} sent a choice without a message: {excerpt(str(choice))!r}"
        raise TransientFault(msg)
    finish = str(choice.get("finish_reason") or "stop").lower()
    if finish == "error":
        msg = f"{url} broke off with an error: {excerpt(str(choice.get('error') or choice))!r}"
        raise TransientFault(msg)
    text = _text(message.get("content"))
    refusal = message.get("refusal")
    stop_reason = "refusal" if refusal else _STOP_REASONS.get(finish, "stop")
    if stop_reason in {"stop", "length"}:
        text = text or ""  # the model ended without a word, which is an answer, if a poor one
    return Response(
        text=text or None if stop_reason in {"content_filter", "refusal"} else text,
        stop_reason=stop_reason,
        usage=_usage(reply.get("usage")),
        latency_s=latency_s,
        model_version=_version(reply),
        error=clean(str(refusal)) if refusal else None,
        first_token=read_first_token(choice.get("logprobs")),
    )


def _text(content: object) -> str | None:
    if isinstance(content, str):
        return clean(content)
    if isinstance(content, list):  # in parts
        texts = [part.get("text") for part in content if isinstance(part, dict)]
        return clean("".join(text for text in texts if isinstance(text, str)))
    return None


def _usage(usage: object) -> Usage:
    if not isinstance(usage, dict):
        return Usage()
    prompt, completion = (usage.get(name) for name in ("prompt_tokens", "completion_tokens"))
    return Usage(
        prompt_tokens=prompt if isinstance(prompt, int) else 0,
        completion_tokens=completion if isinstance(completion, int) else 0,
    )


def _version(reply: Mapping[str, Any]) -> str:
    parts = (reply.get("model"), reply.get("system_fingerprint"))
    return " ".join(clean(part) for part in parts if isinstance(part, str) and part)


def _unreadable(body: bytes, url: str) -> TransientFault:
    start = body[: 4 * _EXCERPT].decode(errors="replace").strip()
    if start.startswith("<"):
        msg = (
            f"{url} sent a web page instead of JSON; is this the address of an API (it usually "
            f"ends in /v1)? It begins: {excerpt(start)!r}"
        )
    elif not start:
        msg = f"{url} sent an empty reply"
    else:
        msg = f"{url} sent {len(body)} bytes that are not whole JSON: {excerpt(start)!r}"
    return TransientFault(msg)


def _no_choice(reply: Mapping[str, Any], url: str) -> ProviderFault:
    error = reply.get("error")
    if not error:
        return TransientFault(f"{url} sent a reply without choices: {excerpt(str(dict(reply)))!r}")
    code = error.get("code") if isinstance(error, dict) else None
    said = error.get("message", error) if isinstance(error, dict) else error
    msg = f"{url} sent an error as its answer: {excerpt(str(said))!r}"
    if code == _TOO_MANY_REQUESTS:
        return RateLimited(msg)
    if isinstance(code, int) and code < _SERVER_ERROR:
        return PermanentFault(msg)
    return TransientFault(msg)
