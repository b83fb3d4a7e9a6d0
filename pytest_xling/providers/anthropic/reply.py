"""Read a message of the Messages API."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pytest_xling.errors import TransientFault
from pytest_xling.http.reply import excerpt, token_count
from pytest_xling.records import Response, ToolCall, Usage
from pytest_xling.text.display import clean

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_xling.records import StopReason

_STOP_REASONS: Mapping[str, StopReason] = {
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "pause_turn": "length",
    "refusal": "refusal",
}
"""All others are ends that the model chose."""
_PROMPT_TOKENS = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


def read_message(reply: object, *, url: str) -> Response:
    """Return the answer in *reply*, which *url* sent as JSON with a status of success.

    What the service's own tools did on the way is no part of it.

    Raises:
        TransientFault: it is no message.
    """
    content = reply.get("content") if isinstance(reply, dict) else None
    if not isinstance(reply, dict) or not isinstance(content, list):
        msg = f"{url} sent JSON that is no message: {excerpt(str(reply))!r}"
        raise TransientFault(msg)
    blocks = [block for block in content if isinstance(block, dict)]
    stop_reason = _STOP_REASONS.get(str(reply.get("stop_reason")), "stop")
    text = "".join(_texts(blocks, "text"))
    version = reply.get("model")
    return Response(
        # Without a word it is still an answer, if a poor one; a refusal is none.
        text=text or None if stop_reason == "refusal" else text,
        stop_reason=stop_reason,
        usage=_usage(reply.get("usage")),
        model_version=clean(version) if isinstance(version, str) else "",
        error=_refusal(reply.get("stop_details")) if stop_reason == "refusal" else None,
        thoughts="\n\n".join(_texts(blocks, "thinking")),
        tool_calls=tuple(_call(block) for block in blocks if block.get("type") == "tool_use"),
    )


def _texts(blocks: list[dict[str, Any]], kind: str) -> list[str]:
    """Return the texts of the blocks of *kind*, which have it under that name, too."""
    told = [block.get(kind) for block in blocks if block.get("type") == kind]
    return [clean(text) for text in told if isinstance(text, str) and text]


def _call(block: Mapping[str, Any]) -> ToolCall:
    return ToolCall(
        name=clean(str(block.get("name") or "")),
        arguments=clean(json.dumps(block.get("input") or {}, ensure_ascii=False)),
        id=clean(str(block.get("id") or "")),
    )


def _refusal(details: object) -> str:
    """Say why the model refused, as far as the service does."""
    told = details if isinstance(details, dict) else {}
    parts = [told.get("category"), told.get("explanation")]
    return ": ".join(clean(part) for part in parts if isinstance(part, str)) or "refused"


def _usage(usage: object) -> Usage:
    """Return the tokens that were read, from a cache or not, and those written, thoughts too."""
    counts = usage if isinstance(usage, dict) else {}
    return Usage(
        prompt_tokens=sum(token_count(counts.get(name)) for name in _PROMPT_TOKENS),
        completion_tokens=token_count(counts.get("output_tokens")),
    )
