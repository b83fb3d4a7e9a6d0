"""The official client: how it is made and called."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import httpx2
import openai

from pytest_xling.errors import ProviderFault
from pytest_xling.http import faults as http
from pytest_xling.http.transport import CONNECT_S, Pools, RedactedLogs, Screened
from pytest_xling.providers.openai.faults import PATH, no_reply, refused
from pytest_xling.providers.openai.reply import read_reply
from pytest_xling.records import Response

if TYPE_CHECKING:
    from collections.abc import Awaitable, Mapping

    from pytest_xling.keys import JsonValue
    from pytest_xling.providers.openai.endpoint import OpenaiEndpoint

__all__ = ["OpenaiClient"]

_SCHEMA = "response_format"
_LIKELIEST = "optional_logprobs"
_UNKNOWN_PARAM = frozenset({httpx2.codes.BAD_REQUEST, httpx2.codes.UNPROCESSABLE_CONTENT})
# Codes of a 400 that is about the question.
_OTHER = frozenset({"content_filter", "context_length_exceeded"})


class OpenaiClient:
    """Sends one request and translates what may go wrong; no message holds a secret."""

    def __init__(self, endpoint: OpenaiEndpoint, *, timeout_s: float) -> None:
        self._endpoint = endpoint
        self._timeout_s = timeout_s
        # OpenAI's newer models refuse max_tokens; most other servers know nothing else.
        self._renames = endpoint.is_openai
        self._not_taken: set[str] = set()
        """Of what is optional, what this server was found not to take."""
        self._connect_s = min(CONNECT_S, timeout_s)
        timeout = httpx2.Timeout(timeout_s, connect=self._connect_s, pool=None)
        settings: dict[str, Any] = {
            "api_key": endpoint.key,
            "timeout": timeout,
            "max_retries": 0,  # the engine retries
            "http_client": openai.DefaultAsyncHttpxClient(
                transport=Screened(endpoint, Pools()),
                timeout=timeout,
                # Another address would get questions and key, and a GET is no question.
                follow_redirects=False,
            ),
        }
        self._logs = RedactedLogs(endpoint.secrets)
        self._client: openai.AsyncOpenAI
        if endpoint.azure:
            self._client = openai.AsyncAzureOpenAI(
                azure_endpoint=endpoint.url, api_version=endpoint.api_version, **settings
            )
        else:
            self._client = openai.AsyncOpenAI(base_url=endpoint.url, **settings)

    async def ask(self, body: Mapping[str, JsonValue]) -> Response:
        """Ask for the chat completion that *body* describes.

        Raises:
            RateLimited, TransientFault, PermanentFault: nothing was answered.
        """
        start = time.perf_counter()
        if self._renames:
            body = _renamed(body)
        for name in self._not_taken.intersection(body):
            return await self._ask_without(name, body)
        outcome: Response | ProviderFault
        try:
            # httpx2's time-out is for each read: a server that drips would never meet it.
            async with asyncio.timeout(self._timeout_s):
                # The typed chat.completions.create checks what is sent and builds models of what
                # comes back, for half a millisecond.
                reply = await self._client.post(PATH, body=_sent(body), cast_to=httpx2.Response)
        except openai.APIStatusError as error:
            if (otherwise := self._otherwise(error, body)) is not None:
                return await otherwise
            outcome = refused(error, body, self._endpoint)
        except TimeoutError as error:
            outcome = http.no_reply(error, self._endpoint, timeout_s=self._timeout_s)
        except ProviderFault as fault:
            outcome = fault.with_traceback(None)  # whose frames hold what was sent
        except openai.OpenAIError as error:
            connecting = isinstance(error.__cause__, httpx2.ConnectTimeout)
            waited_s = self._connect_s if connecting else self._timeout_s
            outcome = no_reply(error, self._endpoint, timeout_s=waited_s)
        else:
            latency_s = time.perf_counter() - start
            return read_reply(reply.content, url=self._endpoint.url, latency_s=latency_s)
        # Out here, so that no traceback shows the client's exceptions: they quote keys.
        if isinstance(outcome, Response):
            return outcome
        raise outcome

    def _otherwise(
        self, error: openai.APIStatusError, body: Mapping[str, JsonValue]
    ) -> Awaitable[Response] | None:
        """Return the same request put in another way, where that may help; else None."""
        if not self._renames and "max_tokens" in body and "max_completion_tokens" in str(error):
            self._renames = True
            return self.ask(body)
        if error.status_code in _UNKNOWN_PARAM and error.code not in _OTHER:
            if _LIKELIEST in body and "logprobs" in f"{error.param} {error}":
                return self._ask_without(_LIKELIEST, body)
            if _SCHEMA in body:
                # Not every server says what it does not take; asked without, it tells.
                return self._ask_without(_SCHEMA, body)
        return None

    async def _ask_without(self, name: str, body: Mapping[str, JsonValue]) -> Response:
        """Ask without what the server does not take, and keep that in mind."""
        plain = {key: value for key, value in body.items() if key != name}
        response = await self.ask(plain)
        self._not_taken.add(name)
        return replace(response, left_out=(name, *response.left_out))

    async def aclose(self) -> None:
        """Close all connections."""
        await self._client.close()
        self._logs.end()


def _sent(body: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """Return *body* in the server's own words."""
    sent = dict(body)
    if _LIKELIEST in sent:
        sent |= {"logprobs": True, "top_logprobs": sent.pop(_LIKELIEST)}
    return sent


def _renamed(body: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    renamed = dict(body)
    if "max_tokens" in renamed:
        renamed.setdefault("max_completion_tokens", renamed.pop("max_tokens"))
    return renamed
