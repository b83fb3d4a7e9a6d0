"""Which requests go through the model together."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence

__all__ = ["MAX_ROWS", "Batcher", "Sized"]

MAX_ROWS = 64
"""Requests in one batch, at most."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sized(Generic[T]):
    """A request with what decides on its company."""

    item: T
    kind: Hashable
    """Only requests of one kind go together: those of one pair of languages."""
    tokens: int
    """Tokens of the prompt."""
    limit: int
    """Tokens the answer may have."""


class Batcher:
    """Cuts requests into batches, and into smaller ones once memory has run out.

    Args:
        context: positions the model has for prompt and answer together, in a batch padded to the
            longest of each; None: no such limit.
    """

    def __init__(self, *, context: int | None) -> None:
        self._context = context
        self._room: int | None = None
        """Tokens a batch may have, padding and all; None as long as memory has not run out."""

    def run(
        self,
        requests: Iterable[Sized[T]],
        attempt: Callable[[list[Sized[T]]], bool],
        too_large: Callable[[Sized[T]], None],
    ) -> None:
        """Put all *requests* through *attempt*, longest first.

        Args:
            requests: in any order.
            attempt: runs a batch; False where memory runs out, which halves the batch and all
                that are as large from then on.
            too_large: told of a request that is too large alone.
        """
        waiting = deque(self._cut(requests))
        while waiting:
            batch = waiting.popleft()
            if self._room is not None and len(batch) > 1 and _size(batch) > self._room:
                waiting.extendleft(reversed(self._cut(batch)))
            elif attempt(batch):
                continue
            elif len(batch) == 1:
                too_large(batch[0])
            else:
                self._room = min(self._room or _size(batch), _size(batch) // 2)
                half = len(batch) // 2
                waiting.extendleft((batch[half:], batch[:half]))

    def _cut(self, requests: Iterable[Sized[T]]) -> list[list[Sized[T]]]:
        """Cut *requests* into batches that fit, those of like length together."""
        kinds: dict[Hashable, list[Sized[T]]] = {}
        for request in requests:
            kinds.setdefault(request.kind, []).append(request)
        batches: list[list[Sized[T]]] = []
        for alike in kinds.values():
            batch: list[Sized[T]] = []
            for request in sorted(alike, key=lambda r: (r.tokens, r.limit), reverse=True):
                if batch and not self._fits([*batch, request]):
                    batches.append(batch)
                    batch = []
                batch.append(request)
            batches.append(batch)
        return batches

    def _fits(self, batch: Sequence[Sized[T]]) -> bool:
        if len(batch) > MAX_ROWS:
            return False
        if self._context is not None and _width(batch) > self._context:
            return False
        return self._room is None or _size(batch) <= self._room


def _width(batch: Sequence[Sized[T]]) -> int:
    return max(r.tokens for r in batch) + max(r.limit for r in batch)


def _size(batch: Sequence[Sized[T]]) -> int:
    return len(batch) * _width(batch)
