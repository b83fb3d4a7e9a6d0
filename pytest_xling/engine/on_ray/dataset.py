"""Batches of stored answers through Ray Data: a fixed pool of actors for each metric."""

from __future__ import annotations

import asyncio
import contextlib
import pickle
import threading
import uuid
from typing import TYPE_CHECKING, Any, TypeVar

from pytest_xling.engine.executor import LocalExecutor
from pytest_xling.engine.on_ray.batch_actor import BatchActor, Task, read_outcomes
from pytest_xling.errors import EvaluationError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence

    from pytest_xling.engine.computing import Made
    from pytest_xling.engine.on_ray.cluster import Cluster

__all__ = ["DatasetExecutor"]

T = TypeVar("T")


class DatasetExecutor:
    """Maps all batches of a metric or annotator on one pool of actors, then lets the pool go.

    For many batches at once: a pool takes some seconds to start. One dataset at a time has the
    cluster for itself.

    Args:
        cluster: opened.
    """

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._local = LocalExecutor()
        self._turn = asyncio.Lock()

    async def call(self, function: Callable[..., T], *args: object) -> T:
        """Call *function* on the thread of this process."""
        return await self._local.call(function, *args)

    async def load(self, made: Any) -> None:  # noqa: ANN401  any metric or annotator
        """Load nothing that Ray will: actors load with their first batch."""
        if not Task.is_portable(made):
            await self._local.load(made)

    async def outcomes(
        self, made: Made, batches: Sequence[Sequence[Any]]
    ) -> AsyncIterator[tuple[int, list[Any]]]:
        """Yield what *made* gives on each batch, as they are ready."""
        if not Task.is_portable(made):
            async for outcome in self._local.outcomes(made, batches):
                yield outcome
            return
        if not batches:
            return
        missing = dict(enumerate(batches))
        async with self._turn:
            async for index, answered in self._mapped(Task.of(made), batches):
                del missing[index]
                yield index, read_outcomes(answered)
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

    def close(self) -> None:
        """Take on nothing more."""
        self._local.close()
