"""A transport for httpx2's clients: it trusts no server, and has less to do for each request.

All that comes in passes :class:`Screened`: no more of it than can be an answer, and without the
endpoint's secrets. Nothing behind it, not even the client's log, sees them again.

Of 64 requests at once to a server that takes 200 ms, the CPU time of the client's stock transport
costs a tenth of the throughput. Two things here halve that: sixteen small pools instead of one
(httpcore2 looks at all connections of a pool before and after each request), and asyncio's own
transports instead of anyio's streams, with a request's head and body in one packet.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import ssl
import zlib
from functools import partial
from typing import TYPE_CHECKING, Any, Final, cast

import httpcore2
import httpx2

from pytest_xling.errors import PermanentFault

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterable, Iterator

    from pytest_xling.http.endpoint import Endpoint
    from pytest_xling.text.secrets import Secrets

CONNECT_S: Final = 15.0
"""How long a server may take to accept a connection."""
MOST_BYTES: Final = 16 << 20
"""A longer reply, unpacked, is no answer: the longest that models give are a hundredth of it."""
_MOST_OF_AN_ERROR = 64 << 10
# What is dropped at the end of an error that was cut: half a secret is not recognised.
_SEAM = 8 << 10
# Where a line is cut, so that what is left is still seen to be too long.
_CUT = MOST_BYTES + 1 + _SEAM
_PIECE = 1 << 20
# What is written anew: the body is not packed any more.
_OF_THE_BODY = frozenset({b"content-encoding", b"content-length", b"transfer-encoding"})
_GZIP = 16 + zlib.MAX_WBITS
_LOGGERS = ("anthropic", "google_genai", "httpcore2", "httpx2", "openai")

_POOLS = 16
_KEEPALIVE_S = 30.0
# A reply that nobody reads is not taken in without end.
_UNREAD = 1 << 20


class Screened(httpx2.AsyncBaseTransport):
    """Sends requests with the endpoint's credentials, and reads what comes back with care.

    Args:
        endpoint: where requests go.
        most_bytes: how long a reply may be, unpacked; none of its lines is longer than an answer.
    """

    def __init__(self, endpoint: Endpoint, *, most_bytes: int = MOST_BYTES) -> None:
        self._url = endpoint.url
        self._secrets = endpoint.secrets
        self._query = endpoint.query.encode()
        # An encoding whose unpacking can be bounded.
        self._headers = {b"accept-encoding": b"gzip"}
        if endpoint.authorization:
            self._headers[b"authorization"] = endpoint.authorization.encode()
        self._pools = _Pools(encrypted=endpoint.url.startswith("https:"))
        self._most_bytes = most_bytes

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send *request* and return the reply, whose body is a stream for whoever wants it so.

        Raises, where the body is read:
            PermanentFault: it is longer than any answer.
        """
        with _httpx_errors():
            response = await self._pools.handle_async_request(self._with_credentials(request))
        headers = [(name, self._secrets.redact_bytes(value)) for name, value in response.headers]
        return httpx2.Response(
            response.status,
            headers=[pair for pair in headers if pair[0].lower() not in _OF_THE_BODY],
            stream=_Body(self._lines(response), response),
        )

    def _with_credentials(self, request: httpx2.Request) -> httpcore2.Request:
        """Return what is sent: *request* itself is logged by the client, and so has no secrets."""
        url, ours = request.url, self._headers
        target = url.raw_path
        if self._query:
            path, _, query = target.partition(b"?")
            target = path + b"?" + b"&".join(filter(None, (self._query, query)))
        headers = [pair for pair in request.headers.raw if pair[0].lower() not in ours]
        return httpcore2.Request(
            request.method,
            httpcore2.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=target),
            headers=[*headers, *ours.items()],
            content=cast("httpx2.AsyncByteStream", request.stream),
            extensions=request.extensions,
        )

    async def _lines(self, response: httpcore2.Response) -> AsyncGenerator[bytes]:
        """Yield the body of *response*, unpacked, in pieces that end where a line does.

        No secret has a line's end in it. Of an error its beginning is enough, and of a line that is
        longer than any answer so much that this is seen.
        """
        refused = response.status >= httpx2.codes.MULTIPLE_CHOICES
        most = _MOST_OF_AN_ERROR if refused else self._most_bytes
        redact = partial(self._secrets.redact_bytes, answer=not refused)
        line = bytearray()  # which has not ended yet
        taken = unpacked = 0
        async with contextlib.aclosing(_unpacked(response)) as pieces:
            async for packed, piece in pieces:
                taken += packed
                unpacked += len(piece)
                if max(taken, unpacked) > most:
                    if not refused:
                        raise too_long(self._url, most)
                    yield redact(bytes(line + piece))[:-_SEAM]
                    return
                first, end, others = piece.partition(b"\n")
                line += first[: max(_CUT - len(line), 0)]
                if end:
                    whole, end, rest = others.rpartition(b"\n")
                    yield redact(_cut(line) + b"\n" + whole + end)
                    line = bytearray(rest)
        yield redact(_cut(line))

    async def aclose(self) -> None:
        """Close all connections."""
        await self._pools.aclose()


