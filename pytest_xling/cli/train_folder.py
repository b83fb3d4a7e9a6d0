"""What all trainings of ``xling train`` share: their folder."""

from __future__ import annotations

import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pytest_xling.cli.printing import check_free
from pytest_xling.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_UNFINISHED = "unfinished"


@contextmanager
def unfinished(folder: Path, file: str, *, force: bool) -> Iterator[Path]:
    """Give the folder in which training that was cut off goes on; it is removed at the end.

    Args:
        folder: of the weights.
        file: what the weights are called in it.
        force: whether they may be there already.

    Raises:
        ConfigError: they are there, or the folder cannot be written to.
    """
    if folder.is_file():
        msg = f"{folder} is a file; name a folder"
        raise ConfigError(msg)
    check_free(folder / file, force=force)
    path = folder / _UNFINISHED
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        msg = f"cannot write to {folder}: {error.strerror or error}"
        raise ConfigError(msg) from error
    yield path
    shutil.rmtree(path)
