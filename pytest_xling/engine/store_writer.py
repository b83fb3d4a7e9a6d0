"""Read and write the store from the event loop: one thread, many operations to a commit."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections import defaultdict
from dataclasses import dataclass
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
class _Operation:
    """Part of the next transaction: a function to call in it, or a row to keep."""

    function: Callable[[Connection], Any]
    row: Output | None
    writes: bool
    future: asyncio.Future[Any]
    """Of the function's result."""


class StoreWriter:
    """Runs store operations on a thread of its own.

    Args:
        database: the store.
        on_error: called on the loop when a transaction failed.

    All operations that come while one transaction runs go into the next one together: they share
    the cost of a commit, and none waits for a timer. An operation returns only once it is
    committed: a killed process loses nothing it has acted on.
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
        self._queue: list[_Operation] = []
        self._leased = 0
        self._changed = threading.Condition()
        self._closed = False
        self._thread = threading.Thread(target=self._work, name="xling-store", daemon=True)
        self._thread.start()
        self._renewal = self._loop.create_task(self._renew())

    async def read(self, function: Callable[[Connection], T]) -> T:
        """Run *function* in a read transaction and return its result."""
        return await self._queued(function, writes=False)

    async def write(self, function: Callable[[Connection], T]) -> T:
        """Run *function* in a write transaction, commit, and return its result."""
        return await self._queued(function)

    async def find_or_claim(
        self,
        keys: Sequence[bytes],
        step: int,
        *,
        find: Callable[[Connection, Sequence[bytes]], dict[bytes, T]],
    ) -> tuple[dict[bytes, T], set[bytes]]:
        """Return the stored outputs, and those keys that are now this process's to compute.

        Args:
            keys: of inputs.
            step: the number of the step that computes.
            find: finds what is stored, in the transaction that claims the rest.
        """

        def find_and_claim(connection: Connection) -> tuple[dict[bytes, T], set[bytes]]:
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

        stored, claimed = await self.write(find_and_claim)
        self._leased += len(claimed)
        return stored, claimed

    async def release(self, keys: Sequence[OutputKey]) -> None:
        """Give up this process's claims on *keys*, which have no outputs."""
        self._leased -= len(keys)
        await self.write(partial(outputs.release, keys=keys, owner=self.owner))

    async def put(self, row: Output) -> None:
        """Keep *row*, which this process had claimed; return once it is committed."""
        await self._queued(lambda _: None, row=row)

    async def aclose(self) -> None:
        """Commit what is queued, give up all claims, and end the thread."""
        self._renewal.cancel()
        with contextlib.suppress(StoreError):  # claims end with the process all the same
            await self.write(partial(outputs.release_all, owner=self.owner))
        with self._changed:
            self._closed = True
            self._changed.notify()
        await asyncio.to_thread(self._thread.join)

    async def _queued(
        self,
        function: Callable[[Connection], T],
        *,
        row: Output | None = None,
        writes: bool = True,
    ) -> T:
        """Return the result of an operation once it is committed."""
        future: asyncio.Future[T] = self._loop.create_future()
        with self._changed:
            if self._closed:
                raise StoreError(ENDED)
            self._queue.append(_Operation(function, row, writes, future))
            self._changed.notify()
        return await future

    async def _renew(self) -> None:
        while True:
            await asyncio.sleep(LEASE_S / 3)
            if self._leased > 0:
                with contextlib.suppress(StoreError):  # raised where data is lost
                    await self.write(partial(outputs.renew, owner=self.owner, ttl_s=LEASE_S))

    def _work(self) -> None:
        """Run the thread; however it ends, fail all that still wait for it."""
        try:
            self._transact_all()
        finally:
            with self._changed:
                self._closed = True
                rest, self._queue = self._queue, []
            if rest:
                self._on_loop(self._fail, rest, StoreError(ENDED))

    def _transact_all(self) -> None:
        """Run transactions until closed."""
        while True:
            with self._changed:
                while not (self._queue or self._closed):
                    self._changed.wait()
                queue, self._queue = self._queue, []
                if not queue:
                    return
            self._transact(queue)

    def _transact(self, queue: list[_Operation]) -> None:
        rows = [each.row for each in queue if each.row is not None]

        def work(connection: Connection) -> list[Any]:
            outputs.put(connection, rows)
            outputs.release(connection, [row.key for row in rows], owner=self.owner)
            return [each.function(connection) for each in queue]

        try:
            results = self.database.transact(work, writes=any(each.writes for each in queue))
        except StoreError as error:
            self._on_loop(self._fail, queue, error)
        except BaseException as error:
            # A bug: fail all that wait for this thread, then end it.
            self._on_loop(self._fail, queue, StoreError(f"the store's thread broke: {error!r}"))
            raise
        else:
            self._on_loop(self._finish, queue, results)

    def _on_loop(self, function: Callable[..., None], *arguments: object) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(function, *arguments)

    def _finish(self, queue: list[_Operation], results: list[Any]) -> None:
        self._leased -= sum(each.row is not None for each in queue)
        for each, result in zip(queue, results, strict=True):
            if not each.future.done():
                each.future.set_result(result)

    def _fail(self, queue: list[_Operation], error: StoreError) -> None:
        if self._on_error is not None:
            self._on_error(error)
        for each in queue:
            if not each.future.done():
                each.future.set_exception(error)
