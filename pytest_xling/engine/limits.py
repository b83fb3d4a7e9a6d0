"""How many requests may be in flight, and how much they may cost."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_xling.engine.breaker import Breaker
from pytest_xling.errors import BudgetExceeded

if TYPE_CHECKING:
    from types import TracebackType

    from pytest_xling.records import Usage

# Clean rounds between two attempts to open one more slot, at most.
_MAX_ROUNDS = 32
# How long nothing is asked when a server refuses even a single request and does not say.
_PAUSE_S = 1.0
_TOKENS_PER_PRICE = 1_000_000


class _Slot:
    """Holds one slot while entered; has no state of its own, so one serves all."""

    __slots__ = ("_limit",)

    def __init__(self, limit: AdaptiveLimit) -> None:
        self._limit = limit

    async def __aenter__(self) -> None:
        limit = self._limit
        if not limit.take():
            await limit.wait()

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._limit.release()


class AdaptiveLimit:
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
        breaker: of the model that is asked.

    Attributes:
        maximum: the limit never exceeds it.
        limit: requests that may be in flight now, at least 1.
        in_flight: requests that are.
        breaker: gives up on a server that answers nothing.
    """

    __slots__ = (
        "_before",
        "_clean",
        "_open",
        "_probed",
        "_proven",
        "_refused",
        "_rounds",
        "_slot",
        "_threshold",
        "_waiting",
        "breaker",
        "in_flight",
        "limit",
        "maximum",
    )

    def __init__(
        self, limit: int, *, first: int | None = None, breaker: Breaker | None = None
    ) -> None:
        if limit < 1:
            msg = f"at least 1 request must be allowed in flight, not {limit}"
            raise ValueError(msg)
        self.maximum = limit
        self.limit = limit if first is None else min(first, limit)
        self.in_flight = 0
        self.breaker = breaker or Breaker()
        self._slot = _Slot(self)
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._open = True
        self._clean = 0  # successes since the limit last changed
        self._refused = 0  # refusals since the last success
        self._rounds = 1  # clean rounds before the next probe
        self._probed = False  # the last change opened a slot
        self._threshold = 0  # below it the limit grows with every success
        self._before = limit  # the limit when the refusals began
        self._proven = first is None  # it has answered

    def slot(self) -> _Slot:
        """Return a context manager that holds one slot."""
        return self._slot

    def take(self) -> bool:
        """Take a slot if one is free and nobody waits for it."""
        if self.in_flight < self.limit and self._open and not self._waiting:
            self.in_flight += 1
            return True
        return False

    async def wait(self) -> None:
        """Wait for a slot and take it."""
        waiter = asyncio.get_running_loop().create_future()
        self._waiting.append(waiter)
        try:
            await waiter
        except asyncio.CancelledError:
            if waiter.done() and not waiter.cancelled():
                self.release()  # the slot was handed over at the moment of cancellation
            raise

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


class CostCap:
    """Stops asking before the money is spent.

    The price of a request is known only when it is answered, so requests in flight count at the
    mean price so far.

    Args:
        max_usd: what may be spent in all; None: no cap, only the tally.
        price_in: US dollars per million prompt tokens.
        price_out: US dollars per million completion tokens.
        spent_usd: what was spent already, such as by other processes of the run.
        first_usd: what a request is reckoned to cost until one has been answered.
        request_usd: the price of a request where it does not depend on tokens.
    """

    __slots__ = (
        "_answers",
        "_budget",
        "_first_usd",
        "_in_flight",
        "max_usd",
        "own_usd",
        "price_in",
        "price_out",
        "request_usd",
    )

    def __init__(
        self,
        max_usd: float | None,
        price_in: float,
        price_out: float,
        *,
        spent_usd: float = 0.0,
        first_usd: float = 0.0,
        request_usd: float = 0.0,
    ) -> None:
        self._first_usd = first_usd
        self.request_usd = request_usd
        self.max_usd = max_usd
        self.price_in = price_in
        self.price_out = price_out
        self.own_usd = 0.0
        """What this one's answers cost."""
        self._answers = 0
        self._in_flight = 0
        self._budget = _Budget(spent_usd, [self], asyncio.Event())

    def beside(
        self, price_in: float, price_out: float, *, first_usd: float = 0.0, request_usd: float = 0.0
    ) -> CostCap:
        """Return a cap for another model, with its own price, on what both may spend together."""
        other = CostCap(
            self.max_usd, price_in, price_out, first_usd=first_usd, request_usd=request_usd
        )
        other._budget = self._budget
        self._budget.caps.append(other)
        return other

    @property
    def spent_usd(self) -> float:
        """What all that share the cap have spent."""
        return self._budget.spent_usd

    def price(self, usage: Usage) -> float:
        """Return the price of a request with *usage* in US dollars."""
        price = usage.prompt_tokens * self.price_in + usage.completion_tokens * self.price_out
        return self.request_usd + price / _TOKENS_PER_PRICE

    async def room(self) -> None:
        """Wait while only requests in flight, which may turn out cheap, stand in the way."""
        budget = self._budget
        while budget.in_flight() and self._is_over() and not self._is_spent():
            budget.settled.clear()
            await budget.settled.wait()

    def _mean_usd(self) -> float:
        return self.own_usd / self._answers if self._answers else self._first_usd

    def _is_spent(self) -> bool:
        return self.max_usd is not None and self.spent_usd >= self.max_usd

    def _is_over(self) -> bool:
        """Tell whether one more request would probably cost more than is left."""
        # The first request of all goes out whatever it is reckoned to cost, or none ever would.
        if self.max_usd is None or not (self._answers or self._in_flight):
            return False
        expected = self.spent_usd + self._mean_usd() + self._budget.in_flight_usd()
        # A millionth of tolerance: sums of decimal prices are not exact.
        return expected > self.max_usd * 1.000001

    def admit(self, *, sent: bool = False) -> None:
        """Let one more request go out; :meth:`settle` must follow.

        Args:
            sent: whether it has gone out before, and will be paid for whatever is left.

        Raises:
            BudgetExceeded: it would probably cost more than is left.
        """
        if not sent and (self._is_spent() or self._is_over()):
            msg = (
                f"the cost cap of {self.max_usd:g} US$ is reached: {self.spent_usd:.4g} US$ "
                f"are spent, {self._in_flight} requests are in flight, the next would cost "
                f"about {self._mean_usd():.4g} US$; what was answered is kept. Raise "
                "--xling-max-cost to go on"
            )
            raise BudgetExceeded(msg)
        self._in_flight += 1

    def settle(self, usage: Usage | None) -> None:
        """Book a request that :meth:`admit` let out; None: it was not answered, nothing is due."""
        self._in_flight -= 1
        self._budget.settled.set()
        if usage is not None:
            cost = self.price(usage)
            self._answers += 1
            self.own_usd += cost
            self._budget.spent_usd += cost

    @property
    def in_flight(self) -> int:
        """How many requests have been let out and not settled."""
        return self._in_flight

    def in_flight_usd(self) -> float:
        """Return what the requests in flight will cost, at the mean price so far."""
        return self._mean_usd() * self._in_flight


@dataclass(slots=True)
class _Budget:
    """What several caps may spend together."""

    spent_usd: float
    caps: list[CostCap]
    settled: asyncio.Event
    """Set whenever a request of any of them ends."""

    def in_flight(self) -> int:
        return sum(cap.in_flight for cap in self.caps)

    def in_flight_usd(self) -> float:
        return sum(cap.in_flight_usd() for cap in self.caps)
