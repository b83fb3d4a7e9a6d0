"""Ask a provider until it answers, or until asking again is pointless."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

import stamina

from pytest_xling.errors import (
    BudgetExceeded,
    GivenUp,
    PermanentFault,
    ProviderFault,
    RateLimited,
    TransientFault,
)
from pytest_xling.records import MOST_TOKENS
from pytest_xling.text.display import clean

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_xling.engine.breaker import Breaker
    from pytest_xling.engine.limits import AdaptiveLimit, CostCap
    from pytest_xling.records import Request, Response, Usage

ATTEMPTS = 6
"""How often a request is asked that meets faults which may pass."""
MESSAGE_TOKENS = 4
"""What a message takes beside its text: its role and where it begins and ends."""
HELD_S = 0.1
"""Between two looks whether one may ask again."""
_counting = threading.Lock()  # several threads would each build the encoding
_WAIT_INITIAL_S = 0.5
_WAIT_MAX_S = 30.0


def _not_ours(record: logging.LogRecord) -> bool:
    """Tell whether stamina's log record is about somebody else's retry.

    Ours come by the hundred from a server with a rate limit, and pytest would show them with
    whichever case fails then.
    """
    cause = str(getattr(record, "stamina.caused_by", ""))
    return not cause.startswith((f"{RateLimited.__name__}(", f"{TransientFault.__name__}("))


logging.getLogger("stamina").addFilter(_not_ours)


async def ask(
    provider: Answers,
    request: Request,
    *,
    limit: AdaptiveLimit,
    cap: CostCap | None = None,
    attempts: int = ATTEMPTS,
) -> Response:
    """Ask *provider*, and again where that may help; each attempt holds a slot of *limit*.

    How long to ask a provider that answers nothing is not for one request to say: that is the
    patience of the limit's breaker.

    Args:
        provider: who answers; asked for one attempt at a time.
        request: what to ask.
        limit: shared by all requests to the provider, as is its breaker.
        cap: the budget, shared likewise.
        attempts: attempts that may fail for other reasons than a rate limit, the first included.

    Raises:
        RateLimited, TransientFault: it still failed at the last attempt.
        PermanentFault: asking again will not help.
        GivenUp: the provider is not asked any more.
        BudgetExceeded: the cost cap is reached.
    """
    breaker = limit.breaker
    try:
        async with asyncio.timeout(None) as waiting:
            patience = _Patience(attempts, breaker)
            exchange = _Exchange(provider, request, limit, cap, patience, waiting=waiting)
            breaker.watch(waiting)
            try:
                try:
                    return await exchange.attempt()
                except (RateLimited, TransientFault) as fault:
                    first = fault
                return await exchange.go_on(first)
            finally:
                breaker.forget(waiting)
    except TimeoutError:
        breaker.check()  # says why, if it was the breaker that ended the wait
        raise


async def ask_in_batches(
    answers: Answers, request: Request, *, attempts: int = ATTEMPTS
) -> Response:
    """Ask through batches, and through others where that may help.

    Args:
        answers: knows itself when to ask, how many at once, and for how long.
        request: what to ask.
        attempts: batches in which it may fail, the first included. What raises RateLimited is no
            such batch: the service had too much to do to take it.

    Raises:
        TransientFault: the last attempt failed, too.
        PermanentFault: asking again will not help.
        GivenUp: the wait is over, or nothing more is asked.
        BudgetExceeded: the cost cap is reached.
    """
    failed = 0
    while True:
        try:
            return await answers.generate(request)
        except RateLimited:
            continue
        except TransientFault as fault:
            failed += 1
            if failed >= attempts:
                msg = f"{fault} (gave up after {failed} failed attempts)"
                raise TransientFault(msg) from fault


class Answers(Protocol):
    """What is asked: a provider, or what stands before one."""

    async def generate(self, request: Request) -> Response:
        """Ask once."""
        ...


class Named(Answers, Protocol):
    """A provider, or a queue of batches before it."""

    @property
    def name(self) -> str:
        """The provider's."""
        ...


