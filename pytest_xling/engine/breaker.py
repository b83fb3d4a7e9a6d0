"""Give up on a provider that cannot be reached."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from pytest_xling.errors import PermanentFault

if TYPE_CHECKING:
    from pytest_xling.errors import TransientFault

__all__ = ["Breaker"]


class Breaker:
    """Ends a run whose provider cannot be reached, in seconds instead of hours.

    It trips when requests in a row could not connect or got no reply in time (a
    ``TransientFault`` whose cause is an ``OSError``, as ``ConnectionError`` and ``TimeoutError``
    are), nothing was answered in between, and they were more than the requests in flight when the
    row began: so a second volley failed, too. Then every request that waits fails at once.

    Args:
        failures: so many must fail, at least.
        grace_s: seconds without a sign of life that are forgiven.
    """

    __slots__ = ("_alive_at", "_failed", "_failures", "_grace_s", "_reason", "_volley", "_watched")

    def __init__(self, *, failures: int = 8, grace_s: float = 5.0) -> None:
        self._failures = failures
        self._grace_s = grace_s
        self._failed = 0
        self._volley = 0
        self._alive_at: float | None = None
        self._reason = ""
        self._watched: set[asyncio.Timeout] = set()

    @property
    def tripped(self) -> bool:
        """Whether the provider was given up."""
        return bool(self._reason)

    def check(self) -> None:
        """Raise if the provider was given up; call it before each attempt.

        Raises:
            PermanentFault: says what failed.
        """
        if self._reason:
            raise PermanentFault(self._reason)
        if self._alive_at is None:
            self._alive_at = time.monotonic()

    def alive(self) -> None:
        """Note that the provider replied, whatever it said."""
        self._failed = 0
        self._alive_at = time.monotonic()

    def failed(self, fault: TransientFault, *, in_flight: int) -> None:
        """Note that a request failed while *in_flight* were under way, itself included."""
        if not isinstance(fault.__cause__, OSError):
            self.alive()
            return
        if not self._failed:
            self._volley = in_flight
        self._failed += 1
        silent_s = time.monotonic() - (self._alive_at or 0.0)
        if (
            not self._reason
            and self._failed >= self._failures
            and self._failed > self._volley
            and silent_s >= self._grace_s
        ):
            self._reason = (
                f"the provider is unreachable: {self._failed} requests in a row got no reply in "
                f"{silent_s:.0f} s, so nothing more is asked. The last fault: {fault}"
            )
            now = asyncio.get_running_loop().time()
            for waiting in self._watched:
                waiting.reschedule(now)

    def watch(self, waiting: asyncio.Timeout) -> None:
        """Let *waiting* expire when the breaker trips."""
        self._watched.add(waiting)

    def forget(self, waiting: asyncio.Timeout) -> None:
        """Undo :meth:`watch`."""
        self._watched.discard(waiting)
