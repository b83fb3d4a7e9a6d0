"""Ask a provider until it answers, or until asking again is pointless."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import TYPE_CHECKING, Protocol

import stamina

from pytest_xling.errors import ProviderFault, RateLimited, TransientFault

if TYPE_CHECKING:
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
    retry_after_cap_s: float = 120.0,
    rate_limit_s: float = 900.0,
) -> Response:
    """Ask *provider*, and again where that may help; each attempt holds a slot of *limit*.

    Args:
        provider: who answers; asked for one attempt at a time.
        request: what to ask.
        limit: shared by all requests to the provider, as is its breaker.
        cap: the budget, shared likewise.
        attempts: attempts that may fail for other reasons than a rate limit, the first included.
        retry_after_cap_s: the longest wait a server may ask for.
        rate_limit_s: how long a request may be refused by a rate limit, all waits together.

    Raises:
        RateLimited, TransientFault: it still failed at the last attempt.
        PermanentFault: asking again will not help, or the provider is unreachable.
        BudgetExceeded: the cost cap is reached.
    """
    exchange = _Exchange(
        provider,
        request,
        limit,
        cap,
        _Patience(attempts, retry_after_cap_s=retry_after_cap_s, rate_limit_s=rate_limit_s),
    )
    breaker = limit.breaker
    try:
        async with asyncio.timeout(None) as waiting:
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

    Rate limits use up time, not attempts: a server that says when to come back is not broken.
    """

    __slots__ = ("_attempts", "_cap_s", "_failed", "_rate_limit_s", "_refused_at", "gave_up")

    def __init__(self, attempts: int, *, retry_after_cap_s: float, rate_limit_s: float) -> None:
        self._attempts = attempts
        self._cap_s = retry_after_cap_s
        self._rate_limit_s = rate_limit_s
        self._refused_at = 0.0
        self._failed = 0
        self.gave_up = ""
        """Why there will be no other attempt."""

    def __call__(self, fault: Exception) -> bool | float:
        """Return seconds to wait, True for stamina's backoff, or False to stop."""
        if not isinstance(fault, RateLimited | TransientFault):
            return False
        asked_s = fault.retry_after_s
        if self.asks_too_much(asked_s):
            self.gave_up = (
                f"the server asks to come back in {asked_s:.0f} s; this waits {self._cap_s:.0f} s "
                "at most"
            )
            return False
        if isinstance(fault, RateLimited):
            now = time.monotonic()
            self._refused_at = self._refused_at or now
            refused_s = now - self._refused_at
            if refused_s + (asked_s or 0.0) > self._rate_limit_s:
                self.gave_up = f"gave up: refused again and again for {refused_s:.0f} s"
                return False
        else:
            self._failed += 1
            if self._failed >= self._attempts:
                self.gave_up = f"gave up after {self._failed} failed attempts"
                return False
        return asked_s or True  # "come back in 0 s" is no reason to come back in no time

    def asks_too_much(self, retry_after_s: float | None) -> bool:
        """Tell whether *retry_after_s* is longer than is ever waited."""
        return retry_after_s is not None and retry_after_s > self._cap_s


class _Exchange:
    """One request on its way to an answer."""

    __slots__ = ("_cap", "_limit", "_patience", "_provider", "_request")

    def __init__(
        self,
        provider: Answers,
        request: Request,
        limit: AdaptiveLimit,
        cap: CostCap | None,
        patience: _Patience,
    ) -> None:
        self._provider = provider
        self._request = request
        self._limit = limit
        self._cap = cap
        self._patience = patience

    async def attempt(self) -> Response:
        """Ask once, in a slot, and tell the limit, the breaker and the budget how it went."""
        limit, cap, breaker = self._limit, self._cap, self._limit.breaker
        async with limit.slot():
            breaker.check()
            if cap is not None:
                await cap.room()
                cap.admit()
            usage = None
            try:
                response = await self._provider.generate(self._request)
                usage = response.usage
            except RateLimited as fault:
                breaker.alive()
                self._refused(fault.retry_after_s)
                raise
            except TransientFault as fault:
                breaker.failed(fault, in_flight=limit.in_flight)
                if fault.retry_after_s is not None:
                    self._refused(fault.retry_after_s)
                raise
            except ProviderFault:
                breaker.alive()
                raise
            finally:
                if cap is not None:
                    cap.settle(usage)
            breaker.alive()
            limit.succeeded()
            return response

    def _refused(self, retry_after_s: float | None) -> None:
        # Where the wait is too long every request says so; none should wait for its turn to.
        too_long = self._patience.asks_too_much(retry_after_s)
        self._limit.rejected(0.0 if too_long else retry_after_s)

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
