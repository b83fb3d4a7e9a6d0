"""Ask a provider until it answers, or until asking again is pointless."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Protocol

import stamina

from pytest_xling.engine.counting import with_tokens
from pytest_xling.errors import BudgetExceeded, ProviderFault, RateLimited, TransientFault

if TYPE_CHECKING:
    from pytest_xling.engine.breaker import Breaker
    from pytest_xling.engine.limits import AdaptiveLimit, CostCap
    from pytest_xling.records import Request, Response

__all__ = ["Answers", "ask"]

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
    attempts: int = 6,
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


class Answers(Protocol):
    """What is asked: a provider, or what stands before one."""

    async def generate(self, request: Request) -> Response:
        """Ask once."""
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
                return response if self._cap is None else await with_tokens(self._request, response)
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
