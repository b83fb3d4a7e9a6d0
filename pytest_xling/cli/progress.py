"""The progress of commands that take minutes, on standard error."""

from __future__ import annotations

import os
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_EVERY = 10
"""Without a terminal so many lines say how far a long step is."""


@contextmanager
def shown_progress(*, logged: bool = True) -> Iterator[Callable[[str, int, int], None]]:
    """Show the progress, the rate and the remaining time of steps.

    Yields a function to call with the name of a step, how much of it is done, and its total.

    Args:
        logged: whether to print lines where standard error is no terminal, or is CI's.
    """
    # Not what rich takes for a terminal: FORCE_COLOR asks for colours, and bars fill logs.
    terminal = sys.stderr.isatty() and not os.environ.get("CI")
    console = Console(stderr=True, force_terminal=terminal)
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=20),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, disable=not terminal) as bars:
        tasks = {}
        begun: dict[str, tuple[float, int]] = {}

        def progress(what: str, done: int, whole: int) -> None:
            if what not in tasks:
                tasks[what] = bars.add_task(what, total=whole, rate="")
                begun[what] = time.monotonic(), done
            start, already = begun[what]
            seconds, since = time.monotonic() - start, done - already
            rate = f"{since / seconds:,.1f}/s" if since > 0 and seconds > 0 else ""
            bars.update(tasks[what], completed=done, total=whole, rate=rate)
            if terminal or not logged:
                return
            if done >= whole:
                console.print(f"{what}: {whole} done", highlight=False)
            elif since > 0 and done * _EVERY % whole < _EVERY:
                left = f"about {seconds / since * (whole - done) / 60:.0f} minutes left"
                console.print(f"{what}: {done} of {whole}, {left}", highlight=False)

        yield progress
