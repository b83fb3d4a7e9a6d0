"""Read texts with a transformer: in windows, in batches, and none twice."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from pytest_xling.encoders.state_cache import StateCache
from pytest_xling.errors import EvaluationError
from pytest_xling.models.batches import batches
from pytest_xling.text.display import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from pytest_xling.encoders.forward import Forward


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


_Key: TypeAlias = "tuple[bytes, int]"
"""The ids of a text's tokens, and the size of the windows it is cut into; 0 where it is not."""

_STATE_BYTES = 256 << 20
_VECTOR_BYTES = 16 << 20
_SHOWN = 60
_TINY = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """How a text is laid before the transformer."""

    size: int
    """Most tokens at a time, special ones included."""
    head: int
    """How many special tokens it begins with."""
    tail: int
    """How many it ends with."""

    @property
    def stride(self) -> int:
        """How far apart windows begin."""
        return self.size // 2


class Reader:
    """Reads texts given as ids of tokens.

    What it read last it keeps: up to 256 MB of states, and the vectors of many more texts.

    Args:
        forward: the transformer.
        of: what messages call the encoder.
        pad: the id that fills up shorter texts.
        budget: most tokens in a batch, padding included.
        first: whether a text's vector is the state of its first token; else it is the mean of all.
    """

    def __init__(
        self, forward: Forward, *, of: str, pad: int, budget: int, first: bool = False
    ) -> None:
        self._forward = forward
        self._of = of
        self._pad = pad
        self._budget = budget
        self._first = first
        self._states = StateCache(_STATE_BYTES)
        self._vectors = StateCache(_VECTOR_BYTES)

    def vectors(
        self, texts: Sequence[str], ids: Sequence[NDArray[np.int32]], *, window: Window
    ) -> NDArray[np.float32]:
        """Return a vector of length 1 per text; arguments and errors as of :meth:`states`."""
        vectors = np.empty((len(texts), self._forward.dimensions), np.float32)
        places = self._places(texts, ids, window)
        self._vectors.begin()
        unknown: list[int] = []
        for key, same in places.items():
            if (vector := self._vectors.get(key)) is None:
                unknown += same
            else:
                vectors[same] = vector
        last = self._forward.layers
        for same, states in self.states(
            [texts[place] for place in unknown],
            [ids[place] for place in unknown],
            window=window,
            layer=last,
        ):
            vectors[[unknown[place] for place in same]] = self._pooled(states)
        return vectors

    def states(
        self,
        texts: Sequence[str],
        ids: Sequence[NDArray[np.int32]],
        *,
        window: Window,
        layer: int,
    ) -> Iterator[tuple[list[int], NDArray[np.float32]]]:
        """Yield the states of each different text, with the places where it stands.

        Args:
            texts: for messages.
            ids: of the texts' tokens, special ones at both ends.
            window: how long texts are cut.
            layer: whose states; 0 is the embedding layer.

        Raises:
            EvaluationError: a text without any token, or a state that is no number.
        """
        places = self._places(texts, ids, window)
        self._states.begin()
        new: list[_Key] = []
        for key, same in places.items():
            if (states := self._states.get((*key, layer))) is None:
                new.append(key)
            else:
                yield same, states
        for number, states in self._read([ids[places[key][0]] for key in new], window, layer):
            key = new[number]
            if not np.isfinite(states).all():
                shown = printable(texts[places[key][0]], limit=_SHOWN)
                msg = f"{self._of} gives NaN or infinity for the text {shown!r}"
                raise EvaluationError(msg)
            self._states.put((*key, layer), states)
            if layer == self._forward.layers:
                self._vectors.put(key, self._pooled(states))
            yield places[key], states

    def _places(
        self, texts: Sequence[str], ids: Sequence[NDArray[np.int32]], window: Window
    ) -> dict[_Key, list[int]]:
        places: dict[_Key, list[int]] = {}
        for place, text in enumerate(ids):
            if not len(text):
                shown = printable(texts[place], limit=_SHOWN)
                msg = f"{self._of} finds no token in the text {shown!r}"
                raise EvaluationError(msg)
            # A text that is not cut is read the same whatever the windows are.
            cut = window.size if len(text) > window.size else 0
            places.setdefault((text.tobytes(), cut), []).append(place)
        return places

    def _pooled(self, states: NDArray[np.float32]) -> NDArray[np.float32]:
        # In float32 the sum of thousands of states would lose digits.
        vector = states[0].astype(np.float64) if self._first else states.mean(0, dtype=np.float64)
        pooled: NDArray[np.float32] = np.asarray(
            vector / max(float(np.linalg.norm(vector)), _TINY), np.float32
        )
        return pooled

    def _read(
        self, ids: Sequence[NDArray[np.int32]], window: Window, layer: int
    ) -> Iterator[tuple[int, NDArray[np.float32]]]:
        head, tail = window.head, window.tail
        pieces: list[tuple[int, NDArray[np.int32]]] = []
        spans: list[list[tuple[int, int]]] = []
        for number, text in enumerate(ids):
            inner = text[head : len(text) - tail]
            ends = text[:head], text[len(text) - tail :]
            spans.append(windows(len(inner), size=window.size - head - tail, stride=window.stride))
            for start, end in spans[-1]:
                pieces.append((number, np.concatenate([ends[0], inner[start:end], ends[1]])))
        unfinished: dict[int, list[NDArray[np.float32]]] = {}
        for batch in batches([len(piece) for _, piece in pieces], budget=self._budget):
            rows = self._forward.states(
                [pieces[place][1] for place in batch], layer=layer, pad=self._pad
            )
            for place, row in zip(batch, rows, strict=True):
                number = pieces[place][0]
                # A copy: a view would keep the padding of the whole batch in memory.
                parts = unfinished.setdefault(number, [])
                parts.append(row.copy())
                if len(parts) == len(spans[number]):
                    del unfinished[number]
                    yield number, merged(spans[number], parts, head=head, tail=tail)
