"""Have requests answered in batches: collect them, hand them in, wait for what comes of them."""

from __future__ import annotations

import asyncio
import math
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, TypeVar

from pytest_xling.engine.answering import request_key
from pytest_xling.errors import (
    GivenUp,
    PermanentFault,
    ProviderFault,
    RateLimited,
    TransientFault,
    XlingError,
)
from pytest_xling.records import Response
from pytest_xling.store import batches

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping

    from pytest_xling.engine.limits import Patience
    from pytest_xling.engine.store_writer import StoreWriter
    from pytest_xling.interfaces.batching import Batching, BatchService, BatchState, Line
    from pytest_xling.records import Request
    from pytest_xling.store.batches import Batched, BatchRow

T = TypeVar("T")

QUIET_S = 1.0
"""A batch is handed in once nothing more has come for so long: then what follows waits for it."""
LONGEST_S = 60.0
"""Where more comes all the time, a batch is handed in after so long."""
POLL_S = (0.5, 60.0)
"""How often a service is asked about a batch: first and longest pause."""
REFUSED_S = 30.0
"""How long to wait before a service is given more that has too much already."""
ENDED = "the run has ended; run again to take in what is in flight"


@dataclass(slots=True)
class _Waiting:
    """A request, and who waits for its answer."""

    request: Request
    answer: asyncio.Future[Response]
    left_out: tuple[str, ...] = ()
    handed_in: bool = False
    """Whether this process has."""


@dataclass(slots=True)
class _Followed:
    """A batch that answers are waited for of."""

    row: BatchRow
    waiting: dict[str, _Waiting] = field(default_factory=dict)
    """By key."""
    state: BatchState | None = None
    """As last heard."""


