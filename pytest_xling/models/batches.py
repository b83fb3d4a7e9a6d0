"""Batches that waste little: alike in length, and bounded in tokens rather than in texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


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
