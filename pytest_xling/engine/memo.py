"""The memo: each step's outputs are computed once, by one process, and kept."""

from __future__ import annotations

import asyncio
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, TypeVar

from pytest_xling.errors import XlingError
from pytest_xling.store import outputs
from pytest_xling.store.outputs import Output
from pytest_xling.store.scores import signature_of
from pytest_xling.text.display import clean

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Collection, Coroutine, Mapping, Sequence

    from pytest_xling.engine.store_writer import StoreWriter
    from pytest_xling.keys import JsonValue

In = TypeVar("In")
In_contra = TypeVar("In_contra", contravariant=True)
Out = TypeVar("Out")

POLL_S = (0.02, 1.0)
"""How often to look for what another process computes: first and longest pause."""


class Step(Protocol[In_contra, Out]):
    """What costs time or money: a named, versioned function over batches."""

    kind: ClassVar[str]
    """``answer``, ``annotation`` or ``score``."""
    exclusive: bool
    """Whether two processes must never compute the same key (it costs money or minutes)."""
    name: str
    version: str
    parameters: Mapping[str, JsonValue]

    def key(self, value: In_contra) -> bytes:
        """Return the content key of *value*."""
        ...

    def payload(self, value: In_contra) -> str | None:
        """Return *value* as JSON where it should be kept for `xling explain`, else None."""
        ...

    def encode(self, out: Out) -> str:
        """Return *out* as JSON."""
        ...

    def decode(self, text: str) -> Out:
        """Return what :meth:`encode` was given."""
        ...

    def cost_usd(self, out: Out) -> float:
        """Return what *out* cost."""
        ...

    def compute(self, values: Sequence[In_contra]) -> AsyncIterator[Mapping[int, Out | XlingError]]:
        """Yield the outputs for *values* by their indices, some at a time as they are ready.

        An error stands in place of an output. An exclusive step is given one value at a time, each
        in a task of its own.
        """
        ...

    def broken(self, error: BaseException) -> BaseException:
        """Return what callers meet where computing, or keeping an output, broke with *error*."""
        ...


