"""Whether an answer goes round in circles (CaLMQA §3.1, App. C.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, TypeAlias

import numpy as np

from pytest_xling.errors import ConfigError
from pytest_xling.records import Reading
from pytest_xling.text.display import printable
from pytest_xling.text.tokens import decode, encode

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from pytest_xling.metrics import MetricKind
    from pytest_xling.records import Answer
    from pytest_xling.text.tokens import Tokens

    Hashes: TypeAlias = NDArray[np.uint64]

__all__ = ["Repetition"]

# Odd 64-bit constants (from the fractions of the golden ratio and of pi) for a polynomial hash
# modulo 2**64. A collision costs time only: what has equal hashes is compared token by token.
_MIX = 0x9E3779B97F4A7C15
_BASE = 0x243F6A8885A308D3
_MODULUS = 1 << 64
_SLICE_TOKENS = 1 << 17
_OWNER_BITS = np.uint64(24)
_CLEAR = Reading(value=0.0)
_MISSING = Reading(value=None, reason="no answer")


@dataclass(frozen=True, slots=True, kw_only=True)
class Repetition:
    """Flags answers in which some run of ``length`` tokens occurs at least ``times`` times.

    Occurrences may overlap. Tokens are those of o200k_base.
    """

    name: ClassVar[str] = "repetition"
    version: ClassVar[str] = "1"
    kind: ClassVar[MetricKind] = "flag"
    needs: ClassVar[tuple[str, ...]] = ()
    libraries: ClassVar[tuple[str, ...]] = ("tiktoken",)
    scores_missing: ClassVar[bool] = False

    length: int = 20
    times: int = 4

    def __post_init__(self) -> None:
        """Refuse what would flag every answer."""
        if self.length < 1:
            msg = f"repetition: length must be at least 1, not {self.length}"
            raise ConfigError(msg)
        if self.times < 2:  # noqa: PLR2004  once is no repetition
            msg = f"repetition: times must be at least 2, not {self.times}"
            raise ConfigError(msg)

    def load(self) -> None:
        """Load the tokenizer."""
        encode([""])

    def score(self, answers: Sequence[Answer]) -> list[Reading]:
        """Return one reading per answer, in order."""
        texts = [answer.text for answer in answers]
        tokens = encode(texts)
        readings = [_CLEAR if text.strip() else _MISSING for text in texts]
        for first, last in _slices(tokens):
            for suspect in self._suspects(tokens[first:last]):
                readings[first + suspect] = self._read(tokens[first + suspect])
        return readings

    def _suspects(self, tokens: Sequence[Tokens]) -> list[int]:
        """Return which of *tokens* may repeat themselves; all that do are among them.

        They are hashed together, end to end, with the number of the answer in the high bits of
        each hash. Runs that reach from one answer into the next, and the fewer bits left for the
        hash, can only raise a false suspicion.
        """
        joined = np.concatenate(tokens)
        if len(joined) < self.length + self.times - 1:
            return []
        hashes = _window_hashes(joined, self.length) >> _OWNER_BITS
        owners = np.arange(len(tokens), dtype=np.uint64) << (np.uint64(64) - _OWNER_BITS)
        hashes |= np.repeat(owners, [len(t) for t in tokens])[: len(hashes)]
        hashes.sort()
        reach = self.times - 1
        repeated = hashes[reach:][hashes[reach:] == hashes[:-reach]]
        suspects: list[int] = np.unique(repeated >> (np.uint64(64) - _OWNER_BITS)).tolist()
        return suspects

    def _read(self, tokens: Tokens) -> Reading:
        if len(tokens) < self.length + self.times - 1:
            return _CLEAR
        hashes = _window_hashes(tokens, self.length)
        start, count = _most_repeated(tokens, hashes, length=self.length, times=self.times)
        if not count:
            return _CLEAR
        text = printable(decode(tokens[start : start + self.length]), limit=120, cut="middle")
        return Reading(value=1.0, reason=f"{self.length} tokens occur {count} times: {text!r}")


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


def _most_repeated(tokens: Tokens, hashes: Hashes, *, length: int, times: int) -> tuple[int, int]:
    """Return where the most repeated run starts, the first of several, and how often it occurs.

    Returns:
        ``(0, 0)`` where no run really occurs *times* times.
    """
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
