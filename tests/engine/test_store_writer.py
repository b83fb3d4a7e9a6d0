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
def test_a_bug_ends_the_thread_but_no_wait(tmp_path: Path) -> None:
    """Calls and rows, queued before and after it, fail; closing ends, too."""

    async def use() -> list[str]:
        errors: list[str] = []
        store = StoreWriter(
            Database(tmp_path / "s.sqlite"), on_error=lambda error: errors.append(str(error))
        )
        step = await store.write(number)
        for work in (broken, number, number):
            with pytest.raises(StoreError):
                await store.write(work)
        with pytest.raises(StoreError, match="thread has ended"):
            await store.put(Output(key=(b"k", step), output="1"))
        await store.aclose()
        return errors

    first, *_ = asyncio.run(asyncio.wait_for(use(), 10))
    assert "ZeroDivisionError" in first


def test_after_closing_a_call_fails_at_once(tmp_path: Path) -> None:
    """What was queued before is kept."""

    async def use() -> dict[bytes, tuple[int, str]]:
        database = Database(tmp_path / "s.sqlite")
        store = StoreWriter(database)
        step = await store.write(number)
        row = Output(key=(b"k", step), output="1")
        putting = asyncio.create_task(store.put(row))
        await asyncio.sleep(0)
        await store.aclose()
        await putting
        with pytest.raises(StoreError, match="ended"):
            await store.read(partial(find_newest, keys=[b"k"], step=step))
        again = StoreWriter(database)
        stored = await again.read(partial(find_newest, keys=[b"k"], step=step))
        await again.aclose()
        database.close()
        return stored

    ((_, output),) = asyncio.run(asyncio.wait_for(use(), 10)).values()
    assert output == "1"
