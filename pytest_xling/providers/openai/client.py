"""One question and its answer."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

import httpx2

from pytest_xling.providers.openai.connection import Connection
from pytest_xling.providers.openai.faults import PATH, refused
from pytest_xling.providers.openai.reply import read_reply
from pytest_xling.providers.openai.wording import Wording
from pytest_xling.records import Response

if TYPE_CHECKING:
    from pytest_xling.providers.openai.endpoint import OpenaiEndpoint
    from pytest_xling.records import Request


class OpenaiClient:
    """Asks one request, in the words that the server takes; no message holds a secret."""

    def __init__(self, endpoint: OpenaiEndpoint, model: str, *, timeout_s: float) -> None:
        self._endpoint = endpoint
        self._wording = Wording(endpoint, model)
        self._connection = Connection(endpoint, timeout_s=timeout_s)

    async def ask(self, request: Request) -> Response:
        """Ask for a chat completion.

        Raises:
            RateLimited, TransientFault, PermanentFault: nothing was answered.
        """
        return await self._ask(request, self._wording.left_out(request))

    async def _ask(self, request: Request, left_out: tuple[str, ...]) -> Response:
        body = self._wording.body(request, left_out)
        start = time.perf_counter()
        # The typed chat.completions.create checks what is sent and builds models of what comes
        # back, for half a millisecond.
        reply = await self._connection.exchange(
            lambda client: client.post(PATH, body=body, cast_to=httpx2.Response)
        )
        if isinstance(reply, httpx2.Response):
            latency_s = time.perf_counter() - start
            response = read_reply(reply.content, url=self._endpoint.url, latency_s=latency_s)
        else:
            without = self._wording.otherwise(reply, body, request, left_out)
            if without is not None:
                return await self._ask(request, without)
            outcome = refused(reply, body, self._endpoint)
            if not isinstance(outcome, Response):
                raise outcome
            response = outcome
        if left_out:
            self._wording.learn(left_out)
            response = replace(response, left_out=left_out)
        return response

    async def aclose(self) -> None:
        """Close all connections."""
        await self._connection.aclose()
