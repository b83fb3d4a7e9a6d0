"""What the official client's exceptions mean to a run; no message holds a secret."""

from __future__ import annotations

import email.utils
import math
import time
from typing import TYPE_CHECKING, Final
from urllib.parse import urljoin, urlsplit

import httpx2
import openai

from pytest_xling.errors import PermanentFault, ProviderFault, RateLimited, TransientFault
from pytest_xling.providers.openai.reply import EVERY_REQUEST, excerpt
from pytest_xling.records import Response

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_xling.keys import JsonValue
    from pytest_xling.providers.openai.endpoint import Endpoint

__all__ = ["PATH", "no_reply", "refused"]

PATH: Final = "/chat/completions"
"""Where questions go, below the base URL."""
_MS = 1_000
# Statuses that may pass: time-out, conflict, too early; all from 500 on do.
_PASSING = frozenset({408, 409, 425})
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
    error: openai.OpenAIError | None, endpoint: Endpoint, *, timeout_s: float
) -> ProviderFault:
    """Return the fault for an exchange without a reply; None: it took too long, *timeout_s*.

    Where the server could not be reached its cause is an OSError, which the engine's breaker
    looks for.
    """
    fault: ProviderFault
    url = endpoint.url
    if error is None or isinstance(error, openai.APITimeoutError):
        what = "answer"
        if error is not None and isinstance(error.__cause__, httpx2.ConnectTimeout):
            what = "take a connection"
        fault = TransientFault(f"{url} did not {what} within {timeout_s:g} s")
        fault.__cause__ = TimeoutError(str(fault))
        return fault
    cause = error.__cause__ or error
    reason = excerpt(endpoint.secrets.redact(str(cause) or type(cause).__name__))
    if isinstance(cause, httpx2.ConnectError):
        hint = _other_scheme(endpoint, reason) or "Is the server up?"
        fault = TransientFault(f"cannot connect to {url}: {reason}. {hint}")
        fault.__cause__ = ConnectionError(reason)
        return fault
    if isinstance(error, openai.APIConnectionError):
        broke = f"the connection to {url} broke: {reason}"
        hint = _other_scheme(endpoint, reason)
        return TransientFault(f"{broke.rstrip('.')}. {hint}" if hint else broke)
    return PermanentFault(f"the client for {url} failed: {reason}")


def _other_scheme(endpoint: Endpoint, reason: str) -> str:
    """Ask whether http is spoken to a server of https or the reverse; "" where nothing hints."""
    scheme = endpoint.url.partition(":")[0].lower()
    message = reason.lower()
    if scheme == "https" and ("wrong_version_number" in message or "record layer" in message):
        return f"It seems to speak http, not https: correct {endpoint.url_variable}"
    if scheme == "http" and ("without sending a response" in message or "illegal" in message):
        return f"Does it speak https, not http? Then correct {endpoint.url_variable}"
    return ""


def refused(
    error: openai.APIStatusError, body: Mapping[str, JsonValue], endpoint: Endpoint
) -> ProviderFault | Response:
    """Return the fault for a reply whose status is an error.

    Where a filter refused the question (Azure answers 400), return that as a response.
    """
    status, code = error.status_code, error.code
    message = excerpt(endpoint.secrets.redact(_said(error)))
    if code == "content_filter":
        return Response(text=None, stop_reason="content_filter", error=message)
    answered = f"{endpoint.url} answered {status}: {message!r}"
    retry_after_s = _retry_after_s(error.response.headers)
    if status == httpx2.codes.TOO_MANY_REQUESTS:
        if code in _SPENT:
            msg = f"{answered}. The account has no credit left"
            return PermanentFault(msg, every_request=True)
        return RateLimited(answered, retry_after_s=retry_after_s)
    if status in _PASSING or status >= httpx2.codes.INTERNAL_SERVER_ERROR:
        return TransientFault(answered, retry_after_s=retry_after_s, status=status)
    if status in EVERY_REQUEST or error.response.is_redirect:
        advice = _whole_run_advice(error.response, body, endpoint)
        return PermanentFault(f"{answered}. {advice}", every_request=True)
    advice, of_option = _advice(error, message, body)
    return PermanentFault(f"{answered}. {advice}", every_request=of_option)


def _whole_run_advice(
    response: httpx2.Response, body: Mapping[str, JsonValue], endpoint: Endpoint
) -> str:
    """Say how to mend what every request would meet."""
    model, status = body.get("model"), response.status_code
    if response.is_redirect:
        return _redirected(response, endpoint)
    if status in {httpx2.codes.UNAUTHORIZED, httpx2.codes.PROXY_AUTHENTICATION_REQUIRED}:
        return f"The key in {endpoint.key_variable} is missing, wrong or for another server"
    if status == httpx2.codes.PAYMENT_REQUIRED:
        return "The account has no credit left"
    if status == httpx2.codes.FORBIDDEN:
        return f"The key in {endpoint.key_variable} may not use model {model!r}"
    return (
        f"Is --model={model} a model there, and is {endpoint.url_variable} the address of the "
        "API (it usually ends in /v1)?"
    )


def _redirected(response: httpx2.Response, endpoint: Endpoint) -> str:
    """Say where a redirect leads, without credentials and query, which may hold keys."""
    variable = endpoint.url_variable
    try:
        location = urlsplit(urljoin(f"{endpoint.url}{PATH}", response.headers.get("location", "")))
    except ValueError:  # such as half of an IPv6 address
        return f"Redirects are not followed: is {variable} the address of the API?"
    host = location.netloc.rpartition("@")[2]
    address = excerpt(f"{location.scheme}://{host}{location.path}".removesuffix(PATH))
    if address == endpoint.url:
        return f"It redirects requests to themselves: is {variable} the address of the API?"
    return (
        f"It redirects to {address}, which is not followed: questions and key would go there. If "
        f"that is the API, set {variable} to it"
    )


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


def _retry_after_s(headers: httpx2.Headers) -> float | None:
    """Return the seconds a reply asks to wait, from a number of (milli)seconds or a date.

    None where it says nothing that makes sense; how much of it is waited is for others to say.
    """
    for name, divisor in (("retry-after-ms", _MS), ("retry-after", 1)):
        try:
            seconds = float(headers.get(name, "")) / divisor
        except ValueError:
            continue
        if math.isfinite(seconds):
            return max(seconds, 0.0)
    try:
        date = email.utils.parsedate_to_datetime(headers.get("retry-after", ""))
        return max(date.timestamp() - time.time(), 0.0)
    except (OverflowError, ValueError):  # the former for a year that no calendar has
        return None
