"""Run batches on Ray: those of stored answers all at once, and those of a session as they come."""

from __future__ import annotations

import asyncio
import contextlib
import pickle
import threading
import uuid
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, TypeVar

from pytest_xling.engine.executor import LocalExecutor
from pytest_xling.engine.on_ray.batch_actor import BatchActor, Task, received
from pytest_xling.engine.on_ray.model_actor import Copies, can_move
from pytest_xling.errors import EvaluationError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence

    from pytest_xling.engine.computing import Made
    from pytest_xling.engine.on_ray.cluster import Cluster
    from pytest_xling.interfaces.provider import Provider

T = TypeVar("T")

WAITING = 2
"""Batches that a process gives an actor of a pool at once: the second waits beside the first."""


class _RayExecutor(ABC):
    """Runs on Ray what other processes can make, and the rest on the thread of this one."""

    def __init__(self, cluster: Cluster) -> None:
        self._local = LocalExecutor()
        self._cluster = cluster

    def place(self, provider: Provider) -> None:
        """Have the copies on Ray answer for a model that would run here."""
        if can_move(provider):
            copies = self._cluster.copies(provider)
            provider.move(Copies(copies).ask, copies=len(copies))

    async def call(self, function: Callable[..., T], *args: object) -> T:
        """Call *function* on the thread of this process."""
        return await self._local.call(function, *args)

    async def load(self, made: Any) -> None:  # noqa: ANN401  any metric or annotator
        """Load what *made* needs, where it will run."""
        if Task.is_portable(made):
            self._load(Task.of(made))
        else:
            await self._local.load(made)

    def outcomes(
        self, made: Made, batches: Sequence[Sequence[Any]]
    ) -> AsyncIterator[tuple[int, list[Any]]]:
        """Yield what *made* gives on each batch, as they are ready."""
        execute = self._outcomes if Task.is_portable(made) else self._local.outcomes
        return execute(made, batches)

    def close(self) -> None:
        """Take on nothing more."""
        self._local.close()

    @abstractmethod
    def _load(self, task: Task) -> None:
        """Have actors load what a task needs."""

    @abstractmethod
    def _outcomes(
        self, made: Made, batches: Sequence[Sequence[Any]]
    ) -> AsyncIterator[tuple[int, list[Any]]]:
        """Yield what actors give on each batch, as they are ready."""


class DatasetExecutor(_RayExecutor):
    """Maps all batches of a metric or annotator on one pool of actors, then lets the pool go.

    For many batches at once: a pool takes some seconds to start. One dataset at a time has the
    cluster for itself.

    Args:
        cluster: opened.
    """

    def __init__(self, cluster: Cluster) -> None:
        super().__init__(cluster)
        self._turn = asyncio.Lock()

    def _load(self, task: Task) -> None:
        """Do nothing: actors load with their first batch."""

    async def _outcomes(
        self, made: Made, batches: Sequence[Sequence[Any]]
    ) -> AsyncIterator[tuple[int, list[Any]]]:
        if not batches:
            return
        missing = dict(enumerate(batches))
        async with self._turn:
            async for index, answered in self._mapped(Task.of(made), batches):
                del missing[index]
                yield index, received(answered)
        for index, batch in missing.items():
            yield index, [EvaluationError(f"Ray lost the batches of {made.name!r}")] * len(batch)

    async def _mapped(
        self, task: Task, batches: Sequence[Sequence[Any]]
    ) -> AsyncIterator[tuple[int, bytes]]:
        """Yield the index of each batch and what an actor made of it."""
        loop, rows = asyncio.get_running_loop(), asyncio.Queue[tuple[int, bytes] | None]()

        def put(row: tuple[int, bytes] | None) -> None:
            with contextlib.suppress(RuntimeError):  # nobody waits any more: the loop is closed
                loop.call_soon_threadsafe(rows.put_nowait, row)

        def iterate() -> None:
            try:
                for row in self._dataset(task, batches).iter_rows():
                    put((int(row["index"]), row["outcomes"]))
            finally:
                put(None)

        # A thread that is not waited for at the end: Ctrl-C ends Ray, and that the iteration.
        threading.Thread(target=iterate, daemon=True, name="xling-ray-data").start()
        while (row := await rows.get()) is not None:
            yield row

    def _dataset(self, task: Task, batches: Sequence[Sequence[Any]]) -> Any:  # noqa: ANN401  Ray's
        import ray.data  # noqa: PLC0415  an extra

        dataset, told = uuid.uuid4().hex, pickle.dumps(task)
        rows = [
            {
                "index": index,
                "batch": f"{dataset}-{index}",
                "task": told,
                "inputs": pickle.dumps(list(batch)),
            }
            for index, batch in enumerate(batches)
        ]
        # A row is one of our batches, whose size suits the metric.
        return ray.data.from_items(rows, override_num_blocks=len(rows)).map_batches(
            BatchActor,
            fn_constructor_args=self._cluster.worker_arguments(),
            batch_size=1,
            compute=ray.data.ActorPoolStrategy(size=min(self._cluster.actors, len(rows))),
            **self._cluster.options,
        )


class PoolExecutor(_RayExecutor):
    """Gives each batch to the next actor that has room; several processes share the actors.

    Args:
        cluster: opened here or joined, with its pool started.
    """

    def __init__(self, cluster: Cluster) -> None:
        super().__init__(cluster)
        self._actors = cluster.pool()
        self._free: asyncio.Queue[Any] = asyncio.Queue()
        for actor in self._actors * WAITING:
            self._free.put_nowait(actor)
        self._name = uuid.uuid4().hex
        self._count = 0

    def _load(self, task: Task) -> None:
        """Have all actors load it; nobody waits for them."""
        for actor in self._actors:
            actor.load.remote(pickle.dumps(task))

    async def _outcomes(
        self, made: Made, batches: Sequence[Sequence[Any]]
    ) -> AsyncIterator[tuple[int, list[Any]]]:
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
        return index, received(answered)
