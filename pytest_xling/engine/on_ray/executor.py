"""Run batches on Ray, on actors that stay as long as the session."""

from __future__ import annotations

import asyncio
import pickle
import uuid
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pytest_xling.engine.executor import Executor
from pytest_xling.engine.on_ray.batch_actor import Task, received
from pytest_xling.engine.on_ray.model_actor import Copies, can_move
from pytest_xling.errors import EvaluationError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence

    from pytest_xling.engine.executor import Made
    from pytest_xling.engine.on_ray.cluster import Cluster
    from pytest_xling.interfaces.provider import Provider

WAITING = 2
"""Batches that a process gives an actor at once: the second waits beside the first."""


class RayExecutor(Executor):
    """Runs on Ray what other processes can make, and the rest on the thread of this one.

    Each batch goes to the next actor that has room; several processes share the actors.

    Args:
        cluster: opened here or joined, with its pool started.
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
        """Have the copies on Ray answer for a model that would run here."""
        if can_move(provider):
            copies = self._cluster.copies(provider)
            provider.move(Copies(copies).ask, copies=len(copies))

    async def load(self, made: Any) -> None:  # noqa: ANN401  any metric or annotator
        """Load what *made* needs, where it will run; actors are not waited for."""
        if not Task.is_portable(made):
            await super().load(made)
            return
        for actor in self._actors:
            actor.load.remote(pickle.dumps(Task.of(made)))

    async def _run(
        self, made: Made, batches: Sequence[Sequence[Any]]
    ) -> AsyncIterator[tuple[int, list[Any]]]:
        if not Task.is_portable(made):
            async for ready in super()._run(made, batches):
                yield ready
            return
        task = pickle.dumps(Task.of(made))
        running = [
            asyncio.create_task(self._run_batch(made, task, index, batch))
            for index, batch in enumerate(batches)
        ]
        try:
            for each in asyncio.as_completed(running):
                yield await each
        finally:
            for unfinished in running:
                unfinished.cancel()

    async def _run_batch(
        self, made: Made, task: bytes, index: int, batch: Sequence[Any]
    ) -> tuple[int, list[Any]]:
        import ray.exceptions  # noqa: PLC0415  an extra

        self._count += 1
        name = f"{self._name}-{self._count}"
        actor = await self._free.get()
        try:
            answered = await actor.run.remote(name, task, pickle.dumps(list(batch)))
        except ray.exceptions.RayError as error:
            fault = EvaluationError(f"Ray lost a batch of {made.name!r}: {error}")
            return index, [fault] * len(batch)
        finally:
            self._free.put_nowait(actor)
        return index, received(answered)
