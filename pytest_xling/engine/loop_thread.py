"""An event loop on a thread of its own, so that tests run while answers are awaited."""

from __future__ import annotations

import asyncio
import sys
import threading
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Coroutine
    from concurrent.futures import Future

T = TypeVar("T")


SWITCH_S = 0.0005
"""How long another thread may keep the interpreter while the loop has an answer to deal with."""


class LoopThread:
    """Runs coroutines on a background event loop."""

    def __init__(self) -> None:
        self._switch_s = sys.getswitchinterval()
        sys.setswitchinterval(SWITCH_S)
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._work, name="xling-loop", daemon=True)
        self._thread.start()

    def _work(self) -> None:
        asyncio.set_event_loop(self.loop)
        while True:
            try:
                self.loop.run_forever()
            except (SystemExit, KeyboardInterrupt):
                # Raised by a step, whose task keeps it; asyncio raises it here as well. Whoever
                # waits for another task must not wait for ever.
                continue
            return

    def submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Start *work* and return its future."""
        return asyncio.run_coroutine_threadsafe(work, self.loop)

    def call(self, work: Coroutine[Any, Any, T]) -> T:
        """Run *work* and wait for its result."""
        return self.submit(work).result()

    def close(self) -> None:
        """Cancel what is left, and end the thread."""
        self.submit(_cancel_others()).result()
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.close()
        sys.setswitchinterval(self._switch_s)


async def _cancel_others() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
