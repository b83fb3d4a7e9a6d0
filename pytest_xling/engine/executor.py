"""Where metrics and annotators run: a batch at a time, here on a thread unless told otherwise."""

from __future__ import annotations

import asyncio
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from pytest_xling.engine.computing import outcomes

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence

    from pytest_xling.engine.computing import Made
    from pytest_xling.interfaces.provider import Provider

T = TypeVar("T")

MAX_BATCH = 256


class Executor(Protocol):
    """Runs metrics and annotators over batches, and models that need no server."""

    def place(self, provider: Provider) -> None:
        """Have a model run where batches do, where it can; before its first request."""
        ...

    async def call(self, function: Callable[..., T], *args: object) -> T:
        """Call *function* on the thread of this process that imports, loads and reads files."""
        ...

    async def load(self, made: Any) -> None:  # noqa: ANN401  any metric or annotator
        """Load what *made* needs for its first batch, where it will run."""
        ...

    def outcomes(
        self, made: Made, batches: Sequence[Sequence[Any]]
    ) -> AsyncIterator[tuple[int, list[Any]]]:
        """Yield the index of each batch and what *made* gives on it, as they are ready.

        An :class:`~pytest_xling.errors.XlingError` stands in place of an output.
        """
        ...

    def close(self) -> None:
        """Take on nothing more."""
        ...


class LocalExecutor:
    """Runs batches one after the other on a thread of this process."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="xling-score")

    def place(self, provider: Provider) -> None:
        """Do nothing: a model runs on a thread of its own."""

    async def call(self, function: Callable[..., T], *args: object) -> T:
        """Call *function* on the thread."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, function, *args)

    async def load(self, made: Any) -> None:  # noqa: ANN401  any metric or annotator
        """Load what *made* needs for its first batch."""
        await self.call(made.load)

    async def outcomes(
        self, made: Made, batches: Sequence[Sequence[Any]]
    ) -> AsyncIterator[tuple[int, list[Any]]]:
        """Yield what *made* gives on each batch, in order."""
        for index, batch in enumerate(batches):
            yield index, await self.call(outcomes, made, batch)

    def close(self) -> None:
        """Take on nothing more; what runs is not waited for."""
        self._thread.shutdown(wait=False, cancel_futures=True)


class WatchedExecutor:
    """Tells how far another executor is with each metric and annotator.

    Args:
        executor: what runs them.
        progress: told of a name, how many of its inputs are done, and how many there are.
    """

    def __init__(self, executor: Executor, progress: Callable[[str, int, int], None]) -> None:
        self._executor = executor
        self._progress = progress
        self._done: Counter[str] = Counter()
        self._whole: Counter[str] = Counter()
        self.place = executor.place
        self.call = executor.call
        self.load = executor.load
        self.close = executor.close

    async def outcomes(
        self, made: Made, batches: Sequence[Sequence[Any]]
    ) -> AsyncIterator[tuple[int, list[Any]]]:
        """Yield what the other executor does, and tell of it."""
        self._whole[made.name] += sum(map(len, batches))
        self._tell(made)
        async for index, made_of in self._executor.outcomes(made, batches):
            yield index, made_of
            self._done[made.name] += len(made_of)
            self._tell(made)

    def _tell(self, made: Made) -> None:
        if whole := self._whole[made.name]:
            self._progress(made.name, self._done[made.name], whole)


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