class _Patience:
    """Decides, for one request, whether a fault is worth another attempt, and when.

    Rate limits use up no attempts: a server that says when to come back is not broken.
    """

    __slots__ = ("_attempts", "_breaker", "_failed", "gave_up")

    def __init__(self, attempts: int, breaker: Breaker) -> None:
        self._attempts = attempts
        self._breaker = breaker
        self._failed = 0
        self.gave_up = ""
        """Why there will be no other attempt."""

    def __call__(self, fault: Exception) -> bool | float:
        """Return seconds to wait, True for stamina's backoff, or False to stop."""
        if not isinstance(fault, RateLimited | TransientFault):
            return False
        if isinstance(fault, TransientFault):
            self._failed += 1
            if self._failed >= self._attempts:
                self.gave_up = f"gave up after {self._failed} failed attempts"
                return False
        if fault.retry_after_s or self._breaker.failing:
            return self._breaker.pause_s(fault.retry_after_s)
        return True  # "come back in 0 s" is no reason to come back in no time


class _Exchange:
    """One request on its way to an answer."""

    __slots__ = ("_cap", "_limit", "_patience", "_provider", "_request", "_waiting")

    def __init__(
        self,
        provider: Answers,
        request: Request,
        limit: AdaptiveLimit,
        cap: CostCap | None,
        patience: _Patience,
        *,
        waiting: asyncio.Timeout,
    ) -> None:
        self._provider = provider
        self._request = request
        self._limit = limit
        self._cap = cap
        self._patience = patience
        self._waiting = waiting

    async def attempt(self) -> Response:
        """Ask once, in a slot, and tell the limit, the breaker and the budget how it went."""
        limit, cap, breaker = self._limit, self._cap, self._limit.breaker
        async with limit.slot():
            breaker.check()
            if cap is not None:
                await cap.room()
                breaker.check()
                try:
                    cap.admit()
                except BudgetExceeded as over:
                    breaker.stop(str(over))
                    raise
            usage = None
            try:
                response = await self._under_way()
                usage = response.usage
            except ProviderFault as fault:
                breaker.check()  # where it was given up meanwhile, this is one more like it
                breaker.failed(fault, request=id(self))
                if isinstance(fault, RateLimited | TransientFault):
                    breaker.check()  # the patience is over
                self._slow_down(fault)
                raise
            finally:
                if cap is not None:
                    cap.settle(usage)
            breaker.answered()
            limit.succeeded()
            return response

    def _slow_down(self, fault: ProviderFault) -> None:
        """Close a slot where the server asks for it, or fails whatever it is asked."""
        breaker, limit = self._limit.breaker, self._limit
        if isinstance(fault, RateLimited | TransientFault):
            asked_s = fault.retry_after_s
            if isinstance(fault, RateLimited) or asked_s is not None or breaker.failing:
                limit.rejected(breaker.pause_s(asked_s))
        elif breaker.failing:
            limit.rejected(0.0)

    async def _under_way(self) -> Response:
        """Ask; this is paid for, so it goes on even if the provider is given up meanwhile."""
        breaker = self._limit.breaker
        with breaker:
            breaker.forget(self._waiting)
            try:
                response = await self._provider.generate(self._request)
                by_tokens = self._cap is not None and not self._cap.request_usd
                return await with_tokens(self._request, response) if by_tokens else response
            finally:
                breaker.watch(self._waiting)

    async def go_on(self, first: ProviderFault) -> Response:
        """Ask again after the *first* fault; stamina costs time, so it comes in only here."""
        pending: ProviderFault | None = first
        try:
            async for attempt in stamina.retry_context(
                on=self._patience,
                attempts=None,
                timeout=None,
                wait_initial=_WAIT_INITIAL_S,
                wait_max=_WAIT_MAX_S,
            ):
                with attempt:
                    if pending is not None:
                        fault, pending = pending, None
                        raise fault
                    return await self.attempt()
        except (RateLimited, TransientFault) as fault:
            if not self._patience.gave_up:
                raise
            msg = f"{fault} ({self._patience.gave_up})"
            raise type(fault)(msg, retry_after_s=fault.retry_after_s) from fault.__cause__
        raise AssertionError  # pragma: no cover  stamina ends by returning or raising


