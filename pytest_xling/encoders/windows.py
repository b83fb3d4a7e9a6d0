"""Read a text that is longer than the encoder takes in overlapping windows."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

__all__ = ["merged", "windows"]


def windows(length: int, *, size: int, stride: int) -> list[tuple[int, int]]:
    """Return the windows over *length* tokens, as (start, end).

    One where it is enough, else windows of *size* every *stride* tokens, the last one moved back to
    end where the text does.
    """
    if length <= size:
        return [(0, length)]
    starts = [*range(0, length - size, stride), length - size]
    return [(start, start + size) for start in starts]


def merged(
    spans: Sequence[tuple[int, int]], parts: Sequence[NDArray[np.float32]], *, head: int, tail: int
) -> NDArray[np.float32]:
    """Return the states of a text's tokens from those of its windows.

    Where two windows overlap, a token's state is that of the window it is less at the edge of. The
    special tokens at the ends, which every window has, get the mean of their states.

    Args:
        spans: the windows, without special tokens.
        parts: the states of each window, special tokens at both ends.
        head: how many special tokens a window begins with.
        tail: how many it ends with.

    Returns:
        Shape (head + tokens + tail, dimensions).
    """
    if len(parts) == 1:
        return parts[0]
    import numpy as np  # noqa: PLC0415  the parts are its arrays

    cuts = [
        0,
        *((right[0] + left[1]) // 2 for left, right in pairwise(spans)),
        spans[-1][1],
    ]
    pieces = [
        part[head + begin - span[0] : head + end - span[0]]
        for part, span, (begin, end) in zip(parts, spans, pairwise(cuts), strict=True)
    ]
    first = np.mean([part[:head] for part in parts], axis=0, dtype=np.float32)
    last = np.mean([part[len(part) - tail :] for part in parts], axis=0, dtype=np.float32)
    return np.concatenate([first, *pieces, last])
