"""A server that speaks as Serper does: results by a function of the query, and faults in a row.

:func:`serving_serper` takes what it finds. ``server.replies`` holds what the next searches meet
instead, such as ``FAULTS["429"]``; ``server.searches`` holds what it was asked.
"""

from __future__ import annotations

import json
import threading
import time
from collections import deque
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

__all__ = ["FAULTS", "Reply", "Search", "SerperServer", "serving_serper"]


@dataclass(frozen=True, kw_only=True)
class Search:
    """What was asked."""

    body: Mapping[str, Any]
    headers: Mapping[str, str]
    """By their names in small letters."""

    @property
    def query(self) -> str:
        """What was searched for."""
        return str(self.body["q"])


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What a search is answered in place of results."""

    status: int = 200
    body: bytes | None = None
    """None: the results, as ever."""
    headers: Mapping[str, str] = field(default_factory=dict)
    delay_s: float = 0.0
    """Seconds until it is sent."""
    closes: bool = False
    """Close the connection in its place."""


def _said(status: int, message: str, **headers: str) -> Reply:
    body = json.dumps({"message": message, "statusCode": status}).encode()
    return Reply(status=status, body=body, headers=headers)


FAULTS: Mapping[str, Reply] = {
    "400": _said(400, "Missing query parameter"),
    "401": _said(401, "Unauthorized."),
    "403": _said(403, "Unauthorized."),
    "404": _said(404, "Not Found"),
    "429": _said(429, "Rate limit exceeded.", **{"Retry-After": "0.05"}),
    "429_bare": _said(429, "Rate limit exceeded."),
    "500": _said(500, "Internal server error."),
    "503": _said(503, "Try again.", **{"Retry-After": "0.05"}),
    "close": Reply(closes=True),
    "credits": _said(400, "Not enough credits"),
    "empty": Reply(body=b'{"searchParameters": {"q": "?"}, "organic": [], "credits": 1}'),
    "error": _said(200, "Something broke."),
    "half_json": Reply(body=b'{"searchParameters": {"q": "?"}, "organic": [{"title": "Br'),
    "html": Reply(body=b"<!DOCTYPE html><html><body>Sign in</body></html>"),
    "html502": Reply(status=502, body=b"<html><body><h1>502 Bad Gateway</h1></body></html>"),
    "moved": Reply(status=307, body=b"", headers={"Location": "https://u:pw@else.test/search?k=1"}),
    "nothing": Reply(body=b""),
    "slow": Reply(delay_s=0.5),
}
"""By name: each is met by one search."""


@dataclass
class SerperServer:
    """What a test sets and sees of the server."""

    results: Callable[[str], list[dict[str, Any]]]
    """The pages found for a query, as Serper lists them under ``organic``."""
    beside: dict[str, Any] = field(default_factory=dict)
    """What each reply holds beside them, such as an ``answerBox``."""
    replies: deque[Reply] = field(default_factory=deque)
    """What the next searches meet instead, one each."""
    searches: list[Search] = field(default_factory=list)
    """What was asked so far."""
    url: str = ""


class _Connection(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def __init__(self, *args: Any, server_of: SerperServer) -> None:
        self._of = server_of
        super().__init__(*args)

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self._of.searches.append(Search(body=asked, headers=headers))
        reply = self._of.replies.popleft() if self._of.replies else Reply()
        time.sleep(reply.delay_s)
        if reply.closes:
            self.close_connection = True
            return
        body = reply.body
        if body is None:
            found = self._of.results(asked["q"])[: asked["num"]]
            parameters = {"q": asked["q"], "type": "search", "engine": "google"}
            whole = {"searchParameters": parameters, **self._of.beside, "organic": found}
            body = json.dumps({**whole, "credits": 1}).encode()
        self.send_response(reply.status)
        for name, value in {**reply.headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False  # connections are kept alive by their clients

    def handle_error(self, *_: object) -> None:
        """Say nothing of clients that went away."""


@contextmanager
def serving_serper(
    results: Callable[[str], list[dict[str, Any]]] = lambda _query: [],
) -> Iterator[SerperServer]:
    """Serve from a thread, at any free port of the loopback address."""
    shared = SerperServer(results)
    with _Server(("127.0.0.1", 0), partial(_Connection, server_of=shared)) as server:
        shared.url = f"http://127.0.0.1:{server.server_address[1]}/search"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield shared
        finally:
            server.shutdown()
            thread.join()
