"""What the official client's exceptions mean to a run; no message holds a secret."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import httpx2
import openai

from pytest_xling.errors import PermanentFault, ProviderFault
from pytest_xling.http import faults as http
from pytest_xling.http.reply import EVERY_REQUEST, excerpt
from pytest_xling.records import Response

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_xling.keys import JsonValue
    from pytest_xling.providers.openai.endpoint import OpenaiEndpoint

PATH: Final = "/chat/completions"
"""Where questions go, below the base URL."""
# Codes of a 429 that no waiting mends.
_SPENT = frozenset({"billing_hard_limit_reached", "insufficient_quota"})
_OPTIONS = {
    "logprobs": "top_logprobs in the benchmark's prompts.yaml, which asks for it",
    "max_completion_tokens": "--xling-max-tokens",
    "max_tokens": "--xling-max-tokens",
    "seed": "--xling-temperatures (at 0, with one repeat, no seed is sent)",
    "temperature": "--xling-temperatures (=default sends none)",
    "top_logprobs": "top_logprobs in the benchmark's prompts.yaml",
}


def no_reply(
    error: openai.OpenAIError, endpoint: OpenaiEndpoint, *, timeout_s: float
) -> ProviderFault:
    """Return the fault for an exchange without a reply, for which *timeout_s* was waited."""
    cause = error.__cause__ or error
    if isinstance(error, openai.APIConnectionError) and isinstance(cause, Exception):
        return http.no_reply(cause, endpoint, timeout_s=timeout_s)
    reason = excerpt(endpoint.secrets.redact(str(cause) or type(cause).__name__))
    return PermanentFault(f"the client for {endpoint.url} failed: {reason}")


def refused(
    error: openai.APIStatusError, body: Mapping[str, JsonValue], endpoint: OpenaiEndpoint
) -> ProviderFault | Response:
    """Return the fault for a reply whose status is an error.

    Where a filter refused the question (Azure answers 400), return that as a response.
    """
    status, code = error.status_code, error.code
    message = excerpt(endpoint.secrets.redact(_said(error)))
    if code == "content_filter":
        return Response(text=None, stop_reason="content_filter", error=message)
    answered = f"{endpoint.url} answered {status}: {message!r}"
    if status == httpx2.codes.TOO_MANY_REQUESTS and code in _SPENT:
        return PermanentFault(f"{answered}. The account has no credit left", every_request=True)
    if (fault := http.passing(error.response, answered)) is not None:
        return fault
    if status in EVERY_REQUEST or error.response.is_redirect:
        model = body.get("model")
        advice = http.unusable(error.response, endpoint, model=model, path=PATH, ends="/v1")
        return PermanentFault(f"{answered}. {advice}", every_request=True)
    advice, of_option = _advice(error, message, body)
    return PermanentFault(f"{answered}. {advice}", every_request=of_option)


def _advice(
    error: openai.APIStatusError, message: str, body: Mapping[str, JsonValue]
) -> tuple[str, bool]:
    """Say how to mend a refused request, and whether an option does, for all requests."""
    model = body.get("model")
    if error.code == "context_length_exceeded" or "context length" in message:
        return f"The question and the answer's max_tokens are too long for model {model!r}", False
    for name, option in _OPTIONS.items():
        # "logprobs" needs no quotes to be seen.
        quoted = name if "logprobs" in name else f"'{name}'"
        if name in body and (error.param == name or quoted in message):
            return f"Model {model!r} does not take this {name}: change or drop {option}", True
    return f"Model {model!r} does not take this request", False


def _said(error: openai.APIStatusError) -> str:
    body = error.body
    if isinstance(body, dict) and isinstance(body.get("message"), str):
        return str(body["message"])
    return error.response.text or error.response.reason_phrase