class Memo(Generic[In, Out]):
    """Makes a step an awaitable function of one value, or of many.

    Single calls made in the same turn of the event loop are looked up in the store together.
    Equal values share one computation. Errors reach the callers and are not kept.
    """

    def __init__(
        self,
        step: Step[In, Out],
        store: StoreWriter,
        step_id: int,
        *,
        others: Collection[int] = (),
        since: float = 0.0,
    ) -> None:
        self.step = step
        self.step_id = step_id
        self._find = partial(outputs.find_newest, step=step_id, others=others, since=since)
        self._made_by: dict[bytes, int] = {}
        self._store = store
        self._loop = asyncio.get_running_loop()
        self._shared: dict[bytes, asyncio.Future[Out]] = {}
        self._waiting: dict[bytes, In] = {}
        self._under_way: dict[bytes, asyncio.Task[dict[bytes, Out | XlingError]]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    @classmethod
    async def open(
        cls, step: Step[In, Out], store: StoreWriter, *, since: float = 0.0
    ) -> Memo[In, Out]:
        """Return the memo of *step* in *store*.

        Of answers the newest counts, by whichever edition of the step, that was made since *since*,
        in seconds since 1970; and any by its own.
        """
        number = await store.write(
            partial(
                outputs.step_id,
                kind=step.kind,
                name=step.name,
                version=step.version,
                parameters=step.parameters,
            )
        )
        others: Collection[int] = ()
        if step.kind == "answer":
            same = await store.read(partial(outputs.alternatives, step=number))
            others = set(same) - {number}
        return cls(step, store, number, others=others, since=since)

    async def stored(self, keys: Sequence[bytes]) -> dict[bytes, Out]:
        """Return the outputs that the store has, by their keys."""
        found = await self._store.read(partial(self._find, keys=keys))
        return {key: self.step.decode(text) for key, text in self._noted(found).items()}

    def made_by(self, key: bytes) -> int:
        """Return the number of the step that the output for *key* is kept under."""
        return self._made_by.get(key, self.step_id)

    def _noted(self, found: Mapping[bytes, tuple[int, str]]) -> dict[bytes, str]:
        """Note which outputs are of another edition of the step; return them without that."""
        self._made_by |= {key: made for key, (made, _) in found.items() if made != self.step_id}
        return {key: text for key, (_, text) in found.items()}

    @cached_property
    def signature(self) -> str:
        """The signature of the step's outputs: its name, version and parameters."""
        return signature_of(self.step.name, self.step.version, dict(self.step.parameters))

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
        by_key = dict(zip(keys, values, strict=True))
        # What another call is about to have is awaited, not computed beside it.
        ours = {key: value for key, value in by_key.items() if key not in self._under_way}
        theirs = {key: self._under_way[key] for key in by_key if key not in ours}
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
        outs: dict[bytes, Out | XlingError] = {**await self.stored(list(values))}
        missing = {key: value for key, value in values.items() if key not in outs}
        if missing:
            outs.update(await self._compute_all(missing))
        return outs

    async def _compute_all(self, missing: Mapping[bytes, In]) -> dict[bytes, Out | XlingError]:
        """Compute what is not stored; what is ready is kept, whatever becomes of the rest."""
        keys, outs = list(missing), dict[bytes, "Out | XlingError"]()
        async for ready in self.step.compute(list(missing.values())):
            by_key = {keys[index]: out for index, out in ready.items()}
            rows = [
                self._row(key, missing[key], out)
                for key, out in by_key.items()
                if not isinstance(out, XlingError)
            ]
            await self._store.write(partial(outputs.put, rows=rows))
            outs |= by_key
        return outs

    def _row(self, key: bytes, value: In, out: Out) -> Output:
        return Output(
            key=(key, self.step_id),
            output=clean(self.step.encode(out)),
            cost_usd=self.step.cost_usd(out),
            payload=self.step.payload(value),
        )

    def _flush(self) -> None:
        values, self._waiting = self._waiting, {}
        resolve = self._resolve_exclusive if self.step.exclusive else self._resolve
        self._start(resolve(values), list(values))

    def _start(self, work: Coroutine[Any, Any, None], keys: Sequence[bytes]) -> None:
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(partial(self._ended, keys))

    def _ended(self, keys: Sequence[bytes], task: asyncio.Task[None]) -> None:
        """Pass on what broke a task, so that nobody waits for its outputs for ever."""
        self._tasks.discard(task)
        if task.cancelled():
            for key in keys:
                if (future := self._shared.pop(key, None)) is not None:
                    future.cancel()
        elif (error := task.exception()) is not None:
            fault = error if isinstance(error, XlingError) else self.step.broken(error)
            for key in keys:
                self._settle(key, fault)
            if fault is not error:
                self._start(self._store.release([(key, self.step_id) for key in keys]), ())

    async def _resolve(self, values: dict[bytes, In]) -> None:
        for key, out in (await self._find_or_compute(values)).items():
            self._settle(key, out)

    async def _resolve_exclusive(self, values: dict[bytes, In]) -> None:
        """Hand out what is stored, compute what nobody computes, wait for what others do."""
        found = await self._store.read(partial(self._find, keys=list(values)))
        missing = self._hand_out(self._noted(found), values)
        pause, longest = POLL_S
        while missing:
            found, claimed = await self._store.find_or_claim(
                list(missing), self.step_id, find=self._find
            )
            missing = self._hand_out(self._noted(found), missing)
            # In the order of the calls: what was wanted first is computed first.
            for key in [key for key in missing if key in claimed]:
                # Not awaited: what others compute may be ready before ours is.
                self._start(self._compute(key, missing.pop(key)), [key])
            if missing:
                await asyncio.sleep(pause)
                pause = min(2 * pause, longest)

    def _hand_out(self, stored: dict[bytes, str], values: dict[bytes, In]) -> dict[bytes, In]:
        """Hand out what is stored and return the rest."""
        for key, text in stored.items():
            self._settle(key, self.step.decode(text))
        return {key: value for key, value in values.items() if key not in stored}

    async def _compute(self, key: bytes, value: In) -> None:
        """Compute what this process has claimed."""
        async for ready in self.step.compute([value]):
            out = ready[0]
        if isinstance(out, XlingError):
            self._settle(key, out)
            await self._store.release([(key, self.step_id)])
        else:
            await self._store.put(self._row(key, value, out))
            self._settle(key, out)

    def _settle(self, key: bytes, out: Out | BaseException) -> None:
        """Give *out* to those who wait for it."""
        future = self._shared.pop(key, None)
        if future is None or future.done():
            return
        if isinstance(out, BaseException):
            future.set_exception(out)
        else:
            future.set_result(out)