class _Body(httpx2.AsyncByteStream):
    """The body of a reply, read as it comes."""

    def __init__(self, pieces: AsyncGenerator[bytes], response: httpcore2.Response) -> None:
        self._pieces = pieces
        self._response = response

    def __aiter__(self) -> AsyncGenerator[bytes]:
        return self._pieces

    async def aclose(self) -> None:
        """Read no more."""
        await self._pieces.aclose()
        await self._response.aclose()


async def _chunks(response: httpcore2.Response) -> AsyncGenerator[bytes]:
    """Yield the body of *response* as it comes."""
    with _httpx_errors():
        async for chunk in response.aiter_stream():
            yield chunk


async def _unpacked(response: httpcore2.Response) -> AsyncGenerator[tuple[int, bytes]]:
    """Yield the body of *response* in small pieces, each with the bytes that came for it."""
    named = (value for name, value in response.headers if name.lower() == b"content-encoding")
    packing = b", ".join(named).decode("latin-1").strip().lower()
    if packing not in {"gzip", "identity", "x-gzip", ""}:
        msg = f"packed with {packing!r}, which was not asked for"
        raise httpx2.DecodingError(msg)
    unpacker = zlib.decompressobj(_GZIP) if packing.endswith("gzip") else None
    async with contextlib.aclosing(_chunks(response)) as chunks:
        async for chunk in chunks:
            if unpacker is None:
                yield len(chunk), chunk
                continue
            packed, rest = len(chunk), chunk
            while rest:
                try:
                    piece = unpacker.decompress(rest, _PIECE)
                except zlib.error as error:
                    raise httpx2.DecodingError(str(error)) from error
                yield packed, piece
                packed, rest = 0, unpacker.unconsumed_tail
                if rest:  # little came and is much: others may have their turn
                    await asyncio.sleep(0)
    if unpacker is not None:
        yield 0, unpacker.flush()


def _cut(line: bytearray) -> bytes:
    """Return *line*; of one that was cut half a secret may be the end."""
    return bytes(line[:-_SEAM] if len(line) == _CUT else line)


def too_long(url: str, most_bytes: int) -> PermanentFault:
    """Return the fault for a reply of *url*, or a line of one, that is longer than any answer."""
    return PermanentFault(
        f"{url} sent more than {most_bytes >> 20} MB in reply to one question; no more of it "
        "was read. Is it the API it should be, and a model kept to --xling-max-tokens?"
    )


class RedactedLogs(logging.Filter):
    """Keeps *secrets* out of the records of the client and all beneath it, until :meth:`end`."""

    def __init__(self, secrets: Secrets) -> None:
        super().__init__()
        self._secrets = secrets
        # A filter holds for the records of one logger only, not for those below it.
        known = [name for name in logging.root.manager.loggerDict if name.startswith(_LOGGERS)]
        self._loggers = [logging.getLogger(name) for name in known]
        for logger in self._loggers:
            logger.addFilter(self)

    def filter(self, record: logging.LogRecord) -> bool:
        """Let *record* through, redacted."""
        message = record.getMessage()
        redacted = self._secrets.redact(message)
        if redacted != message:
            record.msg, record.args = redacted, None
        return True

    def end(self) -> None:
        """Filter no more."""
        for logger in self._loggers:
            logger.removeFilter(self)


@contextlib.contextmanager
def _httpx_errors() -> Iterator[None]:
    """Raise httpx2's errors in place of httpcore2's, which have the same names."""
    try:
        yield
    except (
        httpcore2.NetworkError,
        httpcore2.ProtocolError,
        httpcore2.TimeoutException,
        httpcore2.UnsupportedProtocol,
    ) as error:
        kind: type[httpx2.TransportError] = getattr(httpx2, type(error).__name__)
        raise kind(str(error)) from error


