"""Requests and replies of one service, over the careful transport; no message holds a secret."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import httpx2

from pytest_xling.errors import PermanentFault, ProviderFault
from pytest_xling.http.faults import no_reply
from pytest_xling.http.reply import excerpt
from pytest_xling.http.transport import CONNECT_S, MOST_BYTES, RedactedLogs, Screened

if TYPE_CHECKING:
    from collections.abc import Awaitable, Mapping

    from pytest_xling.http.endpoint import Endpoint


class Connection:
    """Exchanges one request and reply at a time.

    Args:
        endpoint: the service.
        timeout_s: how long an exchange may take.
        most_bytes: how long a reply may be, unpacked.
        headers: of all requests.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        timeout_s: float,
        most_bytes: int = MOST_BYTES,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self._endpoint = endpoint
        self._timeout_s = timeout_s
        self._connect_s = min(CONNECT_S, timeout_s)
        self._logs = RedactedLogs(endpoint.secrets)
        self.client = httpx2.AsyncClient(
            transport=Screened(endpoint, most_bytes=most_bytes),
            timeout=httpx2.Timeout(timeout_s, connect=self._connect_s, pool=None),
            headers=headers,
            # Another address would get questions and key, and a GET is no question.
            follow_redirects=False,
        )

    async def exchange(self, sending: Awaitable[httpx2.Response]) -> httpx2.Response:
        """Return the reply that *sending* waits for, whatever its status.

        Raises:
            TransientFault, PermanentFault: there was none, or none that can be read.
        """
        fault: ProviderFault
        try:
            # httpx2's time-out is for each read: a server that drips would never meet it.
            async with asyncio.timeout(self._timeout_s):
                return await sending
        except (TimeoutError, httpx2.HTTPError) as error:
            connecting = isinstance(error, httpx2.ConnectTimeout)
            waited_s = self._connect_s if connecting else self._timeout_s
            fault = no_reply(error, self._endpoint, timeout_s=waited_s)
        except httpx2.InvalidURL as error:
            msg = f"{self._endpoint.url_variable} is not a usable address: {excerpt(str(error))}"
            fault = PermanentFault(msg, every_request=True)
        except ProviderFault as error:
            fault = error.with_traceback(None)  # whose frames hold what was sent
        raise fault  # out here, so that no traceback shows the client's exceptions

    async def aclose(self) -> None:
        """Close all connections."""
        await self.client.aclose()
        self._logs.end()
