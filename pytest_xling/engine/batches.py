"""Run a function over batches of inputs of similar size, on a thread."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, TypeVar

from pytest_xling.errors import BrokenStep, EvaluationError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from concurrent.futures import Executor

__all__ = ["in_batches"]

In = TypeVar("In")
Out = TypeVar("Out")

MAX_BATCH = 256


async def in_batches(
    function: Callable[[Sequence[In]], Sequence[Out]],
    values: Sequence[In],
    *,
    sizes: Sequence[int],
    executor: Executor,
    max_batch: int = MAX_BATCH,
) -> list[Out | EvaluationError]:
    """Return what *function* gives for each of *values*, in order.

    A batch that fails is halved until the inputs that break it stand alone; the error takes the
    place of their results.

    Args:
        function: gives one result per input, in order.
        values: the inputs.
        sizes: how long each of them is.
        executor: where to run *function*.
        max_batch: inputs in a batch at most.
    """
    loop = asyncio.get_running_loop()
    results: dict[int, Out | EvaluationError] = {}
    order = sorted(range(len(values)), key=sizes.__getitem__)
    batches = [order[start : start + max_batch] for start in range(0, len(order), max_batch)]
    while batches:
        indices = batches.pop(0)
        batch = [values[i] for i in indices]
        try:
            outputs = await loop.run_in_executor(executor, function, batch)
        except EvaluationError as error:
            half = len(indices) // 2
            if half and not isinstance(error, BrokenStep):
                batches[:0] = [indices[:half], indices[half:]]
            else:
                results.update(dict.fromkeys(indices, error))
        else:
            results.update(zip(indices, outputs, strict=True))
    return [results[i] for i in range(len(values))]
