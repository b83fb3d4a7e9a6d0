"""Text files that appear whole or not at all, and how messages name files."""

from __future__ import annotations

import os
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["display_path", "whole"]


def display_path(path: Path) -> str:
    """Return a path as messages name it: relative to the working directory if it lies below."""
    relative = os.path.relpath(path) if path.is_absolute() else str(path)
    return str(path) if relative.startswith("..") else relative


@contextmanager
def whole(path: Path, *, newline: str = "\n", mode: int | None = None) -> Iterator[IO[str]]:
    r"""Give a file to write in UTF-8; it takes *path*'s place when all is written, or not at all.

    Args:
        path: of the file; its folder must be there, and what is there is replaced.
        newline: what ``\n`` is written as, as for :func:`open`.
        mode: permissions; None: those of a new file.

    Raises:
        OSError: it cannot be written.
    """
    with tempfile.NamedTemporaryFile(
        "w",
        encoding="utf-8",
        newline=newline,
        dir=path.parent,
        prefix=f".{path.name}.",
        delete=False,
    ) as file:
        unfinished = Path(file.name)
        try:
            yield file
        except BaseException:
            unfinished.unlink()
            raise
    try:
        unfinished.chmod(0o666 & ~_umask() if mode is None else mode)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def _umask() -> int:
    """Return the process's umask, which can be read only by setting it."""
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
