"""Give up on a provider that answers nothing."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Final

from pytest_xling.errors import GivenUp, PermanentFault, RateLimited, TransientFault

if TYPE_CHECKING:
    from types import TracebackType

    from pytest_xling.errors import XlingError

PATIENCE_S: Final = 120.0
HANDFUL: Final = 3
"""So many faults in a row are no accident."""
FEW: Final = 4
"""So many requests may fail again and again, and it may be their own doing."""
NEVER_SEEN_S: Final = 5.0
"""Patience with a server that has never replied, not even with a fault: its address is wrong."""
_SHORTEST, _LONGEST = 1 / 64, 1 / 8
"""Pauses between two probes, as shares of the patience."""


class Breaker:
    """Says whether a provider is still asked, for all requests of a run to it together.

    Nothing more is asked once

    - a handful of requests in a row met one fault that every request would meet, such as a wrong
      key, or
    - the patience is over: since the first of a row of faults that may pass (429, 5xx, no
      connection) that much time has gone by without one answer, or
    - it was told to :meth:`stop`.

    Enter it for each attempt. Requests that wait fail at once when it trips; those under way go
    on, as they are paid for.

    Args:
        name: of the model.
        patience_s: how long the provider may go without an answer.
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

    def __enter__(self) -> None:
        """Begin an attempt.

        Raises:
            GivenUp: the provider was given up.
        """
        self.check()
        self._under_way += 1

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """End an attempt."""
        self._under_way -= 1

    @property
    def stopped(self) -> bool:
        """Whether the provider was given up."""
        return self._stopped is not None

    @property
    def failing(self) -> bool:
        """Whether the provider fails whatever it is asked; then a probe at a time is enough."""
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
        """Raise if the provider was given up.

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

    def failed(self, fault: XlingError, *, request: int = 0) -> None:
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
        """Return how long to wait before the provider is asked again.

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

    def watch(self, waiting: asyncio.Timeout) -> None:
        """Let *waiting* expire when the provider is given up."""
        self._waiting.add(waiting)

    def forget(self, waiting: asyncio.Timeout) -> None:
        """Undo :meth:`watch`."""
        self._waiting.discard(waiting)

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
            silent = f"no answer for {self._patience_s:g} s (--xling-patience)"
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


def _brief(fault: RateLimited | TransientFault) -> str:
    """Return what is wrong in a word or two."""
    if isinstance(fault, RateLimited):
        return "429"
    if isinstance(fault.__cause__, TimeoutError):
        return "no reply"
    if isinstance(fault.__cause__, OSError):
        return "no connection"
    return "broken replies" if fault.status is None else str(fault.status)
