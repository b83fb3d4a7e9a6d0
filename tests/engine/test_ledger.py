"""The store's thread: whatever ends it, nobody waits for it in vain."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from pytest_xling.engine.store_writer import Ledger
from pytest_xling.errors import StoreError
from pytest_xling.store.database import Database
from pytest_xling.store.outputs import Output, step_id

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
        said: list[str] = []
        ledger = Ledger(Database(tmp_path / "s.sqlite"), broken=lambda e: said.append(str(e)))
        step = await ledger.write(number)
        for work in (broken, number, number):
            with pytest.raises(StoreError):
                await ledger.write(work)
        row = Output(key=(b"k", step), output="1")
        ledger.put(row, leased=False, then=pytest.fail, failed=lambda e: said.append(str(e)))
        await ledger.aclose()
        return said

    first, *_, last = asyncio.run(asyncio.wait_for(use(), 10))
    assert "ZeroDivisionError" in first
    assert "thread has ended" in last


def test_after_closing_a_call_fails_at_once(tmp_path: Path) -> None:
    """What was queued before is kept."""

    async def use() -> dict[tuple[bytes, int], str]:
        database = Database(tmp_path / "s.sqlite")
        ledger = Ledger(database)
        step = await ledger.write(number)
        done = asyncio.Event()
        row = Output(key=(b"k", step), output="1")
        ledger.put(row, leased=False, then=done.set, failed=lambda _: pytest.fail("not kept"))
        await ledger.aclose()
        with pytest.raises(StoreError, match="ended"):
            await ledger.find([row.key])
        again = Ledger(database)
        found = await again.find([row.key])
        await again.aclose()
        database.close()
        return found

    assert ["1"] == list(asyncio.run(asyncio.wait_for(use(), 10)).values())
