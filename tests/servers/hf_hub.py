"""A Hugging Face hub for one model: what its client asks for, and no more."""

from __future__ import annotations

import hashlib
import json
import threading
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["COMMIT", "serving_hub"]

COMMIT = "89abcdef0123456789abcdef0123456789abcdef"


class _Hub(BaseHTTPRequestHandler):
    def __init__(self, *args: Any, name: str, folder: Path, asked: list[str]) -> None:
        self._name = name
        self._folder = folder
        self._asked = asked
        super().__init__(*args)

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_HEAD(self) -> None:
        self._answer(body=False)

    def do_GET(self) -> None:
        self._answer(body=True)

    def _answer(self, *, body: bool) -> None:
        path = self.path.partition("?")[0]
        self._asked.append(path)
        api, files = f"/api/models/{self._name}", f"/{self._name}/resolve/{COMMIT}/"
        there = [p for p in self._folder.iterdir() if p.is_file()]
        data: bytes | None = None
        if path in {f"{api}/revision/main", f"{api}/revision/{COMMIT}", api}:
            siblings = [{"rfilename": p.name} for p in there]
            data = json.dumps({"id": self._name, "sha": COMMIT, "siblings": siblings}).encode()
        elif path == f"{api}/tree/{COMMIT}":
            tree = [
                {"type": "file", "path": p.name, "size": p.stat().st_size, "oid": _oid(p)}
                for p in there
            ]
            data = json.dumps(tree).encode()
        elif path.startswith(files) and (file := self._folder / path[len(files) :]).is_file():
            data = file.read_bytes()
        self.send_response(200 if data is not None else 404)
        if data is None:
            self.send_header("X-Error-Code", "RepoNotFound")
            data = b"{}"
        elif path.startswith(files):
            self.send_header("ETag", f'"{_oid(self._folder / path[len(files) :])}"')
            self.send_header("X-Repo-Commit", COMMIT)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if body:
            self.wfile.write(data)


def _oid(path: Path) -> str:
    """Return what git calls a file's contents."""
    data = path.read_bytes()
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


@contextmanager
def serving_hub(name: str, folder: Path) -> Iterator[tuple[str, list[str]]]:
    """Serve the model in *folder* as *name*; yield the address, and what was asked so far."""
    asked: list[str] = []
    handler = partial(_Hub, name=name, folder=folder, asked=asked)
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
