"""A loop on a thread of its own."""

from __future__ import annotations

import asyncio
import sys

import pytest

from pytest_xling.plugin.evaluation import LoopThread


async def end(how: type[BaseException]) -> None:
    """Do what would end a thread."""
    await asyncio.sleep(0.01)
    raise how


async def work() -> int:
    """Take longer than :func:`end`."""
    await asyncio.sleep(0.05)
    return 3


@pytest.mark.parametrize("how", [SystemExit, KeyboardInterrupt])
def test_a_step_that_exits_ends_itself_only(how: type[BaseException]) -> None:
    """Whoever waits for another gets its result, and whoever waits for it gets told."""
    loop = LoopThread()
    other, ends = loop.submit(work()), loop.submit(end(how))
    assert other.result(timeout=60) == 3
    with pytest.raises(how):
        ends.result(timeout=60)
    assert loop.call(work()) == 3
    loop.close()


def test_closing_gives_everything_back() -> None:
    """What still runs is cancelled, and the interpreter's switch interval is as before."""
    before = sys.getswitchinterval()
    loop = LoopThread()
    left = loop.submit(asyncio.sleep(60))
    loop.close()
    assert left.cancelled()
    assert loop.loop.is_closed()
    assert before == sys.getswitchinterval()
