"""The Batch API: files of requests, batches made of them, files of results."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, ClassVar, cast
from urllib.parse import quote

import httpx2
import openai

from pytest_xling.errors import PermanentFault, ProviderFault, TransientFault
from pytest_xling.http.reply import excerpt, read_json
from pytest_xling.interfaces.batching import BatchState, Line
from pytest_xling.keys import canonical_json
from pytest_xling.providers.openai import AZURE
from pytest_xling.providers.openai.batch.results import Results, read_state
from pytest_xling.providers.openai.client import OpenaiClient
from pytest_xling.records import Response

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from pytest_xling.http.endpoint import Endpoint
    from pytest_xling.keys import JsonValue
    from pytest_xling.records import Request

EXCHANGE_S = 900.0
"""How long an exchange may take: files of 200 MB are handed in and fetched."""
MOST_BYTES = 1 << 30
"""A longer file of results is none: 50,000 answers of 20 KB each."""
_ENDPOINT = f"/v1{OpenaiClient.path}"
_WINDOW = "24h"  # the only one there is
_PAGE = 100
_SKEW_S = 3_600.0
"""By how much the service's clock may be off."""
_NO_SUCH_API = frozenset({404, 405, 501})


class OpenaiBatches:
    """The Batch API of one server, for one model."""

    max_requests: ClassVar[int] = 50_000
    max_bytes: ClassVar[int] = 200_000_000

    def __init__(self, endpoint: Endpoint, model: str) -> None:
        self._client = OpenaiClient(endpoint, model, timeout_s=EXCHANGE_S, most_bytes=MOST_BYTES)
        self._sdk = official_client(self._client)
        self._without: dict[str, tuple[str, ...]] = {}
        """By key: what to leave out of a request that was refused with it."""

    @property
    def url(self) -> str:
        """The server's address."""
        return self._client.endpoint.url

    def line(self, key: str, request: Request) -> Line:
        """Return the line that asks *request*."""
        left_out = self._without.get(key) or self._client.left_out(request)
        line: dict[str, JsonValue] = {
            "custom_id": key,
            "method": "POST",
            "url": _ENDPOINT,
            "body": self._client.worded(request, left_out),
        }
        return Line(text=f"{canonical_json(line)}\n".encode(), left_out=left_out)

    async def upload(self, lines: bytes) -> str:
        """Hand in a file of requests."""
        reply = await self._exchange(
            lambda client: client.post(
                "/files",
                body={"purpose": "batch"},
                files=[("file", ("pytest-xling.jsonl", lines, "application/jsonl"))],
                options={"headers": {"Content-Type": "multipart/form-data"}},
                cast_to=httpx2.Response,
            )
        )
        file = self._object(reply).get("id")
        if not isinstance(file, str) or not file:
            msg = f"{self.url} took a file of requests and gave it no id"
            raise TransientFault(msg)
        return file

    async def delete(self, file: str) -> None:
        """Delete a file, if it is there."""
        await self._exchange(
            lambda client: client.delete(f"/files/{_part(file)}", cast_to=httpx2.Response),
            missing=True,
        )

    async def begin(self, file: str) -> BatchState:
        """Begin a batch."""
        body = {
            "input_file_id": file,
            "endpoint": _ENDPOINT,
            "completion_window": _WINDOW,
            "metadata": {"made_by": "pytest-xling"},
        }
        reply = await self._exchange(
            lambda client: client.post("/batches", body=body, cast_to=httpx2.Response)
        )
        return self._state(self._object(reply))

    async def find(self, file: str, *, since_s: float) -> BatchState | None:
        """Look for the batch of a file among all batches, the newest of which come first."""
        after = ""
        while True:
            page = await self._page(after)
            listed = [each for each in page.get("data") or () if isinstance(each, dict)]
            for batch in listed:
                if batch.get("input_file_id") == file:
                    return self._state(batch)
            last = listed[-1] if listed else {}
            made_at = last.get("created_at")
            older = isinstance(made_at, int | float) and made_at < since_s - _SKEW_S
            if older or not page.get("has_more") or last.get("id") in {None, after}:
                return None
            after = str(last["id"])

    async def _page(self, after: str) -> dict[str, Any]:
        """Return a page of the list of batches, which comes after one of them."""
        query = {"limit": _PAGE, **({"after": after} if after else {})}
        reply = await self._exchange(
            lambda client: client.get(
                "/batches", options={"params": query}, cast_to=httpx2.Response
            )
        )
        return self._object(reply)

    async def state(self, batch: str) -> BatchState | None:
        """Return what has become of a batch."""
        reply = await self._exchange(
            lambda client: client.get(f"/batches/{_part(batch)}", cast_to=httpx2.Response),
            missing=True,
        )
        return None if reply is None else self._state(self._object(reply))

    async def cancel(self, batch: str) -> BatchState | None:
        """Cancel a batch; of one that is over, return what became of it."""
        known = await self.state(batch)
        if known is None or known.over:
            return known
        reply = await self._exchange(
            lambda client: client.post(f"/batches/{_part(batch)}/cancel", cast_to=httpx2.Response),
            missing=True,
        )
        return None if reply is None else self._state(self._object(reply))

    async def results(
        self,
        state: BatchState,
        requests: Mapping[str, Request],
        left_out: Mapping[str, tuple[str, ...]],
    ) -> dict[str, Response | ProviderFault]:
        """Fetch the files of results, and read those that are wanted."""
        read = Results(requests.keys(), url=self.url)
        for file in state.files:
            await self._read(file, read, batch=state.id)
        read.warn(state.id)
        # As they were sent: what is learnt from one of them must not change what others held.
        bodies = {
            key: self._client.worded(requests[key], left_out[key])
            for key, line in read.by_key.items()
            if isinstance(line, httpx2.Response)
        }
        results: dict[str, Response | ProviderFault] = {}
        for key, line in read.by_key.items():
            result: Response | ProviderFault
            if isinstance(line, httpx2.Response):
                result = self._refused_line(key, line, requests[key], bodies[key], left_out[key])
            else:
                result = line
            if isinstance(result, Response):
                result = self._client.learn(result, left_out[key])
            results[key] = result
        return results

    async def _read(self, file: str, results: Results, *, batch: str) -> None:
        """Read a file of results as it comes."""

        async def read(client: openai.AsyncOpenAI) -> httpx2.Response:
            reply: Any = await client.get(
                f"/files/{_part(file)}/content",
                cast_to=httpx2.Response,
                stream=True,
                stream_cls=openai.AsyncStream[Any],
            )
            async with contextlib.aclosing(reply):
                async for lines in reply.aiter_raw():  # a reply, as there is no stream of events
                    results.take_in(lines)
            return cast("httpx2.Response", reply)

        if await self._exchange(read, missing=True) is None:
            msg = (
                f"{self.url} no longer has file {file!r} with results of batch {batch!r}; "
                f"`xling batches --forget {batch}` has its requests asked, and paid for, again"
            )
            raise PermanentFault(msg)

    def _refused_line(
        self,
        key: str,
        reply: httpx2.Response,
        request: Request,
        body: Mapping[str, JsonValue],
        left_out: tuple[str, ...],
    ) -> Response | ProviderFault:
        """Return what a refused line comes to; asked again, it leaves out what may be the cause."""
        refusal = self._client.refusal(reply)
        without = self._client.otherwise(refusal, request, body, left_out)
        if without is not None:
            self._without[key] = without
            return TransientFault(f"{self.url} does not take all that the request has")
        try:
            return self._client.refused(refusal, body)
        except ProviderFault as fault:
            return fault.with_traceback(None)

    async def _exchange(
        self,
        send: Callable[[openai.AsyncOpenAI], Awaitable[httpx2.Response]],
        *,
        missing: bool = False,
    ) -> Any:  # noqa: ANN401  a reply; None only where *missing*
        """Return the reply; None for a 404 where what is asked for may be *missing*."""
        client = self._client
        reply = await client.connection.exchange(client.through(openai, send(self._sdk)))
        if reply.is_success:
            return reply
        if missing and reply.status_code == httpx2.codes.NOT_FOUND:
            return None
        refusal = client.refusal(reply)
        if refusal.status in _NO_SUCH_API:
            msg = (
                f"{self.url} answered {refusal.status}: {refusal.message!r}. It seems to have no "
                "Batch API: leave `batch:` out of the model's name to have it asked request by "
                "request"
            )
            raise PermanentFault(msg, every_request=True)
        filtered = client.refused(refusal, {"model": client.model})
        msg = f"{self.url} refused the batch: {filtered.error!r}"
        raise PermanentFault(msg)

    def _object(self, reply: httpx2.Response) -> dict[str, Any]:
        read = read_json(reply.content, url=self.url, ends="/v1")
        if not isinstance(read, dict):
            msg = f"{self.url} sent JSON that is no object: {excerpt(str(read))!r}"
            raise TransientFault(msg)
        return read

    def _state(self, batch: dict[str, Any]) -> BatchState:
        return read_state(batch, url=self.url)

    async def aclose(self) -> None:
        """Close all connections."""
        await self._client.aclose()


def official_client(client: OpenaiClient) -> openai.AsyncOpenAI:
    """Return OpenAI's own client for the same service, over the connection of *client*."""
    endpoint = client.endpoint
    settings: dict[str, Any] = {
        "api_key": endpoint.key,
        "timeout": client.connection.client.timeout,
        "max_retries": 0,  # the engine retries
        "http_client": client.connection.client,
    }
    if endpoint.url_variable == AZURE:
        return openai.AsyncAzureOpenAI(
            azure_endpoint=endpoint.url, api_version=endpoint.api_version, **settings
        )
    return openai.AsyncOpenAI(base_url=endpoint.url, **settings)


def _part(name: str) -> str:
    """Return an id as a part of a path."""
    return quote(name, safe="")
