"""A Hugging Face hub for one model: what its client asks for, and no more."""

from __future__ import annotations

import hashlib
import json
import threading
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from huggingface_hub import constants

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    import pytest


COMMIT = "89abcdef0123456789abcdef0123456789abcdef"
"""Of the main branch."""
_HEADS = "refs/heads/"
_PULLS = "refs/pr/"


class _Hub(BaseHTTPRequestHandler):
    def __init__(
        self, *args: Any, name: str, refs: Mapping[str, Path], status: int, asked: list[str]
    ) -> None:
        self._name = name
        self._refs = refs
        self._status = status
        self._asked = asked
        super().__init__(*args)

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_HEAD(self) -> None:
        self._answer(body=False)

    def do_GET(self) -> None:
        self._answer(body=True)

    def _answer(self, *, body: bool) -> None:
        path = unquote(self.path.partition("?")[0])
        self._asked.append(path)
        status, answer = self._status, None
        headers: dict[str, str] = {}
        if status == 200:
            headers, answer = self._found(path)
        if status == 200 and answer is None:
            known = path.startswith((f"/api/models/{self._name}/", f"/{self._name}/"))
            status = 404
            headers = {"X-Error-Code": "RevisionNotFound" if known else "RepoNotFound"}
        self.send_response(status)
        for header, value in headers.items():
            self.send_header(header, value)
        answer = b"{}" if answer is None else answer
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        if body:
            self.wfile.write(answer)

    def _found(self, path: str) -> tuple[dict[str, str], bytes | None]:
        """Return the headers and what is at *path*; None where there is nothing."""
        api = f"/api/models/{self._name}"
        if path == f"{api}/refs":
            return {}, json.dumps(self._listed_refs()).encode()
        for ref, folder in self._refs.items():
            commit = _commit(ref)
            there = sorted(p.relative_to(folder) for p in folder.rglob("*") if p.is_file())
            for revision in (ref.removeprefix(_HEADS), commit):
                files = f"/{self._name}/resolve/{revision}/"
                if path == f"{api}/revision/{revision}" or (path == api and revision == "main"):
                    siblings = [{"rfilename": p.as_posix()} for p in there]
                    about = {"id": self._name, "sha": commit, "siblings": siblings}
                    return {}, json.dumps(about).encode()
                if path == f"{api}/tree/{revision}":
                    tree = [_entry(p, folder) for p in there]
                    return {}, json.dumps(tree).encode()
                if path.startswith(files) and (file := folder / path[len(files) :]).is_file():
                    etag = {"ETag": f'"{_oid(file)}"', "X-Repo-Commit": commit}
                    return etag, file.read_bytes()
        return {}, None

    def _listed_refs(self) -> dict[str, list[dict[str, str]]]:
        refs = [
            {"name": ref.rpartition("/")[2], "ref": ref, "targetCommit": _commit(ref)}
            for ref in self._refs
        ]
        return {
            "branches": [ref for ref in refs if ref["ref"].startswith(_HEADS)],
            "converts": [],
            "tags": [],
            "pullRequests": [ref for ref in refs if ref["ref"].startswith(_PULLS)],
        }


def _commit(ref: str) -> str:
    main = ref == f"{_HEADS}main"
    return COMMIT if main else hashlib.sha1(ref.encode(), usedforsecurity=False).hexdigest()


def _entry(path: Path, folder: Path) -> dict[str, str | int]:
    """Return what a listing says of a file."""
    file = folder / path
    size = file.stat().st_size
    return {"type": "file", "path": path.as_posix(), "size": size, "oid": _oid(file)}


def _oid(path: Path) -> str:
    """Return what git calls a file's contents."""
    data = path.read_bytes()
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


@contextmanager
def serving_hub(
    name: str, folder: Path, *, pulls: Mapping[int, Path] | None = None, status: int = 200
) -> Iterator[tuple[str, list[str]]]:
    """Serve a model; yield the address, and what was asked so far.

    Args:
        name: of the model.
        folder: with the files of its main branch.
        pulls: by number the files of its pull requests.
        status: what every request is answered with, where it is not 200.
    """
    asked: list[str] = []
    refs = {f"{_HEADS}main": folder}
    refs |= {f"{_PULLS}{number}": files for number, files in (pulls or {}).items()}
    handler = partial(_Hub, name=name, refs=refs, status=status, asked=asked)
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def ask_hub(monkeypatch: pytest.MonkeyPatch, address: str, *, cache: Path) -> None:
    """Have the client in this process, which has read its environment, ask the hub at *address*."""
    template = constants.HUGGINGFACE_CO_URL_TEMPLATE.replace(constants.ENDPOINT, address)
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
    monkeypatch.setattr(constants, "ENDPOINT", address)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(cache))
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)
