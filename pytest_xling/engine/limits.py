"""What one model may be asked: how much at once, for how long without an answer, for how much."""

from __future__ import annotations

import asyncio
import math
import random
import time
from collections import deque
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Final, Literal

from pytest_xling.errors import (
    BudgetExceeded,
    GivenUp,
    PermanentFault,
    ProviderFault,
    RateLimited,
    TransientFault,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from pytest_xling.records import Usage

_MAX_ROUNDS = 32
"""Clean rounds between two attempts to open one more slot, at most."""
_PAUSE_S = 1.0
"""How long nothing is asked when a server refuses even a single request and does not say."""
PATIENCE_S: Final = 120.0
LEAST_PATIENCE_S = 60.0
"""Many services count requests per minute: a short timeout must not end a run that they slow."""
HANDFUL: Final = 3
"""So many faults in a row are no accident."""
FEW: Final = 4
"""So many requests may fail again and again, and it may be their own doing."""
NEVER_SEEN_S: Final = 5.0
"""Patience with a server that has never replied, not even with a fault: its address is wrong."""
_SHORTEST, _LONGEST = 1 / 64, 1 / 8
"""Pauses between two probes, as shares of the patience."""
BACKOFF_S, MAX_BACKOFF_S = 0.5, 30.0
"""Pauses before a request is asked again that failed while others were answered: they double."""
_TOKENS_PER_PRICE = 1_000_000


def patience_for(timeout_s: float) -> float:
    """Return how long a model may answer nothing until the run ends, by the timeout of a request.

    Both are in seconds.
    """
    return max(timeout_s, LEAST_PATIENCE_S)


class Slots:
    """Limits the requests in flight to what the server takes.

    Each refusal (429) closes the slot of the refused request: a burst of 64 to a server that
    takes 32 settles at 32. Clean rounds open one slot again, at longer and longer intervals where
    that is refused. A server that refuses even a single request is left alone for as long as it
    asks; then the limit doubles each round up to half of what it was. Slots are given in the order
    they were asked for.

    Args:
        limit: requests in flight at once, at most.
        first: as many before the first answer, so that few of them meet what all would meet, such
            as a wrong key; None: no fewer than later.

    Attributes:
        maximum: the limit never exceeds it.
        limit: requests that may be in flight now, at least 1.
        in_flight: requests that are.
    """

    def __init__(self, limit: int, *, first: int | None = None) -> None:
        if limit < 1:
            msg = f"at least 1 request must be allowed in flight, not {limit}"
            raise ValueError(msg)
        self.maximum = limit
        self.limit = limit if first is None else min(first, limit)
        self.in_flight = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._open = True
        self._clean = 0  # successes since the limit last changed
        self._refused = 0  # refusals since the last success
        self._rounds = 1  # clean rounds before the next probe
        self._probed = False  # the last change opened a slot
        self._threshold = 0  # below it the limit grows with every success
        self._before = limit  # the limit when the refusals began
        self._proven = first is None  # it has answered

    async def __aenter__(self) -> None:
        """Take a slot, waiting behind those who wait for one."""
        if self.in_flight < self.limit and self._open and not self._waiting:
            self.in_flight += 1
            return
        waiter = asyncio.get_running_loop().create_future()
        self._waiting.append(waiter)
        try:
            await waiter
        except asyncio.CancelledError:
            if waiter.done() and not waiter.cancelled():
                self.release()  # the slot was handed over at the moment of cancellation
            raise

    async def __aexit__(self, *exc_info: object) -> None:
        """Give the slot back."""
        self.release()

    def release(self) -> None:
        """Give a slot back."""
        self.in_flight -= 1
        if self._waiting:
            self._hand_over()

    def _hand_over(self) -> None:
        waiting = self._waiting
        while waiting and self._open and self.in_flight < self.limit:
            waiter = waiting.popleft()
            if not waiter.done():
                self.in_flight += 1
                waiter.set_result(None)

    def succeeded(self) -> None:
        """Note that the server took a request; call it inside the slot."""
        if not self._proven:
            self._proven = True
            if self._refused:
                self._threshold = self.maximum // 2
            else:
                self.limit = self.maximum
                self._hand_over()
        self._refused = 0
        if self.limit >= self.maximum:
            return
        self._clean += 1
        if self.limit < self._threshold:
            self._grow()
        elif self._clean >= self.limit * self._rounds:
            if self._probed:
                self._rounds = 1  # the slot opened last was welcome
            self._grow()
            self._probed = True

    def _grow(self) -> None:
        self._clean = 0
        self.limit += 1
        self._hand_over()

    def rejected(self, retry_after_s: float | None = None) -> None:
        """Close the slot of a request that the server refused; call it inside the slot.

        Args:
            retry_after_s: how long the server asked to wait, in seconds.
        """
        if not self._refused:
            self._before = self.limit
        if self._probed:
            self._rounds = min(self._rounds * 2, _MAX_ROUNDS)
            self._probed = False
        self._refused += 1
        self._clean = 0
        alone = self.limit == 1
        # A server that takes some is full; one that takes none counts requests per minute.
        self._threshold = self._before // 2 if alone else 0
        self.limit = max(1, min(self.limit, self.in_flight) - 1)
        pause_s = _PAUSE_S if retry_after_s is None else retry_after_s
        if alone and self._open and pause_s > 0:
            self._open = False
            asyncio.get_running_loop().call_later(pause_s, self._reopen)

    def _reopen(self) -> None:
        self._open = True
        self._hand_over()


class Patience:
    """Says whether a model is still asked, for all requests of a run to it together.

    Nothing more is asked once

    - a handful of requests in a row met one fault that every request would meet, such as a wrong
      key, or
    - the patience is over: since the first of a row of faults that may pass (429, 5xx, no
      connection) that much time has gone by without one answer, or
    - it was told to :meth:`stop`.

    Requests that wait fail at once then; those under way go on, as they are paid for.

    Args:
        name: of the model.
        patience_s: how long it may go without an answer.
    """

    def __init__(self, name: str = "the model", *, patience_s: float = PATIENCE_S) -> None:
        self.name = name
        self._patience_s = patience_s
        self._never_seen_s = min(NEVER_SEEN_S, patience_s)
        self._replied = False
        self._under_way = 0
        self._row_at = 0.0
        self._row = 0
        """Faults that may pass since the last answer."""
        self._row_of: set[int] = set()
        """The requests that met them."""
        self._has_answered = False
        self._last: RateLimited | TransientFault | None = None
        self._alike = 0
        """Faults that every request would meet, one like the other, since the last answer."""
        self._alike_text = ""
        self._timer: asyncio.TimerHandle | None = None
        self._stopped: GivenUp | None = None
        self._waiting: set[asyncio.Timeout] = set()
        """Of the requests that are not under way: they expire when the model is given up."""

    @asynccontextmanager
    async def tries(
        self, most: float = math.inf, *, pauses: Literal["request", "service", "none"] = "service"
    ) -> AsyncIterator[Tries]:
        """Give the attempts at one thing to be asked; no pause between them outlasts the patience.

        Args:
            most: how many may fail, refusals (429) apart.
            pauses: "service" where a fault is never the doing of what is asked, "request" where it
                may be, "none" where whoever answers makes pauses.

        Raises:
            GivenUp: the model is not asked any more.
        """
        try:
            async with asyncio.timeout(None) as waiting:
                self._waiting.add(waiting)
                try:
                    yield Tries(self, waiting, most, pauses)
                finally:
                    self._waiting.discard(waiting)
        except TimeoutError:
            self.check()  # says why, if it was the end of the patience that ended the wait
            raise

    def begin(self, waiting: asyncio.Timeout) -> None:
        """Begin an attempt, which :meth:`end` must follow; it is paid for, so nothing ends it.

        Raises:
            GivenUp: the model is not asked any more.
        """
        self.check()
        self._under_way += 1
        self._waiting.discard(waiting)

    def end(self, waiting: asyncio.Timeout) -> None:
        """End an attempt."""
        self._waiting.add(waiting)
        self._under_way -= 1

    @property
    def stopped(self) -> bool:
        """Whether the model was given up."""
        return self._stopped is not None

    @property
    def failing(self) -> bool:
        """Whether the model fails whatever it is asked; then a probe at a time is enough."""
        few = self._has_answered and len(self._row_of) <= FEW
        return self._alike > 0 or (self._row >= HANDFUL and not few)

    @property
    def waiting(self) -> str:
        """What is waited for, such as ``gpt-4o: 429, 35 of 120 s``; "" while there are answers."""
        last = self._last
        if last is None or self.stopped:
            return ""
        seconds = min(time.monotonic() - self._row_at, self._allowed_s)
        return f"{self.name}: {_brief(last)}, {seconds:.0f} of {self._allowed_s:g} s"

    def check(self) -> None:
        """Raise if the model was given up.

        Raises:
            GivenUp: says why.
        """
        if self._stopped is not None:
            raise GivenUp(str(self._stopped), cause=self._stopped.cause)

    def answered(self) -> None:
        """Note an answer."""
        self._replied = self._has_answered = True
        self._alike = 0
        if self._row:
            self._end_row()

    def failed(self, fault: ProviderFault, *, request: int = 0) -> None:
        """Note what an attempt met instead of an answer; call it after the attempt.

        Args:
            fault: what it met.
            request: tells requests apart.
        """
        if isinstance(fault, RateLimited | TransientFault):
            self._replied |= not isinstance(fault.__cause__, OSError)
            self._last = fault
            self._row += 1
            self._row_of.add(request)
            if self._row == 1:
                self._row_at = time.monotonic()
                self._wait_s(self._allowed_s)
            elif time.monotonic() - self._row_at >= self._allowed_s:
                self._patience_ends()
        elif isinstance(fault, PermanentFault):
            self._replied = True
            self._end_row()
            if fault.every_request:
                text = str(fault)
                self._alike = self._alike + 1 if text == self._alike_text else 1
                self._alike_text = text
                if self._alike >= HANDFUL:
                    self.stop(text, why=f"{self._alike} requests in a row met the same fault")

    def pause_s(self, asked_s: float | None = None) -> float:
        """Return how long to wait before the model is asked again.

        Args:
            asked_s: how long it asked to be left alone, in seconds. More than is left of the
                patience is not waited for.
        """
        allowed_s = self._allowed_s
        gone_s = time.monotonic() - self._row_at if self._row else 0.0
        left_s = max(allowed_s - gone_s, 0.0)
        if asked_s is not None and asked_s >= left_s:
            return max(left_s / 2, allowed_s / 16)
        # Waits as long as has been waited, so that pauses double: some ten probes in all.
        backoff_s = min(max(gone_s, allowed_s * _SHORTEST), allowed_s * _LONGEST)
        return asked_s or min(backoff_s, left_s)

    def stop(self, cause: str, *, why: str = "") -> None:
        """Ask nothing more.

        Args:
            cause: what requests met, as a run's record counts it.
            why: what made that reason enough.
        """
        if self._stopped is not None:
            return
        self._end_row()
        because = f"{why}: {cause}" if why else cause
        message = f"nothing more is asked of {self.name}: {because}"
        self._stopped = GivenUp(message, cause=cause)
        now = asyncio.get_running_loop().time()
        for waiting in self._waiting:
            waiting.reschedule(now)

    @property
    def _allowed_s(self) -> float:
        return self._patience_s if self._replied else self._never_seen_s

    def _wait_s(self, seconds: float) -> None:
        self._timer = asyncio.get_running_loop().call_later(seconds, self._patience_ends)

    def _patience_ends(self) -> None:
        """Give up, unless a request under way may still be answered."""
        gone_s = time.monotonic() - self._row_at
        last = self._last
        if last is None or self._under_way:
            return
        if gone_s < self._allowed_s:  # it has replied meanwhile, and is waited for longer
            self._wait_s(self._allowed_s - gone_s)
            return
        if self._replied:
            silent = f"no answer for {self._patience_s:g} s (--xling-timeout)"
        else:
            silent = f"it is unreachable: no reply for {self._never_seen_s:g} s"
        self.stop(f"{silent}; the last fault: {last}")

    def _end_row(self) -> None:
        self._row = 0
        self._row_of.clear()
        self._last = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class Tries:
    """The attempts at one thing that is asked: how each went, and when there is another.

    Refusals (429) use up none: a server that says when to come back is not broken.
    """

    def __init__(
        self,
        patience: Patience,
        waiting: asyncio.Timeout,
        most: float,
        pauses: Literal["request", "service", "none"],
    ) -> None:
        self._patience = patience
        self._waiting = waiting
        self._most = most
        self._pauses = pauses
        self._faults = self._failed = 0

    @contextmanager
    def attempt(self) -> Iterator[None]:
        """Have the patience know what comes of an attempt.

        Raises:
            GivenUp: the model is not asked any more.
        """
        patience = self._patience
        patience.begin(self._waiting)
        try:
            try:
                yield
            finally:
                patience.end(self._waiting)
        except ProviderFault as fault:
            patience.check()  # where it was given up meanwhile, this is one more like it
            patience.failed(fault, request=id(self))
            if isinstance(fault, RateLimited | TransientFault):
                patience.check()  # the patience is over
            raise
        patience.answered()

    async def pause(self, fault: RateLimited | TransientFault) -> None:
        """Wait before the next attempt.

        Raises:
            TransientFault: there is none.
        """
        patience, asked_s = self._patience, fault.retry_after_s
        self._faults += 1
        if isinstance(fault, TransientFault):
            self._failed += 1
            if self._failed >= self._most:
                msg = f"{fault} (gave up after {self._failed} failed attempts)"
                raise TransientFault(msg, retry_after_s=asked_s) from fault.__cause__
        if self._pauses == "none":
            return
        if asked_s or self._pauses == "service" or patience.failing:
            pause_s = patience.pause_s(asked_s)
        else:  # "come back in 0 s" is no reason to come back in no time
            jitter = random.random()  # noqa: S311  no secret
            pause_s = min(MAX_BACKOFF_S, BACKOFF_S * 2.0 ** min(self._faults - 1, 10) + jitter)
        await asyncio.sleep(pause_s)


class Budget:
    """What a run may spend on all its models together.

    Args:
        max_usd: None: any amount; it is only counted.
    """

    def __init__(self, max_usd: float | None) -> None:
        self.max_usd = max_usd
        self.spent_usd = 0.0
        self.accounts: list[Account] = []
        self.settled = asyncio.Event()
        """Set whenever a request ends."""


class Account:
    """Stops asking a model before the budget is spent.

    The price of a request is known only when it is answered, so requests in flight count at the
    mean price so far.

    Args:
        budget: what may be spent, on other models, too.
        price_in: US dollars per million prompt tokens.
        price_out: US dollars per million completion tokens.
        first_usd: what a request is reckoned to cost until one has been answered.
        request_usd: the price of a request where it does not depend on tokens.
    """

    def __init__(
        self,
        budget: Budget,
        price_in: float,
        price_out: float,
        *,
        first_usd: float = 0.0,
        request_usd: float = 0.0,
    ) -> None:
        self.price_in = price_in
        self.price_out = price_out
        self.request_usd = request_usd
        self.spent_usd = 0.0
        """What this model's answers cost."""
        self.in_flight = 0
        """Requests that have been admitted and not settled."""
        self._first_usd = first_usd
        self._answers = 0
        self._budget = budget
        budget.accounts.append(self)

    def price(self, usage: Usage) -> float:
        """Return the price of a request with *usage* in US dollars."""
        price = usage.prompt_tokens * self.price_in + usage.completion_tokens * self.price_out
        return self.request_usd + price / _TOKENS_PER_PRICE

    async def admit(self, *, sent: bool = False) -> None:
        """Let one more request go out; :meth:`settle` must follow.

        While only requests in flight, which may turn out cheap, stand in the way, they are waited
        for.

        Args:
            sent: whether it has gone out before, and will be paid for whatever is left.

        Raises:
            BudgetExceeded: it would probably cost more than is left.
        """
        budget = self._budget
        while not sent and (self._is_spent() or self._is_over()):
            if self._is_spent() or not any(each.in_flight for each in budget.accounts):
                msg = (
                    f"the cost cap of {budget.max_usd:g} US$ is reached: {budget.spent_usd:.4g} "
                    f"US$ are spent, {self.in_flight} requests are in flight, the next would cost "
                    f"about {self.mean_usd():.4g} US$; what was answered is kept. Raise "
                    "--xling-max-cost to go on"
                )
                raise BudgetExceeded(msg)
            budget.settled.clear()
            await budget.settled.wait()
        self.in_flight += 1

    def settle(self, usage: Usage | None) -> None:
        """Book a request that was admitted; None: it was not answered, nothing is due."""
        self.in_flight -= 1
        self._budget.settled.set()
        if usage is not None:
            cost = self.price(usage)
            self._answers += 1
            self.spent_usd += cost
            self._budget.spent_usd += cost

    def mean_usd(self) -> float:
        """Return what a request costs, as far as is known."""
        return self.spent_usd / self._answers if self._answers else self._first_usd

    def _is_spent(self) -> bool:
        return self._budget.max_usd is not None and self._budget.spent_usd >= self._budget.max_usd

    def _is_over(self) -> bool:
        """Tell whether one more request would probably cost more than is left."""
        budget = self._budget
        # The first request of all goes out whatever it is reckoned to cost, or none ever would.
        if budget.max_usd is None or not (self._answers or self.in_flight):
            return False
        in_flight_usd = sum(each.mean_usd() * each.in_flight for each in budget.accounts)
        expected = budget.spent_usd + self.mean_usd() + in_flight_usd
        # A millionth of tolerance: sums of decimal prices are not exact.
        return expected > budget.max_usd * 1.000001


def _brief(fault: RateLimited | TransientFault) -> str:
    """Return what is wrong in a word or two."""
    if isinstance(fault, RateLimited):
        return "429"
    if isinstance(fault.__cause__, TimeoutError):
        return "no reply"
    if isinstance(fault.__cause__, OSError):
        return "no connection"
    return "broken replies" if fault.status is None else str(fault.status)