class _Pools:
    """Spreads requests over several small connection pools."""

    def __init__(self, *, encrypted: bool) -> None:
        # Reading all certificates takes 20 ms of CPU time.
        context = httpx2.create_ssl_context() if encrypted else None
        self._pools = [
            httpcore2.AsyncConnectionPool(
                ssl_context=context,
                max_connections=None,
                max_keepalive_connections=None,
                keepalive_expiry=_KEEPALIVE_S,
                network_backend=_Backend(),
            )
            for _ in range(_POOLS)
        ]
        self._busy = [0] * _POOLS

    async def handle_async_request(self, request: httpcore2.Request) -> httpcore2.Response:
        """Send *request* through the pool that has least to do."""
        index = self._busy.index(min(self._busy))
        self._busy[index] += 1
        try:
            return await self._pools[index].handle_async_request(request)
        finally:
            self._busy[index] -= 1

    async def aclose(self) -> None:
        """Close all pools."""
        for pool in self._pools:
            await pool.aclose()


class _Backend(httpcore2.AsyncNetworkBackend):
    """Connects through asyncio."""

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109  httpcore2's signature
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """Connect; *local_address* and *socket_options* are never given here."""
        del local_address, socket_options
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(timeout):
                _, stream = await loop.create_connection(_Stream, host, port)
        except TimeoutError as error:
            raise httpcore2.ConnectTimeout(str(error)) from error
        except OSError as error:
            raise httpcore2.ConnectError(str(error)) from error
        return stream

    async def sleep(self, seconds: float) -> None:
        """Sleep, between attempts to connect."""
        await asyncio.sleep(seconds)


class _Stream(asyncio.Protocol, httpcore2.AsyncNetworkStream):
    """One connection. What is written leaves with the next read: the request in one piece.

    There are no time-outs in here: the whole exchange has one.
    """

    def __init__(self) -> None:
        self._transport: asyncio.Transport | None = None
        self._unsent: list[bytes] = []
        self._unread = bytearray()
        self._ended = False
        self._error: Exception | None = None
        self._waiter: asyncio.Future[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take the transport, the plain one first and TLS's later."""
        self._transport = transport  # type: ignore[assignment]  # asyncio gives TCP a Transport

    def data_received(self, data: bytes) -> None:
        """Keep *data* until it is read."""
        self._unread += data
        if len(self._unread) > _UNREAD and self._transport is not None:
            self._transport.pause_reading()
        self._wake()

    def eof_received(self) -> None:
        """Note that there will be no more."""
        self._ended = True
        self._wake()

    def connection_lost(self, exc: Exception | None) -> None:
        """Note that there will be no more, and why."""
        self._ended = True
        self._error = exc
        self._wake()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109
        """Send what is unsent, then return what has come, at least a byte; nothing at the end."""
        del timeout
        transport = self._transport
        if transport is None:
            msg = "not connected"
            raise httpcore2.ReadError(msg)
        if self._unsent:
            transport.write(b"".join(self._unsent))
            self._unsent.clear()
        if not self._unread and not self._ended:
            self._waiter = asyncio.get_running_loop().create_future()
            try:
                await self._waiter
            finally:
                self._waiter = None
        if not self._unread and self._error is not None:
            raise httpcore2.ReadError(str(self._error)) from self._error
        data = bytes(self._unread[:max_bytes])
        del self._unread[:max_bytes]
        if not self._ended and not transport.is_closing():
            transport.resume_reading()
        return data

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109
        """Keep *buffer* for the next read to send."""
        del timeout
        if buffer:
            self._unsent.append(buffer)

    async def aclose(self) -> None:
        """Close, without waiting for the other side to agree."""
        if self._transport is not None:
            self._transport.close()
            await asyncio.sleep(0)
            self._transport.abort()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109  httpcore2's signature
    ) -> httpcore2.AsyncNetworkStream:
        """Encrypt from here on."""
        loop = asyncio.get_running_loop()
        assert self._transport is not None  # noqa: S101  connect_tcp has returned
        try:
            async with asyncio.timeout(timeout):
                transport = await loop.start_tls(
                    self._transport, self, ssl_context, server_hostname=server_hostname
                )
        except TimeoutError as error:
            await self.aclose()
            raise httpcore2.ConnectTimeout(str(error)) from error
        except (OSError, ssl.SSLError) as error:
            await self.aclose()
            raise httpcore2.ConnectError(str(error)) from error
        if transport is None:
            msg = "the connection closed while TLS was being set up"
            raise httpcore2.ConnectError(msg)
        self._transport = transport
        return self

    def get_extra_info(self, info: str) -> Any:  # noqa: ANN401  httpcore2's signature
        """Tell httpcore2 what it asks for: whether an idle connection has news, and of TLS."""
        if info == "is_readable":
            return self._ended or bool(self._unread)
        if info == "ssl_object" and self._transport is not None:
            return self._transport.get_extra_info("ssl_object")
        return None
