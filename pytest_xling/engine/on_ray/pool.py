"""Batches of answers as they come, on actors that stay as long as the session."""

from __future__ import annotations

import asyncio
import pickle
import uuid
from typing import TYPE_CHECKING, Any, TypeVar

from pytest_xling.engine.executor import LocalExecutor
from pytest_xling.engine.on_ray.batch_actor import Task, read_outcomes
from pytest_xling.errors import EvaluationError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence

    from pytest_xling.engine.computing import Made
    from pytest_xling.engine.on_ray.cluster import Cluster

__all__ = ["PoolExecutor"]

T = TypeVar("T")

WAITING = 2
"""Batches that this process gives an actor at once: the second waits beside the first."""


class PoolExecutor:
    """Gives each batch to the next actor that has room; several processes share the actors.

    Args:
        cluster: opened here or joined, with its pool started.
    """

    def __init__(self, cluster: Cluster) -> None:
        self._local = LocalExecutor()
        self._actors = cluster.pool()
        self._free: asyncio.Queue[Any] = asyncio.Queue()
        for actor in self._actors * WAITING:
            self._free.put_nowait(actor)
        self._name = uuid.uuid4().hex
        self._count = 0

    async def call(self, function: Callable[..., T], *args: object) -> T:
        """Call *function* on the thread of this process."""
        return await self._local.call(function, *args)

    async def load(self, made: Any) -> None:  # noqa: ANN401  any metric or annotator
        """Have all actors load what *made* needs; nobody waits for them."""
        if not Task.is_portable(made):
            await self._local.load(made)
            return
        for actor in self._actors:
            actor.load.remote(pickle.dumps(Task.of(made)))

    async def outcomes(
        self, made: Made, batches: Sequence[Sequence[Any]]
    ) -> AsyncIterator[tuple[int, list[Any]]]:
        """Yield what *made* gives on each batch, as they are ready."""
        if not Task.is_portable(made):
            async for outcome in self._local.outcomes(made, batches):
                yield outcome
            return
        task = pickle.dumps(Task.of(made))
        running = [
            asyncio.create_task(self._run(made, task, index, batch))
            for index, batch in enumerate(batches)
        ]
        try:
            for ready in asyncio.as_completed(running):
                yield await ready
        finally:
            for each in running:
                each.cancel()

    async def _run(
        self, made: Made, task: bytes, index: int, batch: Sequence[Any]
    ) -> tuple[int, list[Any]]:
        import ray.exceptions  # noqa: PLC0415  an extra

        self._count += 1
        name, inputs = f"{self._name}-{self._count}", pickle.dumps(list(batch))
        actor = await self._free.get()
        try:
            answered = await actor.run.remote(name, task, inputs)
        except ray.exceptions.RayError as error:
            fault = EvaluationError(f"Ray lost a batch of {made.name!r}: {error}")
            return index, [fault] * len(batch)
        finally:
            self._free.put_nowait(actor)
        return index, read_outcomes(answered)

    def close(self) -> None:
        """Take on nothing more."""
        self._local.close()
