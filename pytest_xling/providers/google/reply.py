"""Read a reply of generateContent."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pytest_xling.errors import PermanentFault, TransientFault
from pytest_xling.http.reply import excerpt, token_count
from pytest_xling.records import Response, ToolCall, Usage
from pytest_xling.text.display import clean
from pytest_xling.text.first_token import read_first_token

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_xling.records import StopReason

_LENGTH = frozenset({"CONTINUATION", "MAX_TOKENS"})
_FILTERS = frozenset(
    {
        "BLOCKLIST",
        "ESCALATION",
        "IMAGE_PROHIBITED_CONTENT",
        "IMAGE_RECITATION",
        "IMAGE_SAFETY",
        "LANGUAGE",
        "MODEL_ARMOR",
        "PROHIBITED_CONTENT",
        "RECITATION",
        "SAFETY",
        "SPII",
    }
)
_BROKEN = frozenset({"MALFORMED_RESPONSE", "OTHER"})
"""Ends that are no doing of the model's: another attempt may have another."""


def read_content(reply: object, *, url: str) -> Response:
    """Return the answer in *reply*, which *url* sent as JSON with a status of success.

    Raises:
        TransientFault: there is none in it.
        PermanentFault: the account is shut out.
    """
    if not isinstance(reply, dict):
        raise _no_answer(url, reply)
    usage, version = _usage(reply.get("usageMetadata")), reply.get("modelVersion")
    told: dict[str, Any] = {
        "usage": usage,
        "model_version": clean(version) if isinstance(version, str) else "",
    }
    candidates = reply.get("candidates")
    if not candidates or not isinstance(candidates, list) or not isinstance(candidates[0], dict):
        blocked = _blocked(reply.get("promptFeedback"))
        if not blocked:
            raise _no_answer(url, reply)
        return Response(text=None, stop_reason="content_filter", error=blocked, **told)
    candidate = candidates[0]
    finish = str(candidate.get("finishReason") or "STOP")
    if finish in _BROKEN:
        raise _no_answer(url, candidate)
    if finish == "PUP_LIMITED_DISABLED":
        msg = f"{url} refuses this account, for what it was used for: {excerpt(str(candidate))!r}"
        raise PermanentFault(msg, every_request=True)
    stop_reason: StopReason = "length" if finish in _LENGTH else "stop"
    if finish in _FILTERS:
        stop_reason = "content_filter"
    content = candidate.get("content")
    listed = content.get("parts") if isinstance(content, dict) else None
    parts = [part for part in listed if isinstance(part, dict)] if isinstance(listed, list) else []
    text = "".join(_texts(parts, thought=False))
    return Response(
        # Without a word it is still an answer, if a poor one; what a filter stopped is none.
        text=text or None if stop_reason == "content_filter" else text,
        stop_reason=stop_reason,
        # Such as a call that cannot be read: the model's own fault, so it is an answer.
        error=None if finish in {"STOP", *_LENGTH} else _why(finish, candidate),
        first_token=read_first_token(_logprobs(candidate.get("logprobsResult"))),
        thoughts="\n\n".join(_texts(parts, thought=True)),
        tool_calls=tuple(_call(part["functionCall"]) for part in parts if _calls(part)),
        **told,
    )


def _texts(parts: list[dict[str, Any]], *, thought: bool) -> list[str]:
    told = [part.get("text") for part in parts if bool(part.get("thought")) is thought]
    return [clean(text) for text in told if isinstance(text, str) and text]


def _calls(part: Mapping[str, Any]) -> bool:
    return isinstance(part.get("functionCall"), dict)


def _call(call: Mapping[str, Any]) -> ToolCall:
    return ToolCall(
        name=clean(str(call.get("name") or "")),
        arguments=clean(json.dumps(call.get("args") or {}, ensure_ascii=False)),
        id=clean(str(call.get("id") or "")),
    )


def _why(finish: str, candidate: Mapping[str, Any]) -> str:
    """Say why the model came to no end of its own."""
    message = candidate.get("finishMessage")
    return f"{finish}: {clean(message)}" if isinstance(message, str) else clean(finish)


def _blocked(feedback: object) -> str:
    """Say why the question was not let through; "" where it was."""
    told = feedback if isinstance(feedback, dict) else {}
    parts = [told.get("blockReason"), told.get("blockReasonMessage")]
    return ": ".join(clean(part) for part in parts if isinstance(part, str))


def _logprobs(result: object) -> object:
    """Return the likeliest first tokens in the words of OpenAI's API; None where none are told."""
    steps = result.get("topCandidates") if isinstance(result, dict) else None
    first = steps[0] if isinstance(steps, list) and steps else None
    listed = first.get("candidates") if isinstance(first, dict) else None
    if not isinstance(listed, list):
        return None
    likely = [
        {"token": each.get("token"), "logprob": each.get("logProbability")}
        for each in listed
        if isinstance(each, dict)
    ]
    return {"content": [{"top_logprobs": likely}]}


def _usage(usage: object) -> Usage:
    """Return the tokens that were read, results of tools too, and those written, thoughts too."""
    counts = usage if isinstance(usage, dict) else {}
    prompt, tools, candidates, thoughts = (
        token_count(counts.get(f"{name}TokenCount"))
        for name in ("prompt", "toolUsePrompt", "candidates", "thoughts")
    )
    return Usage(prompt_tokens=prompt + tools, completion_tokens=candidates + thoughts)


def _no_answer(url: str, reply: object) -> TransientFault:
    return TransientFault(f"{url} sent a reply without an answer: {excerpt(str(reply))!r}")