class BatchQueue:
    """Stands before a service of batches and answers single requests, each one attempt.

    What a batch holds is in the store before the batch is begun, and stays there until its answers
    are. So nobody asks again what is on its way, whoever handed it in and whatever became of them:

    1. The file of requests is handed in, which costs nothing.
    2. Its id and the requests' keys are kept.
    3. A batch is begun of the file: from now on it is paid for.
    4. The batch's id is kept. Where it is missing, 3 may have happened or not: the service's list
       of batches says which, and if it has not, deleting the file makes sure that it never will.

    Args:
        provider: who answers.
        model: as it was named.
        store: keeps batches.
        patience: gives the service up when it is not to be reached.
        wait_s: how long answers are waited for, from the first request on.
    """

    def __init__(
        self,
        provider: Batching,
        *,
        model: str,
        store: StoreWriter,
        patience: Patience,
        wait_s: float,
    ) -> None:
        self._provider = provider
        self._model = model
        self._store = store
        self._patience = patience
        self._wait_s = wait_s
        self._loop = asyncio.get_running_loop()
        self._deadline: float | None = None
        self._most = 0
        """Requests in a batch; fewer than the service says where it has refused so many."""
        self._not_before = 0.0
        self._full_with: frozenset[str] = frozenset()
        """Files whose batches were in flight when the service would take no more."""
        self._new: dict[str, _Waiting] = {}
        self._lines: dict[str, Line] = {}
        """Of what is new."""
        self._bytes = 0
        self._last_put = 0.0
        self._collecting: asyncio.Task[None] | None = None
        self._followed: dict[str, _Followed] = {}
        """By the id of the requests' file."""
        self._left: set[str] = set()
        """Files whose batches nobody waits for any more, and are in flight."""
        self._tasks: set[asyncio.Task[None]] = set()

    @cached_property
    def _service(self) -> BatchService:
        return self._provider.service()

    @property
    def progress(self) -> str:
        """What is waited for, such as ``batch:gpt-4o: 120 of 500 in 1 batch``; "" for nothing."""
        if not self._followed:
            return ""
        followed = self._followed.values()
        states = [each.state for each in followed if each.state is not None]
        done = sum(state.completed + state.failed for state in states)
        total = sum(each.row.total for each in followed)
        many = "1 batch" if len(followed) == 1 else f"{len(followed)} batches"
        return f"{self._model}: {done:,} of {total:,} in {many}"

    async def find(self, request: Request) -> Batched | None:
        """Return the batch that *request* is in already, and so is paid for; None where in none."""
        if self._deadline is None:
            self._deadline = self._loop.time() + self._wait_s
            self._most = self._service.most_requests
            await self._store.write(batches.tidy)
        key = request_key(self._provider, request)
        return await self._store.read(partial(batches.batch_of, key=key))

    async def generate(self, request: Request, held: Batched | None) -> Response:
        """Have *request* answered by the batch it is in already, or else by the next one.

        Args:
            request: what is asked.
            held: what :meth:`find` has found of it.

        Raises:
            RateLimited, TransientFault: another batch may answer it.
            PermanentFault: none will.
            GivenUp: the wait is over, or the service is not to be reached.
        """
        key = request_key(self._provider, request)
        waiting = _Waiting(request, self._loop.create_future())
        if held is None:
            self._put(key.hex(), waiting)
        else:
            row, waiting.left_out = held
            self._follow(row, {key.hex(): waiting})
        return await waiting.answer

    # Collecting

    def _put(self, key: str, waiting: _Waiting) -> None:
        line = self._service.line(key, waiting.request)
        waiting.left_out, waiting.handed_in = line.left_out, True
        self._new[key], self._lines[key] = waiting, line
        self._bytes += len(line.text)
        self._last_put = self._loop.time()
        if self._collecting is None:
            self._collecting = self._start(self._collect())

    async def _collect(self) -> None:
        """Hand in what is new once nothing more comes, or there is enough for a batch."""
        begun = self._loop.time()
        while not (  # noqa: ASYNC110  more may come, and room be made, at any time
            self._has_room() and (self._is_full() or self._is_quiet(since=begun))
        ):
            await asyncio.sleep(QUIET_S / 4)
        self._collecting = None
        new, self._new = self._new, {}
        lines, self._lines = self._lines, {}
        self._bytes = 0
        for keys in self._cut(lines):
            text = b"".join(lines[key].text for key in keys)
            self._start(self._hand_in({key: new[key] for key in keys}, text))

    def _has_room(self) -> bool:
        """Tell whether the service may take more: it has not said otherwise, or has less by now."""
        less = not self._full_with or self._full_with - self._followed.keys()
        return bool(less) and self._loop.time() >= self._not_before

    def _is_quiet(self, *, since: float) -> bool:
        return self._loop.time() >= min(self._last_put + QUIET_S, since + LONGEST_S)

    def _is_full(self) -> bool:
        return len(self._new) >= self._most or self._bytes >= self._service.most_bytes

    def _cut(self, lines: Mapping[str, Line]) -> Iterator[list[str]]:
        """Cut what is new into batches that the service takes."""
        keys: list[str] = []
        size = 0
        for key, line in lines.items():
            longer = size + len(line.text)
            if keys and (len(keys) >= self._most or longer > self._service.most_bytes):
                yield keys
                keys, longer = [], len(line.text)
            keys.append(key)
            size = longer
        if keys:
            yield keys

    async def _hand_in(self, new: dict[str, _Waiting], text: bytes) -> None:
        with self._told(new):
            file = await self._patiently(partial(self._service.upload, text))
            row = await self._store.write(
                partial(
                    batches.add,
                    model=self._model,
                    service=self._service.url,
                    file=file,
                    keys={bytes.fromhex(key): each.left_out for key, each in new.items()},
                )
            )
            state = await self._begin(row)
            self._follow(replace(row, batch=state.id), new)

    async def _begin(self, row: BatchRow) -> BatchState:
        """Begin a batch, which must not happen twice: whatever the reply, it may have happened."""
        refused = False

        async def begin() -> BatchState:
            nonlocal refused
            state = await self._find(row) if refused else None
            refused = True
            return state or await self._service.begin(row.file)

        try:
            state = await self._patiently(begin, attempts=1)
        except TransientFault:
            return await self._found(row)
        except GivenUp:
            raise
        except PermanentFault as refusal:
            try:
                return await self._found(row)
            except GivenUp:
                raise
            except (TransientFault, PermanentFault):  # it is not there, or the list cannot be read
                await self._store.write(partial(batches.drop, row=row))
                raise refusal from None
        await self._store.write(partial(batches.note, row=row, state=state))
        return state

    def _find(self, row: BatchRow) -> Awaitable[BatchState | None]:
        return self._service.find(row.file, since_s=row.created_at)

    async def _found(self, row: BatchRow) -> BatchState:
        """Return the batch that may have been begun of a file.

        Raises:
            TransientFault: none was, and none can be any more.
        """
        find = partial(self._find, row)
        state = await self._patiently(find)
        if state is None:
            # What was sent to begin it may still be under way.
            await self._patiently(partial(self._service.delete, row.file))
            state = await self._patiently(find)
        if state is None:
            await self._store.write(partial(batches.drop, row=row))
            msg = f"{self._service.url} has not begun the batch it was in"
            raise TransientFault(msg)
        await self._store.write(partial(batches.note, row=row, state=state))
        return state

    # Waiting

    def _follow(self, row: BatchRow, waiting: Mapping[str, _Waiting]) -> None:
        """Let those who wait for answers of a batch know what comes of it."""
        followed = self._followed.get(row.file)
        if followed is None:
            followed = self._followed[row.file] = _Followed(row)
            self._start(self._wait(followed))
        followed.waiting.update(waiting)

    async def _wait(self, followed: _Followed) -> None:
        """Ask for a batch again and again until all have their answers, or the wait is over."""
        row, pause_s = followed.row, POLL_S[0]
        with self._told(followed.waiting):
            try:
                batch = row.batch or (await self._found(row)).id
                taken_in = 0
                while followed.waiting:
                    await asyncio.sleep(pause_s)
                    state = await self._heard(followed, batch)
                    done = state.completed + state.failed
                    if state.over or (state.files and done != taken_in):
                        taken_in = done
                        await self._take_in(followed, state)
                    elif self._left_s() <= 0:
                        self._left.add(row.file)
                        raise self._in_flight(state)
                    pause_s = min(1.5 * pause_s, POLL_S[1], max(self._left_s(), POLL_S[0]))
            finally:
                del self._followed[row.file]

    async def _heard(self, followed: _Followed, batch: str) -> BatchState:
        """Return what the service says of a batch, and keep it."""
        state = await self._patiently(partial(self._service.state, batch))
        if state is None:
            msg = (
                f"{self._service.url} knows no batch {batch!r}, which {followed.row.total:,} "
                "requests were handed in with: is the key one of the project that they were handed "
                f"in by? If the batch is gone, `xling batches --forget {batch}` has them asked, "
                "and paid for, again"
            )
            raise PermanentFault(msg)
        if state != followed.state:
            await self._store.write(partial(batches.note, row=followed.row, state=state))
            followed.state = state
        return state

    async def _take_in(self, followed: _Followed, state: BatchState) -> None:
        """Hand out the results there are; of a batch that is over, faults where there is none."""
        wanted = dict(followed.waiting)
        results = await self._patiently(
            partial(
                self._service.results,
                state,
                {key: each.request for key, each in wanted.items()},
                {key: each.left_out for key, each in wanted.items()},
            )
        )
        if state.over:
            lacking = self._fault(followed.row, state)
            results = {**dict.fromkeys(wanted, lacking), **results}
        else:  # an answer may come after an error
            results = {key: each for key, each in results.items() if isinstance(each, Response)}
        faults = [key for key, result in results.items() if not isinstance(result, Response)]
        # Before they are asked again.
        await self._store.write(partial(batches.forget, keys=[bytes.fromhex(k) for k in faults]))
        for key, result in results.items():
            waiting = followed.waiting.pop(key)
            if waiting.answer.done():
                continue
            if isinstance(result, Response):
                waiting.answer.set_result(result)
            else:
                failed = result if state.fault is not None else self._of_line(waiting, result)
                waiting.answer.set_exception(failed)

    def _of_line(self, waiting: _Waiting, fault: ProviderFault) -> ProviderFault:
        """Return the fault of a request that failed within its batch.

        A rate limit is a fault that may pass, like others. Such a fault leads to another batch, as
        long as the wait allows it; what an earlier run has handed in goes into one in any case.
        """
        if isinstance(fault, RateLimited):
            pause_s = min(REFUSED_S, max(self._left_s(), 0.0))
            self._not_before = max(self._not_before, self._loop.time() + pause_s)
            fault = TransientFault(str(fault))
        if isinstance(fault, TransientFault) and waiting.handed_in and self._left_s() <= 0:
            msg = f"{fault}; the wait (--xling-batch-wait) is over: run again to ask it again"
            return GivenUp(msg, cause=msg)
        return fault

    def _fault(self, row: BatchRow, state: BatchState) -> ProviderFault:
        """Return what a request meets that a batch which is over has no result of."""
        if state.fault is None:
            return TransientFault(
                f"batch {state.id!r} of {self._service.url} is {state.status}, and has no result "
                "of the request"
            )
        if isinstance(state.fault, RateLimited):
            return self._too_much(row, state.fault)
        return state.fault

    def _too_much(self, row: BatchRow, fault: RateLimited) -> RateLimited | GivenUp:
        """Return what requests meet that a service takes once it has less to do, or in parts."""
        self._full_with = frozenset((self._left | self._followed.keys()) - {row.file})
        if self._left_s() <= 0 and (self._full_with or row.total == 1):
            msg = f"{fault}; run again once others have been answered"
            return GivenUp(msg, cause=msg)
        self._not_before = self._loop.time() + REFUSED_S
        if not self._full_with:
            self._most = max(1, min(self._most, row.total // 2))
        return fault

    def _in_flight(self, state: BatchState) -> GivenUp:
        """Return the fault of those who waited for an answer as long as they were to."""
        msg = (
            f"in flight in batch {state.id!r} of {self._model} ({state.status}: "
            f"{state.completed + state.failed:,} done); run again to take in the answers"
        )
        return GivenUp(msg, cause=msg)

    def _left_s(self) -> float:
        """Return how much longer answers are waited for, in seconds; negative where no more."""
        return (self._deadline or self._loop.time()) - self._loop.time()

    async def _patiently(
        self, call: Callable[[], Awaitable[T]], *, attempts: float = math.inf
    ) -> T:
        """Return what *call* does, called again after faults that may pass, within the patience.

        Args:
            call: asks the service something.
            attempts: how many may fail, refusals (429) apart.

        Raises:
            GivenUp: the service has not answered for that long.
            TransientFault, PermanentFault: it met a fault, the former so often.
        """
        async with self._patience.tries(attempts) as tries:
            while True:
                try:
                    with tries.attempt():
                        return await call()
                except (RateLimited, TransientFault) as fault:
                    await tries.pause(fault)

    def _start(self, work: Coroutine[None, None, None]) -> asyncio.Task[None]:
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    @contextmanager
    def _told(self, waiting: Mapping[str, _Waiting]) -> Iterator[None]:
        """Let those who wait know of the fault that ends the block, whatever it is."""
        try:
            yield
        except XlingError as fault:
            _fail(waiting, fault)
        except asyncio.CancelledError:
            _fail(waiting, GivenUp(ENDED, cause=ENDED))
            raise
        except BaseException as error:
            _fail(waiting, PermanentFault(f"provider {self._provider.name!r} broke: {error!r}"))
            raise

    async def close(self) -> None:
        """Wait for nothing more; batches stay in flight, and in the store."""
        _fail(self._new, GivenUp(ENDED, cause=ENDED))
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


def _fail(waiting: Mapping[str, _Waiting], fault: XlingError) -> None:
    for each in waiting.values():
        if not each.answer.done():
            each.answer.set_exception(fault)
