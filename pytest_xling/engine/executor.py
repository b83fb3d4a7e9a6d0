"""Where metrics and annotators run: a batch at a time, here on a thread unless told otherwise."""

from __future__ import annotations

import asyncio
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar

from pytest_xling.engine.computing import outcomes

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence

    from pytest_xling.engine.computing import Made
    from pytest_xling.interfaces.provider import Provider

T = TypeVar("T")

MAX_BATCH = 256


class Executor:
    """Runs metrics and annotators over batches, one after the other on a thread of this process.

    Args:
        progress: told of a name, how many of its inputs are done, and how many there are.
    """

    def __init__(self, *, progress: Callable[[str, int, int], None] | None = None) -> None:
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="xling-score")
        self._progress = progress
        self._done: Counter[str] = Counter()
        self._whole: Counter[str] = Counter()

    def place(self, provider: Provider) -> None:
        """Have a model run where batches do, before its first request: here on its own thread."""

    async def call(self, function: Callable[..., T], *args: object) -> T:
        """Call *function* on the thread of this process that imports, loads and reads files."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, function, *args)

    async def load(self, made: Any) -> None:  # noqa: ANN401  any metric or annotator
        """Load what *made* needs for its first batch, where it will run."""
        await self.call(made.load)

    async def outcomes(
        self, made: Made, batches: Sequence[Sequence[Any]]
    ) -> AsyncIterator[tuple[int, list[Any]]]:
        """Yield the index of each batch and what *made* gives on it, as they are ready.

        An :class:`~pytest_xling.errors.XlingError` stands in place of an output.
        """
        self._whole[made.name] += sum(map(len, batches))
        self._tell(made.name)
        async for index, outputs in self._run(made, batches):
            yield index, outputs
            self._done[made.name] += len(outputs)
            self._tell(made.name)

    def _tell(self, name: str) -> None:
        if self._progress is not None and (whole := self._whole[name]):
            self._progress(name, self._done[name], whole)

    async def _run(
        self, made: Made, batches: Sequence[Sequence[Any]]
    ) -> AsyncIterator[tuple[int, list[Any]]]:
        for index, batch in enumerate(batches):
            yield index, await self.call(outcomes, made, batch)

    def close(self) -> None:
        """Take on nothing more; what runs is not waited for."""
        self._thread.shutdown(wait=False, cancel_futures=True)


async def in_batches(
    made: Made,
    values: Sequence[Any],
    *,
    executor: Executor,
    max_batch: int = MAX_BATCH,
) -> AsyncIterator[dict[int, Any]]:
    """Yield what *made* gives for *values* by their indices, a batch at a time; errors for some.

    Args:
        made: a metric or an annotator.
        values: its inputs; those of similar length are in a batch.
        executor: where to run it.
        max_batch: inputs in a batch at most.
    """
    order = sorted(range(len(values)), key=lambda i: _size(values[i]))
    indices = [order[start : start + max_batch] for start in range(0, len(order), max_batch)]
    batches = [[values[i] for i in batch] for batch in indices]
    async for number, outputs in executor.outcomes(made, batches):
        yield dict(zip(indices[number], outputs, strict=True))


def _size(value: Any) -> int:  # noqa: ANN401  any input
    """Return how long an input is: a text with its language, an answer or a set of answers."""
    size: int = len(value[0]) if isinstance(value, tuple) else value.size
    return size
