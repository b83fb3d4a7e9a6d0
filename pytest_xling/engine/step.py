"""Steps: everything that costs time or money, as named, versioned functions over batches."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, TypeVar

from pytest_xling.errors import BrokenStep, EvaluationError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from concurrent.futures import Executor

    from pytest_xling.errors import XlingError
    from pytest_xling.keys import JsonValue

__all__ = ["Batched", "Step"]

In = TypeVar("In")
In_contra = TypeVar("In_contra", contravariant=True)
Out = TypeVar("Out")


class Step(Protocol[In_contra, Out]):
    """What the memo needs to know of a step."""

    kind: ClassVar[str]
    """``answer``, ``annotation`` or ``score``."""
    exclusive: bool
    """Whether two processes must never compute the same key (it costs money or minutes)."""
    name: str
    version: str
    parameters: Mapping[str, JsonValue]

    def key(self, value: In_contra) -> bytes:
        """Return the content key of *value*."""
        ...

    def payload(self, value: In_contra) -> str | None:
        """Return *value* as JSON where it should be kept for `xling explain`, else None."""
        ...

    def encode(self, out: Out) -> str:
        """Return *out* as JSON."""
        ...

    def decode(self, text: str) -> Out:
        """Return what :meth:`encode` was given."""
        ...

    def cost_usd(self, out: Out) -> float:
        """Return what *out* cost."""
        ...

    async def compute(
        self,
        values: Sequence[In_contra],
        done: Callable[[int, Out], None],
        failed: Callable[[int, XlingError], None],
    ) -> None:
        """Compute *values*, calling *done* or *failed* for each index as soon as it is known."""
        ...


class Batched(Generic[In, Out]):
    """Runs a plain function over batches, on a thread, longest inputs together.

    Args:
        function: gives one result per input, in order.
        size: how long an input is; batches hold inputs of similar size.
        executor: where to run.
        max_batch: inputs in a batch at most.
    """

    def __init__(
        self,
        function: Callable[[Sequence[In]], Sequence[Out]],
        *,
        size: Callable[[In], int],
        executor: Executor,
        max_batch: int = 256,
    ) -> None:
        self._function = function
        self._size = size
        self._executor = executor
        self._max_batch = max_batch

    async def __call__(
        self,
        values: Sequence[In],
        done: Callable[[int, Out], None],
        failed: Callable[[int, EvaluationError], None],
    ) -> None:
        """Compute *values*, calling *done* or *failed* for each index."""
        loop = asyncio.get_running_loop()
        order = sorted(range(len(values)), key=lambda i: self._size(values[i]))
        for start in range(0, len(order), self._max_batch):
            batches = [order[start : start + self._max_batch]]
            while batches:
                indices = batches.pop()
                batch: Any = [values[i] for i in indices]
                try:
                    results = await loop.run_in_executor(self._executor, self._function, batch)
                except EvaluationError as error:
                    half = len(indices) // 2
                    if half and not isinstance(error, BrokenStep):
                        # One input that breaks must not take those beside it with it.
                        batches += [indices[half:], indices[:half]]
                    else:
                        for i in indices:
                            failed(i, error)
                    continue
                for i, result in zip(indices, results, strict=True):
                    done(i, result)
