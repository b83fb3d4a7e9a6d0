"""The official client: how it is made, and how what may go wrong on the way is translated."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import httpx2
import openai

from pytest_xling.errors import ProviderFault
from pytest_xling.http import faults as http
from pytest_xling.http.transport import CONNECT_S, MOST_BYTES, Pools, RedactedLogs, Screened
from pytest_xling.providers.openai.faults import no_reply

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from pytest_xling.providers.openai.endpoint import OpenaiEndpoint


class Connection:
    """Exchanges one request and reply at a time with a server; no message holds a secret.

    Args:
        endpoint: the server.
        timeout_s: how long an exchange may take.
        most_bytes: how long a reply may be, unpacked.
    """

    def __init__(
        self, endpoint: OpenaiEndpoint, *, timeout_s: float, most_bytes: int = MOST_BYTES
    ) -> None:
        self._endpoint = endpoint
        self._timeout_s = timeout_s
        self._connect_s = min(CONNECT_S, timeout_s)
        timeout = httpx2.Timeout(timeout_s, connect=self._connect_s, pool=None)
        settings: dict[str, Any] = {
            "api_key": endpoint.key,
            "timeout": timeout,
            "max_retries": 0,  # the engine retries
            "http_client": openai.DefaultAsyncHttpxClient(
                transport=Screened(endpoint, Pools(), most_bytes=most_bytes),
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

    async def exchange(
        self, send: Callable[[openai.AsyncOpenAI], Awaitable[httpx2.Response]]
    ) -> httpx2.Response | openai.APIStatusError:
        """Return the reply to what *send* sends; where its status is an error, the client's error.

        Raises:
            TransientFault, PermanentFault: there was no reply, or none that can be read.
        """
        outcome: httpx2.Response | openai.APIStatusError | ProviderFault
        try:
            # httpx2's time-out is for each read: a server that drips would never meet it.
            async with asyncio.timeout(self._timeout_s):
                outcome = await send(self._client)
        except openai.APIStatusError as error:
            outcome = error.with_traceback(None)  # whose frames hold what was sent
        except TimeoutError as error:
            outcome = http.no_reply(error, self._endpoint, timeout_s=self._timeout_s)
        except ProviderFault as fault:
            outcome = fault.with_traceback(None)  # likewise
        except httpx2.HTTPError as error:  # where *send* reads the reply itself
            outcome = http.no_reply(error, self._endpoint, timeout_s=self._timeout_s)
        except openai.OpenAIError as error:
            connecting = isinstance(error.__cause__, httpx2.ConnectTimeout)
            waited_s = self._connect_s if connecting else self._timeout_s
            outcome = no_reply(error, self._endpoint, timeout_s=waited_s)
        # Out here, so that no traceback shows the client's exceptions: they quote keys.
        if isinstance(outcome, ProviderFault):
            raise outcome
        return outcome

    async def aclose(self) -> None:
        """Close all connections."""
        await self._client.close()
        self._logs.end()
