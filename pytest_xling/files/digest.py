"""SHA-256 of files."""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING

from pytest_xling.files.whole import whole

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path


def file_sha256(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def files_sha256(paths: Sequence[Path]) -> str:
    """Return the SHA-256 of a file, or of the list of those of several.

    A file whose size and time of change are as before is not read again in the same process.
    """
    digests = []
    for path in paths:
        status = path.stat()
        digests.append(_cached_sha256(path, status.st_size, status.st_mtime_ns))
    if len(digests) == 1:
        return digests[0]
    return hashlib.sha256("\n".join(digests).encode()).hexdigest()


@cache
def _cached_sha256(path: Path, size: int, modified: int) -> str:
    del size, modified  # part of the cache's key only
    return file_sha256(path)


def kept_sha256(seal: Path, paths: Sequence[Path], compute: Callable[[], str]) -> str:
    """Return the digest that *compute* makes of *paths*; it is kept in the file *seal*.

    As long as names, sizes and times of all files stay, it is not computed again. A seal that is
    damaged or cannot be written costs only time.
    """
    state = [[path.name, path.stat().st_size, path.stat().st_mtime_ns] for path in paths]
    with suppress(OSError, ValueError, TypeError, KeyError):
        kept = json.loads(seal.read_text(encoding="utf-8"))
        if kept["state"] == state:
            return str(kept["sha256"])
    sha256 = compute()
    with suppress(OSError):
        seal.parent.mkdir(parents=True, exist_ok=True)
        with whole(seal) as file:
            json.dump({"state": state, "sha256": sha256}, file)
    return sha256
