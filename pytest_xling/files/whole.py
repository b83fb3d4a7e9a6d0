"""Files that are read whole, appear whole or not at all, and how messages name them."""

from __future__ import annotations

import os
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

from pytest_xling.errors import ConfigError, DataError

if TYPE_CHECKING:
    from collections.abc import Iterator

OWNER_ONLY: Final = 0o600
"""Permissions of new files that hold answers; Windows has others."""


def display_path(path: Path) -> str:
    """Return a path as messages name it: relative to the working directory if it lies below."""
    relative = os.path.relpath(path) if path.is_absolute() else str(path)
    return str(path) if relative.startswith("..") else relative


@contextmanager
def file_errors() -> Iterator[None]:
    """Raise what the system says of a file as a mistake that can be fixed.

    Wherever a file is looked for, its folder may be one that cannot be searched.

    Raises:
        ConfigError: names the file and what is wrong with it.
    """
    try:
        yield
    except BrokenPipeError:  # of who reads what is printed, and no file's
        raise
    except OSError as error:
        named = "" if error.filename is None else f"{display_path(Path(error.filename))}: "
        msg = f"{named}{error.strerror or error}; make it accessible, or name another"
        raise ConfigError(msg) from error


def read_utf8(path: Path, *, fix: str = "save the file as UTF-8") -> str:
    """Return the text of a UTF-8 file, with or without a byte order mark.

    Args:
        path: of the file.
        fix: what to do where it is not UTF-8.

    Raises:
        DataError: it cannot be read, or is not UTF-8.
    """
    try:
        return path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        msg = f"{path}: cannot be read: {error.strerror or error}; check the path"
        raise DataError(msg) from error
    except UnicodeDecodeError as error:
        msg = f"{path}: byte {error.start} is not UTF-8; {fix}"
        raise DataError(msg) from error


def kept_mode(path: Path, *, new: int | None = None) -> int | None:
    """Return the permissions of the file at *path*, which is to be replaced; *new* without one."""
    return path.stat().st_mode & 0o7777 if path.exists() else new


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
    with (
        _replacing(path, mode=mode) as unfinished,
        unfinished.open("w", encoding="utf-8", newline=newline) as file,
    ):
        yield file


@contextmanager
def whole_bytes(path: Path) -> Iterator[IO[bytes]]:
    """Give a file to write bytes in; as :func:`whole` in all else."""
    with _replacing(path, mode=None) as unfinished, unfinished.open("wb") as file:
        yield file


@contextmanager
def _replacing(path: Path, *, mode: int | None) -> Iterator[Path]:
    """Give a new file beside *path*, which replaces it once the block is left without an error."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    os.close(handle)
    unfinished = Path(name)
    try:
        yield unfinished
        unfinished.chmod(0o666 & ~_umask() if mode is None else mode)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def _umask() -> int:
    """Return the process's umask, which can be read only by setting it."""
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
