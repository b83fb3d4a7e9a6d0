"""SHA-256 of files."""

from __future__ import annotations

import hashlib
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
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
