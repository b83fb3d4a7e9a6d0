"""Read and write the store from the event loop: one thread, many operations to a commit."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections import defaultdict
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from pytest_xling.engine.leases import dead, this_process
from pytest_xling.errors import StoreError
from pytest_xling.store import outputs

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sqlalchemy import Connection

    from pytest_xling.store.database import Database
    from pytest_xling.store.outputs import Output, OutputKey

T = TypeVar("T")

LEASE_S = 30.0
ENDED = "the store's thread has ended; nothing more can be read or kept"


@dataclass(slots=True)
class _Call:
    """A function to run inside the next transaction, and who waits for its result."""

    function: Callable[[Connection], Any]
    future: asyncio.Future[Any]
    writes: bool


@dataclass(slots=True)
class _Put:
    """A row to keep with the next commit, and who waits for that."""

    row: Output
    future: asyncio.Future[None]


@dataclass(slots=True)
class _Queue:
    """What the next transaction does."""

    calls: list[_Call] = field(default_factory=list)
    puts: list[_Put] = field(default_factory=list)


class StoreWriter:
    """Runs store operations on a thread of its own.

    Args:
        database: the store.
        on_error: called on the loop when a transaction failed.

    Whatever has queued up while one transaction ran goes into the next one together, so the cost
    of a commit is shared and nothing waits for a timer. What is put counts as done, for those who
    wait for it, only once it is committed: a killed process loses nothing it has acted on.
    """

    def __init__(
        self, database: Database, *, on_error: Callable[[StoreError], None] | None = None
    ) -> None:
        self.database = database
        self._on_error = on_error
        self.owner = this_process()
        self.under_way: defaultdict[int, dict[bytes, asyncio.Task[Any]]] = defaultdict(dict)
        """What this process computes just now, by step and key, so that it does so once."""
        self._loop = asyncio.get_running_loop()
        self._queue = _Queue()
        self._leased = 0
        self._wanted = threading.Condition()
        self._closed = False
        self._thread = threading.Thread(target=self._work, name="xling-store", daemon=True)
        self._thread.start()
        self._renewal = self._loop.create_task(self._renew())

    async def read(self, function: Callable[[Connection], T]) -> T:
        """Run *function* in a read transaction and return its result."""
        return await self._call(function, writes=False)

    async def write(self, function: Callable[[Connection], T]) -> T:
        """Run *function* in a write transaction, commit, and return its result."""
        return await self._call(function, writes=True)

    async def find_or_claim(
        self,
        keys: Sequence[bytes],
        step: int,
        *,
        find: Callable[[Connection, Sequence[bytes]], dict[bytes, T]],
    ) -> tuple[dict[bytes, T], set[bytes]]:
        """Return the outputs there are, and those keys that are now ours to compute.

        Args:
            keys: of inputs.
            step: the number of the step that computes.
            find: finds what is there, in the transaction that claims the rest.
        """

        def both(connection: Connection) -> tuple[dict[bytes, T], set[bytes]]:
            stored = find(connection, keys)
            gone = dead(outputs.owners(connection) - {self.owner})
            claimed = outputs.claim(
                connection,
                [(key, step) for key in keys if key not in stored],
                owner=self.owner,
                ttl_s=LEASE_S,
                dead_owners=gone,
            )
            return stored, {key for key, _ in claimed}

        stored, claimed = await self.write(both)
        self._leased += len(claimed)
        return stored, claimed

    async def release(self, keys: Sequence[OutputKey]) -> None:
        """Give up our claims on *keys*, with nothing to show for them."""
        self._leased -= len(keys)
        await self.write(partial(outputs.release, keys=keys, owner=self.owner))

    async def put(self, row: Output) -> None:
        """Keep *row*, which this process had claimed; return once that is committed.

        What several callers put while a transaction runs is committed together.
        """
        future: asyncio.Future[None] = self._loop.create_future()
        with self._wanted:
            if self._closed:
                raise StoreError(ENDED)
            self._queue.puts.append(_Put(row, future))
            self._wanted.notify()
        await future

    async def aclose(self) -> None:
        """Commit what is queued, give up all claims, and end the thread."""
        self._renewal.cancel()
        with contextlib.suppress(StoreError):  # claims end with the process all the same
            await self.write(partial(outputs.release_all, owner=self.owner))
        with self._wanted:
            self._closed = True
            self._wanted.notify()
        await asyncio.to_thread(self._thread.join)

    async def _call(self, function: Callable[[Connection], T], *, writes: bool) -> T:
        future: asyncio.Future[T] = self._loop.create_future()
        with self._wanted:
            if self._closed:
                raise StoreError(ENDED)
            self._queue.calls.append(_Call(function, future, writes))
            self._wanted.notify()
        return await future

    async def _renew(self) -> None:
        while True:
            await asyncio.sleep(LEASE_S / 3)
            if self._leased > 0:
                with contextlib.suppress(StoreError):  # whoever lost something by it is told
                    await self.write(partial(outputs.renew, owner=self.owner, ttl_s=LEASE_S))

    def _work(self) -> None:
        """Be the thread; whatever ends it, nobody is left to wait for it."""
        try:
            self._transact_all()
        finally:
            with self._wanted:
                self._closed = True
                rest, self._queue = self._queue, _Queue()
            if rest.calls or rest.puts:
                self._on_loop(self._fail, rest, StoreError(ENDED))

    def _transact_all(self) -> None:
        """Run transactions until closed."""
        while True:
            with self._wanted:
                while not (self._queue.calls or self._queue.puts or self._closed):
                    self._wanted.wait()
                queue, self._queue = self._queue, _Queue()
                if not (queue.calls or queue.puts):
                    return
            self._transact(queue)

    def _transact(self, queue: _Queue) -> None:
        writes = bool(queue.puts) or any(call.writes for call in queue.calls)

        def work(connection: Connection) -> list[tuple[_Call, Any]]:
            outputs.put(connection, [put.row for put in queue.puts])
            outputs.release(connection, [p.row.key for p in queue.puts], owner=self.owner)
            return [(call, call.function(connection)) for call in queue.calls]

        try:
            results = self.database.transact(work, writes=writes)
        except StoreError as error:
            self._on_loop(self._fail, queue, error)
        except BaseException as error:
            # A bug: let nobody wait for a thread that is gone, then die of it.
            self._on_loop(self._fail, queue, StoreError(f"the store's thread broke: {error!r}"))
            raise
        else:
            self._on_loop(self._finish, queue, results)

    def _on_loop(self, function: Callable[..., None], *arguments: object) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(function, *arguments)

    def _finish(self, queue: _Queue, results: list[tuple[_Call, Any]]) -> None:
        self._leased -= len(queue.puts)
        for call, result in results:
            if not call.future.done():
                call.future.set_result(result)
        for put in queue.puts:
            if not put.future.done():
                put.future.set_result(None)

    def _fail(self, queue: _Queue, error: StoreError) -> None:
        if self._on_error is not None:
            self._on_error(error)
        for future in (*(c.future for c in queue.calls), *(p.future for p in queue.puts)):
            if not future.done():
                future.set_exception(error)
