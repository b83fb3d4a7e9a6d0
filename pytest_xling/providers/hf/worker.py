"""The thread a model runs on: takes requests by the handful, and tells who asked."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pytest_xling.errors import PermanentFault, XlingError
from pytest_xling.providers.hf.batches import Batcher, Sized

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_xling.providers.hf.model import HfModel, Prompt
    from pytest_xling.records import Request, Response

__all__ = ["Worker"]

GATHER_S = 0.005
"""How long requests are gathered before a batch: those that come side by side come at once."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Asked:
    """A request and who waits for its answer."""

    request: Request
    answer: asyncio.Future[Response]
    cancelled: threading.Event = field(default_factory=threading.Event)


class Worker:
    """Gathers requests into batches, and runs them one after the other on one thread.

    Args:
        load: makes the model; called on that thread, before the first batch.
        timeout_s: how long a batch may take.
    """

    def __init__(self, load: Callable[[], HfModel], *, timeout_s: float) -> None:
        self._load = load
        self._timeout_s = timeout_s
        self._model: HfModel | None = None
        self._batcher = Batcher(context=None)
        self._broken: XlingError | None = None
        self._pool: ThreadPoolExecutor | None = None
        self._waiting: list[_Asked] = []
        self._turn: asyncio.Task[None] | None = None
        self._stopping = threading.Event()

    async def ask(self, request: Request) -> Response:
        """Return the answer to *request*, asked together with others that wait.

        Raises:
            PermanentFault: there is none.
            ConfigError: the model cannot be had.
        """
        loop = asyncio.get_running_loop()
        asked = _Asked(request=request, answer=loop.create_future())
        self._waiting.append(asked)
        if self._turn is None or self._turn.done():
            self._turn = loop.create_task(self._serve())
        try:
            return await asked.answer
        finally:
            asked.cancelled.set()

    async def _serve(self) -> None:
        loop = asyncio.get_running_loop()
        if self._pool is None:
            self._pool = ThreadPoolExecutor(1, thread_name_prefix="xling-hf")
        while self._waiting:
            await asyncio.sleep(GATHER_S)
            asked, self._waiting = self._waiting, []
            done = loop.run_in_executor(self._pool, self._work, asked)
            await asyncio.wait([done])
            # Whatever broke, nobody may wait for ever.
            if (error := done.exception()) is not None:
                for one in asked:
                    fault = PermanentFault(f"the model broke: {type(error).__name__}: {error}")
                    fault.__cause__ = error
                    _settle(one.answer, fault)

    def _work(self, asked: Sequence[_Asked]) -> None:
        model = self._ready()
        if isinstance(model, XlingError):
            for one in asked:
                _tell(one, model)
            return
        prompts: list[Sized[tuple[_Asked, Prompt]]] = []
        for one in asked:
            try:
                prompt = model.prepare(one.request)
            except PermanentFault as fault:
                _tell(one, fault)
                continue
            prompts.append(
                Sized(
                    item=(one, prompt),
                    kind=prompt.kind,
                    tokens=len(prompt.tokens),
                    limit=prompt.limit,
                )
            )
        self._batcher.run(
            prompts,
            attempt=lambda batch: self._attempt(model, [each.item for each in batch]),
            too_large=lambda one: _tell(one.item[0], _too_large(one)),
        )

    def _ready(self) -> HfModel | XlingError:
        """Return the model, loaded; or why it cannot be, which is not tried twice."""
        if self._broken is not None:
            return self._broken
        if self._model is None:
            try:
                self._model = self._load()
            except XlingError as error:
                self._broken = error
                return error
            self._batcher = Batcher(context=self._model.context)
        return self._model

    def _attempt(self, model: HfModel, batch: list[tuple[_Asked, Prompt]]) -> bool:
        """Answer a batch; False where memory ran out."""
        live = [(one, prompt) for one, prompt in batch if not self._is_left(one)]
        if not live:
            return True
        try:
            answers = model.answer(
                [prompt for _, prompt in live],
                cancelled=[self._watch(one) for one, _ in live],
                timeout_s=self._timeout_s,
            )
        except RuntimeError as error:
            from pytest_xling.providers.hf.model import (  # noqa: PLC0415  brings torch along
                is_out_of_memory,
            )

            if not is_out_of_memory(error):
                raise
        else:
            for (one, _), answer in zip(live, answers, strict=True):
                _tell(one, answer)
            return True
        model.free()  # only now: the error held on to what filled the memory
        return False

    def _watch(self, asked: _Asked) -> Callable[[], bool]:
        return lambda: self._is_left(asked)

    def _is_left(self, asked: _Asked) -> bool:
        """Tell whether nobody waits for an answer any more, or the process is ending."""
        ending = self._stopping.is_set() or not threading.main_thread().is_alive()
        return ending or asked.cancelled.is_set()

    async def aclose(self) -> None:
        """Stop what is running and let the model go."""
        self._stopping.set()
        for one in self._waiting:
            _settle(one.answer, PermanentFault("the answer was stopped"))
        self._waiting = []
        pool, self._pool = self._pool, None
        if pool is not None:
            await asyncio.to_thread(pool.shutdown)
        model, self._model = self._model, None
        if model is not None:
            await asyncio.to_thread(model.close)
        self._stopping.clear()


def _too_large(one: Sized[Any]) -> PermanentFault:
    return PermanentFault(
        f"out of memory, even for one request alone ({one.tokens} tokens and up to {one.limit} "
        "of an answer): lower --xling-max-tokens, use a smaller model or one in fewer bits, or "
        "--xling-device=cpu"
    )


def _tell(asked: _Asked, outcome: Response | XlingError) -> None:
    """Hand over an outcome, from the model's thread."""
    with suppress(RuntimeError):  # the loop is closed: nobody waits
        asked.answer.get_loop().call_soon_threadsafe(_settle, asked.answer, outcome)


def _settle(answer: asyncio.Future[Response], outcome: Response | XlingError) -> None:
    if answer.done():
        return
    if isinstance(outcome, XlingError):
        answer.set_exception(outcome)
    else:
        answer.set_result(outcome)
