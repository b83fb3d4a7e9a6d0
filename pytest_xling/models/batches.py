"""Batches that waste little: alike in length, and bounded in tokens rather than in texts."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

T = TypeVar("T")
R = TypeVar("R")

# Fastest of 256 to 4096 on a CPU, where a few hundred rows keep a core busy; a GPU wants many.
BUDGET_CPU = 1024
_BUDGET_GPU = 1 << 15


def budget_on(device: str) -> int:
    """Return how many tokens a batch may have on *device*, torch's name of it."""
    return BUDGET_CPU if device == "cpu" else _BUDGET_GPU


def batches(lengths: Sequence[int], *, budget: int) -> Iterator[list[int]]:
    """Cut texts into batches, the longest first.

    Args:
        lengths: of each text, in tokens.
        budget: most tokens in a batch once all are padded to its longest; a text that is longer
            is a batch of its own.

    Yields:
        Places in *lengths*; texts of one length stay in their order.
    """
    order = sorted(range(len(lengths)), key=lambda place: -lengths[place])
    start = 0
    while start < len(order):
        fit = max(1, budget // max(1, lengths[order[start]]))
        yield order[start : start + fit]
        start += fit


def in_halves(run: Callable[[Sequence[T]], Iterable[R]], rows: Sequence[T]) -> list[R]:
    """Return what *run* makes of each row of a batch, in halves where memory is short.

    Raises:
        torch.OutOfMemoryError: it is short for a single row.
    """
    import torch  # noqa: PLC0415  an extra, and a second to import

    try:
        return list(run(rows))
    except torch.OutOfMemoryError:
        if len(rows) == 1:
            raise
    torch.cuda.empty_cache()  # only now: the error held on to what filled the memory
    half = len(rows) // 2
    return [*in_halves(run, rows[:half]), *in_halves(run, rows[half:])]
