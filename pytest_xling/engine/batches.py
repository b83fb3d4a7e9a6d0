"""Run a metric or an annotator over batches of inputs of similar size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from pytest_xling.engine.computing import Made
    from pytest_xling.engine.executor import Executor

MAX_BATCH = 256


async def in_batches(
    made: Made,
    values: Sequence[Any],
    *,
    sizes: Sequence[int],
    executor: Executor,
    max_batch: int = MAX_BATCH,
) -> AsyncIterator[dict[int, Any]]:
    """Yield what *made* gives for *values* by their indices, a batch at a time; errors for some.

    Args:
        made: a metric or an annotator.
        values: its inputs.
        sizes: how long each of them is.
        executor: where to run it.
        max_batch: inputs in a batch at most.
    """
    order = sorted(range(len(values)), key=sizes.__getitem__)
    indices = [order[start : start + max_batch] for start in range(0, len(order), max_batch)]
    batches = [[values[i] for i in batch] for batch in indices]
    async for number, outcomes in executor.outcomes(made, batches):
        yield dict(zip(indices[number], outcomes, strict=True))
