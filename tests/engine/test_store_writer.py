"""The store's thread: whatever ends it, nobody waits for it in vain."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING

import pytest

from pytest_xling.engine.store_writer import StoreWriter
from pytest_xling.errors import StoreError
from pytest_xling.store.database import Database
from pytest_xling.store.outputs import Output, find_newest, step_id
from tests.engine.asking import opened

if TYPE_CHECKING:
    from pathlib import Path

    from sqlalchemy import Connection


def number(connection: Connection) -> int:
    """Register a step and return its number."""
    return step_id(connection, kind="score", name="s", version="1", parameters={})


def broken(_connection: Connection) -> None:
    """Have a bug."""
    raise ZeroDivisionError


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
async def test_a_bug_ends_the_thread_but_no_wait(tmp_path: Path) -> None:
    """Calls and rows, queued before and after it, fail; closing ends, too."""
    errors: list[StoreError] = []
    async with asyncio.timeout(10):
        store = StoreWriter(Database(tmp_path / "s.sqlite"), on_error=errors.append)
        step = await store.write(number)
        for work in (broken, number, number):
            with pytest.raises(StoreError):
                await store.write(work)
        with pytest.raises(StoreError, match="thread has ended"):
            await store.put(Output(key=(b"k", step), output="1"))
        await store.aclose()
    assert "ZeroDivisionError" in str(errors[0])


async def test_after_closing_a_call_fails_at_once(tmp_path: Path) -> None:
    """What was queued before is kept."""
    path = tmp_path / "s.sqlite"
    async with asyncio.timeout(10):
        async with opened(path) as store:
            step = await store.write(number)
            putting = asyncio.create_task(store.put(Output(key=(b"k", step), output="1")))
            await asyncio.sleep(0)
        await putting
        found = partial(find_newest, keys=[b"k"], step=step)
        with pytest.raises(StoreError, match="ended"):
            await store.read(found)
        async with opened(path) as again:
            ((_, output),) = (await again.read(found)).values()
    assert output == "1"
