"""The memo: each step's outputs are computed once, by one process, and kept."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from pytest_xling.store import outputs
from pytest_xling.store.outputs import Output
from pytest_xling.text.display import clean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_xling.engine.step import Step
    from pytest_xling.engine.store_writer import Ledger
    from pytest_xling.errors import XlingError

__all__ = ["Memo"]

In = TypeVar("In")
Out = TypeVar("Out")

POLL_S = (0.02, 1.0)
"""How often to look for what another process computes: first and longest pause."""


class Memo(Generic[In, Out]):
    """Makes a step an awaitable function of one value.

    Calls made in the same turn of the event loop go to the store, and then to the step, as one
    batch. Equal values share one computation. Errors reach the callers and are not kept.
    """

    def __init__(self, step: Step[In, Out], ledger: Ledger, step_id: int) -> None:
        self.step = step
        self.step_id = step_id
        self._ledger = ledger
        self._loop = asyncio.get_running_loop()
        self._shared: dict[bytes, asyncio.Future[Out]] = {}
        self._waiting: dict[bytes, In] = {}
        self._under_way: dict[bytes, asyncio.Task[dict[bytes, Out | XlingError]]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    @classmethod
    async def open(cls, step: Step[In, Out], ledger: Ledger) -> Memo[In, Out]:
        """Return the memo of *step* in the store behind *ledger*."""
        number = await ledger.write(
            partial(
                outputs.step_id,
                kind=step.kind,
                name=step.name,
                version=step.version,
                parameters=step.parameters,
            )
        )
        return cls(step, ledger, number)

    async def __call__(self, value: In) -> Out:
        """Return the step's output for *value*, from the store if it is there.

        Raises:
            XlingError: the step failed; nothing was kept.
        """
        key = self.step.key(value)
        future = self._shared.get(key)
        if future is None:
            future = self._shared[key] = self._loop.create_future()
            if not self._waiting:
                self._loop.call_soon(self._flush)
            self._waiting[key] = value
        # Shielded: when one caller is cancelled the others still get their result.
        return await asyncio.shield(future)

    async def many(self, values: Sequence[In]) -> list[Out | XlingError]:
        """Return the step's outputs for *values*, in order: one look-up, one batch.

        Where the step failed on a value, the error stands in its place. For steps that run here
        and now; it does not wait for what other processes compute.
        """
        keys = [self.step.key(value) for value in values]
        wanted = dict(zip(keys, values, strict=True))
        # What another call is about to have is awaited, not computed beside it.
        ours = {key: value for key, value in wanted.items() if key not in self._under_way}
        theirs = {key: self._under_way[key] for key in wanted if key not in ours}
        batch = self._loop.create_task(self._find_or_compute(ours))
        self._under_way.update(dict.fromkeys(ours, batch))
        try:
            outs = dict(await batch)
        finally:
            for key in ours:
                del self._under_way[key]
        for key, other in theirs.items():
            outs[key] = (await asyncio.shield(other))[key]
        return [outs[key] for key in keys]

    async def _find_or_compute(self, values: dict[bytes, In]) -> dict[bytes, Out | XlingError]:
        if not values:
            return {}
        found = await self._ledger.find([(key, self.step_id) for key in values])
        outs: dict[bytes, Out | XlingError] = {
            key: self.step.decode(text) for (key, _), text in found.items()
        }
        missing = {key: value for key, value in values.items() if key not in outs}
        if missing:
            outs.update(await self._compute_many(missing))
        return outs

    async def _compute_many(self, missing: dict[bytes, In]) -> dict[bytes, Out | XlingError]:
        keys = list(missing)
        outs: dict[bytes, Out] = {}
        errors: dict[bytes, XlingError] = {}
        await self.step.compute(
            list(missing.values()),
            lambda index, out: outs.__setitem__(keys[index], out),
            lambda index, error: errors.__setitem__(keys[index], error),
        )
        rows = [self._row(key, missing[key], out) for key, out in outs.items()]
        await self._ledger.write(partial(outputs.put, rows=rows))
        return {**outs, **errors}

    def _row(self, key: bytes, value: In, out: Out) -> Output:
        return Output(
            key=(key, self.step_id),
            output=clean(self.step.encode(out)),
            cost_usd=self.step.cost_usd(out),
            payload=self.step.payload(value),
        )

    def _flush(self) -> None:
        values, self._waiting = self._waiting, {}
        self._start(self._resolve(values), list(values))

    def _start(self, work: Any, keys: Sequence[bytes]) -> None:  # noqa: ANN401  a coroutine
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(partial(self._ended, keys))

    def _ended(self, keys: Sequence[bytes], task: asyncio.Task[None]) -> None:
        """Pass on what broke a batch, so that nobody waits for it for ever."""
        self._tasks.discard(task)
        if task.cancelled():
            for key in keys:
                if (future := self._shared.pop(key, None)) is not None:
                    future.cancel()
        elif (error := task.exception()) is not None:
            for key in keys:
                self._fail(key, error)

    async def _resolve(self, values: dict[bytes, In]) -> None:
        found = await self._ledger.find([(key, self.step_id) for key in values])
        missing = self._take(found, values)
        if not missing:
            return
        if not self.step.exclusive:
            await self._compute(missing)
            return
        pause, longest = POLL_S
        while missing:
            found, claimed = await self._ledger.find_or_claim(
                [(key, self.step_id) for key in missing]
            )
            missing = self._take(found, missing)
            # In the order of the calls: what was wanted first is computed first.
            ours = {key: v for key, v in missing.items() if (key, self.step_id) in claimed}
            missing = {key: v for key, v in missing.items() if key not in ours}
            if ours:
                # Not awaited: what others compute may be ready before ours is.
                self._start(self._compute(ours), list(ours))
            if missing:
                await asyncio.sleep(pause)
                pause = min(2 * pause, longest)

    def _take(
        self, found: dict[tuple[bytes, int], str], values: dict[bytes, In]
    ) -> dict[bytes, In]:
        """Hand out what was found and return the rest."""
        for (key, _), text in found.items():
            self._finish(key, self.step.decode(text))
        return {key: value for key, value in values.items() if (key, self.step_id) not in found}

    async def _compute(self, values: dict[bytes, In]) -> None:
        keys = list(values)
        failed_keys: list[bytes] = []

        def done(index: int, out: Out) -> None:
            self._ledger.put(
                self._row(keys[index], values[keys[index]], out),
                leased=self.step.exclusive,
                then=partial(self._finish, keys[index], out),
                failed=partial(self._fail, keys[index]),
            )

        def failed(index: int, error: XlingError) -> None:
            failed_keys.append(keys[index])
            self._fail(keys[index], error)

        await self.step.compute(list(values.values()), done, failed)
        if failed_keys and self.step.exclusive:
            await self._ledger.release([(key, self.step_id) for key in failed_keys])

    def _finish(self, key: bytes, out: Out) -> None:
        future = self._shared.pop(key, None)
        if future is not None and not future.done():
            future.set_result(out)

    def _fail(self, key: bytes, error: BaseException) -> None:
        future = self._shared.pop(key, None)
        if future is not None and not future.done():
            future.set_exception(error)
