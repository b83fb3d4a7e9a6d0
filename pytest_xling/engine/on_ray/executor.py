"""Run batches on Ray, on actors that stay as long as the session."""

from __future__ import annotations

import asyncio
import pickle
import uuid
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pytest_xling.engine.executor import Executor
from pytest_xling.engine.on_ray.batch_actor import Task, unpickle
from pytest_xling.engine.on_ray.model_actor import Copies, can_move
from pytest_xling.errors import EvaluationError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence

    from pytest_xling.engine.executor import Runnable
    from pytest_xling.engine.on_ray.cluster import Cluster
    from pytest_xling.interfaces.provider import Provider

WAITING = 2
"""Batches that a process sends an actor at once: the second is there when the first is done."""


class RayExecutor(Executor):
    """Runs on Ray what other processes can make, and the rest on the thread of this one.

    Each batch goes to the next actor that has room; several processes share the actors.

    Args:
        cluster: opened or joined, with its pool started.
        progress: as of any executor.
    """

    def __init__(
        self, cluster: Cluster, *, progress: Callable[[str, int, int], None] | None = None
    ) -> None:
        super().__init__(progress=progress)
        self._cluster = cluster
        self._name = uuid.uuid4().hex
        self._count = 0

    @cached_property
    def _actors(self) -> list[Any]:
        return self._cluster.pool()

    @cached_property
    def _free(self) -> asyncio.Queue[Any]:
        free: asyncio.Queue[Any] = asyncio.Queue()
        for actor in self._actors * WAITING:
            free.put_nowait(actor)
        return free

    def place(self, provider: Provider) -> None:
        """Have copies on Ray answer in place of a model that would run in this process."""
        if can_move(provider):
            copies = self._cluster.copies(provider)
            provider.move(Copies(copies).ask, copies=len(copies))

    async def load(self, runnable: Any) -> None:  # noqa: ANN401  any metric or annotator
        """Load what *runnable* needs, where it will run; do not wait for actors."""
        if not Task.is_portable(runnable):
            await super().load(runnable)
            return
        for actor in self._actors:
            actor.load.remote(pickle.dumps(Task.of(runnable)))

    async def _run(
        self, runnable: Runnable, batches: Sequence[Sequence[Any]]
    ) -> AsyncIterator[tuple[int, list[Any]]]:
        if not Task.is_portable(runnable):
            async for ready in super()._run(runnable, batches):
                yield ready
            return
        task = pickle.dumps(Task.of(runnable))
        running = [
            asyncio.create_task(self._run_batch(runnable, task, index, batch))
            for index, batch in enumerate(batches)
        ]
        try:
            for each in asyncio.as_completed(running):
                yield await each
        finally:
            for unfinished in running:
                unfinished.cancel()

    async def _run_batch(
        self, runnable: Runnable, task: bytes, index: int, batch: Sequence[Any]
    ) -> tuple[int, list[Any]]:
        import ray.exceptions  # noqa: PLC0415  an extra

        self._count += 1
        name = f"{self._name}-{self._count}"
        actor = await self._free.get()
        try:
            pickled = await actor.run.remote(name, task, pickle.dumps(list(batch)))
        except ray.exceptions.RayError as error:
            fault = EvaluationError(f"Ray lost a batch of {runnable.name!r}: {error}")
            return index, [fault] * len(batch)
        finally:
            self._free.put_nowait(actor)
        return index, unpickle(pickled)
