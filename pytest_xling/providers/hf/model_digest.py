"""The fingerprint of a model's folder, reckoned once."""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_xling.keys import canonical_json

if TYPE_CHECKING:
    from pytest_xling.providers.hf.files import ModelFiles

__all__ = ["digest"]

_SMALL = {".json", ".txt", ".model", ".spm", ".jinja", ".tiktoken"}
_KEEP_FROM = 64 * 1024 * 1024
"""Bytes from which on the fingerprint is kept: reading a large model takes a minute."""


def digest(files: ModelFiles) -> str:
    """Return the SHA-256 over weights, configuration and tokenizer: names and contents.

    For a large model it is kept in the user's cache folder, with the size and time of every file;
    as long as these stay, nothing is read again.
    """
    paths = sorted({*files.weights, *_small(files.folder)})
    state = [[path.name, path.stat().st_size, path.stat().st_mtime_ns] for path in paths]
    if sum(path.stat().st_size for path in paths) < _KEEP_FROM:
        return _reckon(paths)
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    place = hashlib.sha256(str(files.folder).encode()).hexdigest()[:16]
    seal = Path(cache) / "pytest-xling" / f"hf-{place}.json"
    with suppress(OSError, ValueError, TypeError, KeyError):
        kept = json.loads(seal.read_text(encoding="utf-8"))
        if kept["state"] == state:
            return str(kept["sha256"])
    found = _reckon(paths)
    with suppress(OSError):  # then it is reckoned anew next time
        seal.parent.mkdir(parents=True, exist_ok=True)
        half = seal.with_suffix(f".{os.getpid()}.part")
        half.write_text(json.dumps({"state": state, "sha256": found}), encoding="utf-8")
        half.replace(seal)
    return found


def _small(folder: Path) -> list[Path]:
    templates = (folder / "additional_chat_templates").glob("*.jinja")
    return [p for p in (*folder.iterdir(), *templates) if p.is_file() and p.suffix in _SMALL]


def _reckon(paths: list[Path]) -> str:
    hashes = {}
    for path in paths:
        with path.open("rb") as file:
            hashes[path.name] = hashlib.file_digest(file, "sha256").hexdigest()
    return hashlib.sha256(canonical_json(hashes).encode()).hexdigest()
