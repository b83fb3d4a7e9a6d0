"""What all trainings of ``xling train`` share: their folder, and how far they are."""

from __future__ import annotations

import shutil
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import Progress

from pytest_xling.cli.printing import check_free
from pytest_xling.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

__all__ = ["shown_progress", "unfinished"]

_UNFINISHED = "unfinished"
_EVERY = 10
"""Without a terminal so many lines say how far a long step is."""


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


@contextmanager
def shown_progress() -> Iterator[Callable[[str, int, int], None]]:
    """Show how far training is and how long it takes, on standard error.

    Gives what is told of a step, how much of it is done, and how much there is.
    """
    console = Console(stderr=True)
    with Progress(console=console, disable=not console.is_terminal) as bars:
        tasks = {}
        begun: dict[str, tuple[float, int]] = {}

        def progress(what: str, done: int, whole: int) -> None:
            if what not in tasks:
                tasks[what] = bars.add_task(what, total=whole)
                begun[what] = time.monotonic(), done
            bars.update(tasks[what], completed=done)
            if console.is_terminal:
                return
            start, already = begun[what]
            if done >= whole:
                console.print(f"{what}: {whole} done", highlight=False)
            elif done > already and done * _EVERY % whole < _EVERY:
                seconds = (time.monotonic() - start) / (done - already) * (whole - done)
                left = f"about {seconds / 60:.0f} minutes left"
                console.print(f"{what}: {done} of {whole}, {left}", highlight=False)

        yield progress
