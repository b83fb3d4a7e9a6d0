"""A server that speaks OpenAI's Batch API: files, batches, their lists and what becomes of them.

:func:`serving_batches` takes how questions are answered. A batch is over ``delay_s`` after it was
begun; on its way it is validating, in progress and finalizing. ``server.fates`` holds what becomes
of the next batches instead, ``server.troubles`` what the next requests meet, ``server.asked`` which
requests were answered, and how often: each time is paid for.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections import Counter, deque
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


Line: TypeAlias = dict[str, Any]
PAGE = 2
"""Batches in one reply, so that lists have several pages."""
FLYING = ("validating", "in_progress", "finalizing")
BROKEN = ("cancelled", "expired")
"""Of batches that end so, the first half is answered."""


def echo(body: Line) -> str | Line:
    """Answer with the last message."""
    return str(body["messages"][-1]["content"])


@dataclass
class Batch:
    """A batch and what becomes of it."""

    id: str
    file: str
    lines: list[Line]
    fate: str
    begun: float
    cancelled: bool = False
    counted: bool = False


@dataclass
class BatchServer:
    """What the server has seen, and how it behaves."""

    answer: Callable[[Line], str | Line] = echo
    """From a request's body to the text of its answer, or to a status and an error."""
    delay_s: float = 0.0
    reply_s: float = 0.0
    """How long a reply takes once what was asked is done."""
    partial: bool = False
    """Whether there is a file with the first half of the answers before a batch is over."""
    most_enqueued: int = 50_000
    """Batches fail that would make it more requests in flight, as if they had too many tokens."""
    url: str = ""
    asked: Counter[str] = field(default_factory=Counter)
    """By ``custom_id``."""
    bodies: list[Line] = field(default_factory=list)
    """What was asked, in order."""
    sizes: list[int] = field(default_factory=list)
    """How many requests each batch had that was begun."""
    requests: Counter[str] = field(default_factory=Counter)
    """By method and path, without ids."""
    fates: deque[str] = field(default_factory=deque)
    """``completed``, ``expired``, ``cancelled``, ``failed`` or ``stuck``."""
    troubles: dict[str, deque[str]] = field(default_factory=dict)
    """By method and path: a status; or what was asked is done, and no reply comes (``lost``), half
    of one (``half``), or a status (``429 all the same``)."""
    spoil: Callable[[list[Line]], list[Line]] = list
    """What is done to the lines of a file of results."""
    files: dict[str, bytes] = field(default_factory=dict)
    """By id; what is packed with gzip is sent as such."""
    batches: dict[str, Batch] = field(default_factory=dict)
    numbers: Iterator[int] = field(default_factory=lambda: iter(range(1, 1_000_000)))
    lock: threading.RLock = field(default_factory=threading.RLock)

    def stuck(self) -> None:
        """Let the batches go on that are stuck."""
        with self.lock:
            for batch in self.batches.values():
                batch.fate = "completed" if batch.fate == "stuck" else batch.fate

    def handle(self, method: str, path: str, query: str, content: bytes) -> tuple[int, Any]:
        """Return status and body of a reply."""
        room, *parts = path.removeprefix("/v1/").split("/")
        if room == "files":
            return self._of_files(method, parts, content)
        if room == "batches":
            return self._of_batches(method, parts, query, content)
        return self._answered("alone", json.loads(content))

    def _of_files(self, method: str, parts: list[str], content: bytes) -> tuple[int, Any]:
        if method == "POST":
            return self._upload(content)
        if parts[0] not in self.files:
            return _missing(parts[0])
        if method == "GET":
            return 200, self.files[parts[0]]
        del self.files[parts[0]]
        return 200, {"id": parts[0], "deleted": True}

    def _of_batches(
        self, method: str, parts: list[str], query: str, content: bytes
    ) -> tuple[int, Any]:
        if not parts:
            return self._begin(json.loads(content)) if method == "POST" else self._list(query)
        if parts[0] not in self.batches:
            return _missing(parts[0])
        batch = self.batches[parts[0]]
        batch.cancelled |= parts[1:] == ["cancel"]
        return 200, self._described(batch)

    def _upload(self, content: bytes) -> tuple[int, Any]:
        found = re.search(rb"\r\n\r\n(\{.*\}\n)\r\n--", content, re.DOTALL)
        assert found is not None
        assert b'name="purpose"\r\n\r\nbatch\r\n' in content
        file = f"file-{next(self.numbers)}"
        self.files[file] = found[1]
        return 200, {"id": file, "purpose": "batch"}

    def _begin(self, asked: Line) -> tuple[int, Any]:
        file = asked["input_file_id"]
        if file not in self.files:
            return _error(400, f"No such file {file}")
        assert ("/v1/chat/completions", "24h") == (asked["endpoint"], asked["completion_window"])
        lines = [json.loads(line) for line in self.files[file].splitlines()]
        fate = self.fates.popleft() if self.fates else "completed"
        if len(lines) + self._enqueued() > self.most_enqueued:
            fate = "token_limit_exceeded"
        number = f"batch_{next(self.numbers)}"
        batch = self.batches[number] = Batch(number, file, lines, fate, time.monotonic())
        self.sizes.append(len(lines))
        if fate in {"completed", "stuck"}:  # of the others those are counted that were answered
            self._count(batch, lines)
        return 200, self._described(batch)

    def _enqueued(self) -> int:
        """Return how many requests are in flight."""
        described = map(self._described, self.batches.values())
        flying = (state for state in described if state["status"] in FLYING)
        return sum(state["request_counts"]["total"] for state in flying)

    def _count(self, batch: Batch, lines: list[Line]) -> None:
        if not batch.counted:
            batch.counted = True
            self.asked.update(line["custom_id"] for line in lines)
            self.bodies += [line["body"] for line in lines]

    def _list(self, query: str) -> tuple[int, Any]:
        newest = list(self.batches.values())[::-1]
        after = re.search(r"after=([^&]+)", query)
        start = [batch.id for batch in newest].index(after[1]) + 1 if after else 0
        page = newest[start : start + PAGE]
        more = start + PAGE < len(newest)
        return 200, {"data": [self._described(batch) for batch in page], "has_more": more}

    def _described(self, batch: Batch) -> Line:
        """Return a batch as it is now."""
        share = (time.monotonic() - batch.begun) / self.delay_s if self.delay_s else 1.0
        lines, half = batch.lines, batch.lines[: (len(batch.lines) + 1) // 2]
        fate = "cancelled" if batch.cancelled else batch.fate
        described: Line = {
            "id": batch.id,
            "object": "batch",
            "input_file_id": batch.file,
            "created_at": time.time(),
            "request_counts": {"total": len(lines), "completed": 0, "failed": 0},
        }
        if fate in {"failed", "token_limit_exceeded"}:
            errors = [{"code": fate, "message": "It cannot be taken.", "line": 1}]
            return described | {"status": "failed", "errors": {"data": errors}}
        if fate == "stuck" or (share < 1 and not batch.cancelled):
            described["status"] = FLYING[min(int(share * 3), 2)]
            if self.partial:
                described |= self._results(batch, half, [])
            return described
        done = half if fate in BROKEN else lines
        self._count(batch, done)
        return described | {"status": fate} | self._results(batch, done, lines[len(done) :])

    def _results(self, batch: Batch, done: list[Line], undone: list[Line]) -> Line:
        """Write the files of results, and return where they are."""
        answers: list[Line] = []
        errors: list[Line] = []
        for line in done:
            status, body = self._answered(line["custom_id"], line["body"])
            result = {
                "id": f"r-{line['custom_id'][:8]}",
                "custom_id": line["custom_id"],
                "response": {"status_code": status, "request_id": "q", "body": body},
                "error": None,
            }
            (answers if status == 200 else errors).append(result)
        error = {"code": "batch_expired", "message": "It was not asked in time."}
        errors += [
            {"custom_id": line["custom_id"], "response": None, "error": error} for line in undone
        ]
        described: Line = {
            "request_counts": {
                "total": len(batch.lines),
                "completed": len(answers),
                "failed": len(errors),
            }
        }
        for name, lines in (("output", answers), ("error", errors)):
            file = f"file-{name}-{batch.id}"
            if lines:
                text = "\n".join(json.dumps(line) for line in self.spoil(lines))
                self.files[file] = text.encode() + b"\n"
                described[f"{name}_file_id"] = file
        return described

    def _answered(self, key: str, body: Line) -> tuple[int, Any]:
        if key == "alone":
            self.asked[key] += 1
            self.bodies.append(body)
        said = self.answer(body)
        if isinstance(said, dict):
            return said["status"], {"error": said["error"]}
        return 200, {
            "id": "chatcmpl-1",
            "model": "test-model-2026",
            "choices": [
                {"finish_reason": "stop", "message": {"role": "assistant", "content": said}}
            ],
            "usage": {"prompt_tokens": 1_000, "completion_tokens": 100},
        }


def _error(status: int, message: str) -> tuple[int, Any]:
    return status, {"error": {"message": message, "code": None, "param": None}}


def _missing(what: str) -> tuple[int, Any]:
    return _error(404, f"No {what!r} found")


class Handler(BaseHTTPRequestHandler):
    """Passes requests on to the server, unless trouble is due."""

    protocol_version = "HTTP/1.1"

    def __init__(self, shared: BatchServer, *arguments: Any) -> None:
        self._shared = shared
        super().__init__(*arguments)

    def do_GET(self) -> None:
        """Answer."""
        self._handle()

    do_POST = do_GET  # noqa: N815  the base class's names
    do_DELETE = do_GET  # noqa: N815  likewise

    def log_message(self, *_: Any) -> None:
        """Say nothing."""

    def _handle(self) -> None:
        content = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path, _, query = self.path.partition("?")
        place = f"{self.command} {re.sub(r'/(batch_|file-)[^/]+', '/ID', path)}"
        shared = self._shared
        with shared.lock:
            shared.requests[place] += 1
            due = shared.troubles.get(place)
            trouble = due.popleft() if due else ""
            if not trouble.isdigit():
                status, body = shared.handle(self.command, path, query, content)
            if trouble[:3].isdigit():
                key = self.headers.get("Authorization", "")
                status, body = _error(int(trouble[:3]), f"Not now, {key}.")
        if trouble == "lost":
            self.close_connection = True
            return
        time.sleep(shared.reply_s)
        sent = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(sent)))
        if sent.startswith(b"\x1f\x8b"):
            self.send_header("Content-Encoding", "gzip")
        self.end_headers()
        if trouble == "half":
            self.close_connection = True
            sent = sent[: len(sent) // 2]
        self.wfile.write(sent)


@contextmanager
def serving_batches(**behaviour: Any) -> Iterator[BatchServer]:
    """Serve from a thread; *behaviour* as in :class:`BatchServer`."""
    shared = BatchServer(**behaviour)
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, shared))
    server.daemon_threads = True
    shared.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield shared
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