class Gate:
    """Stands before a provider; once closed, nothing more is asked, what is under way goes on.

    Args:
        provider: who answers.
        held: whether nothing is to be asked just now.
    """

    def __init__(self, provider: Named, *, held: Callable[[], bool] = bool) -> None:
        self._provider = provider
        self._held = held
        self._closed = asyncio.Event()
        self._reason = "the run is being stopped"
        self._under_way: set[asyncio.Task[object]] = set()
        self._abandoned = False
        self._idle = asyncio.Event()

    async def generate(self, request: Request) -> Response:
        """Ask the provider unless closed; whatever it is, what it says comes in clean."""
        while self._held() and not self._closed.is_set():  # noqa: ASYNC110  no event tells
            await asyncio.sleep(HELD_S)
        if self._closed.is_set():
            msg = f"{self._reason}; this was not asked"
            raise GivenUp(msg, cause=self._reason)
        task = asyncio.current_task()
        assert task is not None  # noqa: S101  for mypy: a coroutine runs in a task
        self._under_way.add(task)
        try:
            return _cleaned(await self._provider.generate(request))
        except asyncio.CancelledError as error:
            if self._abandoned:
                task.uncancel()
                msg = f"{self._reason}; the answer was not waited for"
                raise PermanentFault(msg) from None
            if task.cancelling():
                raise
            # Nobody cancelled the task: the provider did so by itself.
            msg = f"provider {self._provider.name!r} broke: {error!r}"
            raise PermanentFault(msg) from error
        finally:
            self._under_way.discard(task)
            if self._closed.is_set() and not self._under_way:
                self._idle.set()

    def shut(self, reason: str) -> None:
        """Let nothing more through, because of *reason*."""
        self._reason = reason
        self._closed.set()

    def abandon(self, reason: str) -> None:
        """Let nothing more through, because of *reason*, and drop what is under way."""
        self.shut(reason)
        self._abandoned = True
        for task in self._under_way:
            task.cancel()

    async def close(self, *, grace_s: float) -> None:
        """Let nothing more through, and wait up to *grace_s* for what is under way."""
        self._closed.set()
        if self._under_way:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._idle.wait(), grace_s)


def _cleaned(response: Response) -> Response:
    """Return *response* with text that can be kept, and with counts that can be believed."""
    text, error, usage = response.text, response.error, response.usage
    return replace(
        response,
        usage=replace(
            usage,
            prompt_tokens=_believed(usage.prompt_tokens),
            completion_tokens=_believed(usage.completion_tokens),
        ),
        text=None if text is None else clean(text),
        thoughts=clean(response.thoughts),
        error=None if error is None else clean(error),
        model_version=clean(response.model_version),
        first_token=tuple((clean(token), logprob) for token, logprob in response.first_token),
    )


def _believed(tokens: int) -> int:
    """Return a count of tokens; 0, which stands for none counted, where there cannot be so many."""
    return tokens if 0 <= tokens <= MOST_TOKENS else 0


async def with_tokens(request: Request, response: Response) -> Response:
    """Return *response* with tokens to pay for, counted here where the provider gave none.

    A prompt that took no token, or an answer with text that took none, was not counted. Ours are
    tokens of o200k_base, in which other models' texts are about as long; what a model thought
    without showing it is not in them.
    """
    usage, written = response.usage, response.text or response.thoughts
    if usage.prompt_tokens and (usage.completion_tokens or not written):
        return response
    return replace(response, usage=await asyncio.to_thread(_counted, request, response))


def _counted(request: Request, response: Response) -> Usage:
    from pytest_xling.text.tokens import encode  # noqa: PLC0415  loads tiktoken: seldom needed

    texts = [message.content for message in request.messages]
    with _counting:
        *prompt, answer = map(len, encode([*texts, response.thoughts + (response.text or "")]))
    usage = response.usage
    return replace(
        usage,
        prompt_tokens=usage.prompt_tokens or sum(prompt) + MESSAGE_TOKENS * len(texts),
        completion_tokens=usage.completion_tokens or answer,
        estimated=True,
    )
