"""Find runs of tokens that occur again and again, in many texts at once.

A polynomial hash of every run of ``length`` tokens says which texts to look at; what has equal
hashes is then compared token by token, so a collision costs time only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from pytest_xling.text.tokens import Tokens

    Hashes: TypeAlias = NDArray[np.uint64]

__all__ = ["most_repeated"]

# Odd 64-bit constants (from the fractions of the golden ratio and of pi), modulo 2**64.
_MIX = 0x9E3779B97F4A7C15
_BASE = 0x243F6A8885A308D3
_MODULUS = 1 << 64
_SLICE_TOKENS = 1 << 17
_OWNER_BITS = np.uint64(24)


def most_repeated(tokens: Sequence[Tokens], *, length: int, times: int) -> list[tuple[int, int]]:
    """Return, for each text, where its most repeated run starts and how often it occurs.

    Args:
        tokens: of each text.
        length: tokens in a run, at least 1.
        times: occurrences, overlapping ones included, from which a run counts; at least 2.

    Returns:
        One pair per text, in order; of several runs the first; ``(0, 0)`` where there is none.
    """
    found = [(0, 0)] * len(tokens)
    for first, last in _slices(tokens):
        for suspect in _suspects(tokens[first:last], length=length, times=times):
            found[first + suspect] = _confirmed(tokens[first + suspect], length=length, times=times)
    return found


def _suspects(tokens: Sequence[Tokens], *, length: int, times: int) -> list[int]:
    """Return which of *tokens* may repeat themselves; all that do are among them.

    They are hashed together, end to end, with the number of the text in the high bits of each
    hash. Runs that reach from one text into the next, and the fewer bits left for the hash, can
    only raise a false suspicion.
    """
    joined = np.concatenate(tokens)
    if len(joined) < length + times - 1:
        return []
    hashes = _window_hashes(joined, length) >> _OWNER_BITS
    owners = np.arange(len(tokens), dtype=np.uint64) << (np.uint64(64) - _OWNER_BITS)
    hashes |= np.repeat(owners, [len(t) for t in tokens])[: len(hashes)]
    hashes.sort()
    reach = times - 1
    repeated = hashes[reach:][hashes[reach:] == hashes[:-reach]]
    suspects: list[int] = np.unique(repeated >> (np.uint64(64) - _OWNER_BITS)).tolist()
    return suspects


def _slices(tokens: Sequence[Tokens]) -> Iterator[tuple[int, int]]:
    """Cut a batch where its answers would fill the processor's cache, or run out of numbers."""
    first = size = 0
    for place, answer in enumerate(tokens):
        full = size + len(answer) > _SLICE_TOKENS or place - first == 1 << int(_OWNER_BITS)
        if full and place > first:
            yield first, place
            first, size = place, 0
        size += len(answer)
    if first < len(tokens):
        yield first, len(tokens)


def _window_hashes(tokens: Tokens, length: int) -> Hashes:
    """Return the hash of each run of *length* tokens, putting runs of powers of two together."""
    block: Hashes = (tokens.astype(np.uint64) + np.uint64(1)) * np.uint64(_MIX)
    width = 1
    whole: Hashes | None = None
    covered = 0
    while True:
        if length & width:
            whole = block if whole is None else _join(whole, covered, block, width)
            covered += width
        if 2 * width > length:
            break
        block = _join(block, width, block, width)
        width *= 2
    assert whole is not None  # noqa: S101  length has a highest bit
    return whole


def _join(left: Hashes, left_width: int, right: Hashes, right_width: int) -> Hashes:
    """Return the hashes of the runs made of one in *left* and the one in *right* after it."""
    factor = np.uint64(pow(_BASE, right_width, _MODULUS))
    size = len(right) - left_width
    return left[:size] * factor + right[left_width:]


def _confirmed(tokens: Tokens, *, length: int, times: int) -> tuple[int, int]:
    """Return what :func:`most_repeated` says of one text, comparing token by token."""
    if len(tokens) < length + times - 1:
        return 0, 0
    hashes = _window_hashes(tokens, length)
    _, first, counts = np.unique(hashes, return_index=True, return_counts=True)
    candidates = np.flatnonzero(counts >= times)
    # Most occurrences first, then the earliest.
    candidates = candidates[np.lexsort((first[candidates], -counts[candidates]))]
    runs = np.lib.stride_tricks.sliding_window_view(tokens, length)
    for candidate in candidates.tolist():
        start = int(first[candidate])
        same = (runs[hashes == hashes[start]] == tokens[start : start + length]).all(axis=1)
        count = int(same.sum())
        if count >= times:
            return start, count
    return 0, 0
