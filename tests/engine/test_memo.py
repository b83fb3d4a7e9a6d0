"""The memo: computed once, kept, shared between callers and processes."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import pytest

from pytest_xling.engine.memo import Memo
from pytest_xling.engine.store_writer import StoreWriter
from pytest_xling.errors import TransientFault
from pytest_xling.keys import content_key
from pytest_xling.store.database import Database
from pytest_xling.store.outputs import claim, step_id

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence
    from pathlib import Path

    from pytest_xling.config.store_location import StoreLocation
    from pytest_xling.errors import XlingError
    from pytest_xling.keys import JsonValue


class Doubling:
    """A step that doubles numbers and counts what it was asked."""

    kind: ClassVar[str] = "score"

    def __init__(self, *, exclusive: bool = False, version: str = "1", delay_s: float = 0) -> None:
        self.parameters: Mapping[str, JsonValue] = {}
        self.name = "doubling"
        self.exclusive = exclusive
        self.version = version
        self.delay_s = delay_s
        self.batches: list[list[int]] = []
        self.failing: set[int] = set()

    def key(self, value: int) -> bytes:
        """Return the content key."""
        return content_key(value)

    def payload(self, value: int) -> str:
        """Return the input as JSON."""
        return json.dumps(value)

    def encode(self, out: int) -> str:
        """Return the output as JSON."""
        return json.dumps(out)

    def decode(self, text: str) -> int:
        """Return what was encoded."""
        out: int = json.loads(text)
        return out

    def cost_usd(self, _out: int) -> float:
        """Return that it is free."""
        return 0.0

    def broken(self, error: BaseException) -> BaseException:
        """Return what broke."""
        return error

    async def compute(self, values: Sequence[int]) -> AsyncIterator[dict[int, int | XlingError]]:
        """Double what is not broken."""
        self.batches.append(list(values))
        await asyncio.sleep(self.delay_s)
        yield {
            index: TransientFault(f"{value} is broken") if value in self.failing else 2 * value
            for index, value in enumerate(values)
        }

    @property
    def computed(self) -> Counter[int]:
        """Return how often each value was computed."""
        return Counter(value for batch in self.batches for value in batch)


async def ask(
    location: StoreLocation, step: Doubling, values: Sequence[int]
) -> list[int | BaseException]:
    """Put *values* through the memo of *step* at once."""
    database = Database(location)
    store = StoreWriter(database)
    memo: Memo[int, int] = await Memo.open(step, store)
    try:
        return await asyncio.gather(*(memo(value) for value in values), return_exceptions=True)
    finally:
        await store.aclose()
        database.close()


def test_concurrent_calls_are_one_batch_and_equal_values_computed_once(tmp_path: Path) -> None:
    """Calls of one turn of the loop coalesce; results come back in order."""
    step = Doubling()
    results = asyncio.run(ask(tmp_path / "s.sqlite", step, [3, 1, 3, 2, 1]))
    assert [6, 2, 6, 4, 2] == results
    assert [[3, 1, 2]] == step.batches


@pytest.mark.parametrize("exclusive", [True, False])
def test_what_is_kept_is_not_computed_again(location: StoreLocation, *, exclusive: bool) -> None:
    """A second run over the same store computes nothing but what is new."""
    asyncio.run(ask(location, Doubling(exclusive=exclusive), [1, 2]))
    again = Doubling(exclusive=exclusive)
    assert [2, 4, 6] == asyncio.run(ask(location, again, [1, 2, 3]))
    assert [[3]] == again.batches


def test_another_version_computes_anew(tmp_path: Path) -> None:
    """The version is part of the key."""
    path = tmp_path / "s.sqlite"
    asyncio.run(ask(path, Doubling(), [1]))
    changed = Doubling(version="2")
    asyncio.run(ask(path, changed, [1]))
    assert [[1]] == changed.batches


@pytest.mark.parametrize("exclusive", [True, False])
def test_errors_reach_the_caller_and_are_not_kept(
    location: StoreLocation, *, exclusive: bool
) -> None:
    """A failed value fails alone, and is computed again next time."""
    step = Doubling(exclusive=exclusive)
    step.failing = {2}
    good, bad = asyncio.run(ask(location, step, [1, 2]))
    assert good == 2
    assert isinstance(bad, TransientFault)
    mended = Doubling(exclusive=exclusive)
    assert [2, 4] == asyncio.run(ask(location, mended, [1, 2]))
    assert [[2]] == mended.batches


def test_a_bug_in_a_step_reaches_the_caller(tmp_path: Path) -> None:
    """An unexpected exception ends the wait instead of hanging it."""

    class Buggy(Doubling):
        async def compute(
            self, values: Sequence[int]
        ) -> AsyncIterator[dict[int, int | XlingError]]:
            yield {0: values[0] // 0}

    (result,) = asyncio.run(asyncio.wait_for(ask(tmp_path / "s.sqlite", Buggy(), [1]), 5))
    assert isinstance(result, ZeroDivisionError)


def test_what_is_ready_is_kept_whatever_breaks_after_it(tmp_path: Path) -> None:
    """A step that breaks half-way, as at Ctrl-C, has lost only what was not ready."""
    path = tmp_path / "s.sqlite"

    class BreaksHalfWay(Doubling):
        async def compute(
            self, values: Sequence[int]
        ) -> AsyncIterator[dict[int, int | XlingError]]:
            yield {values.index(1): 2}
            raise ZeroDivisionError

    asyncio.run(ask(path, BreaksHalfWay(), [1, 2]))
    mended = Doubling()
    assert [2, 4] == asyncio.run(ask(path, mended, [1, 2]))
    assert [[2]] == mended.batches


def test_two_memos_on_one_store_share_the_work(tmp_path: Path) -> None:
    """Exclusive steps: what one process is computing, another waits for."""

    async def both() -> tuple[Counter[int], Counter[int], list[Any], list[Any]]:
        path = tmp_path / "s.sqlite"
        Database(path).close()
        one = Doubling(exclusive=True, delay_s=0.3)
        first = asyncio.create_task(asyncio.to_thread(asyncio.run, ask(path, one, range(20))))
        await asyncio.sleep(0.1)
        script = (
            "import asyncio, sys, json; from pathlib import Path; sys.path.insert(0, sys.argv[2]);"
            "from test_memo import ask, Doubling; step = Doubling(exclusive=True);"
            "print(json.dumps([asyncio.run(ask(Path(sys.argv[1]), step, range(10, 30))),"
            "sorted(step.computed)]))"
        )
        other = await asyncio.create_subprocess_exec(
            sys.executable,
            "-c",
            script,
            str(path),
            str(__file__).rpartition("/")[0],
            stdout=subprocess.PIPE,
        )
        out, _ = await other.communicate()
        results_two, computed_two = json.loads(out)
        return one.computed, Counter(computed_two), await first, results_two

    computed_one, computed_two, results_one, results_two = asyncio.run(both())
    assert [2 * n for n in range(20)] == results_one
    assert [2 * n for n in range(10, 30)] == results_two
    assert Counter(range(30)) == computed_one + computed_two


def test_the_leases_of_a_killed_process_do_not_hold_others_up(tmp_path: Path) -> None:
    """After kill -9 in mid-step, another process takes over at once, not at the lease's end."""
    path = tmp_path / "s.sqlite"
    script = (
        "import asyncio, sys; from pathlib import Path; sys.path.insert(0, sys.argv[2]);"
        "from test_memo import ask, Doubling;"
        "asyncio.run(ask(Path(sys.argv[1]), Doubling(exclusive=True, delay_s=60), [1]))"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script, str(path), str(__file__).rpartition("/")[0]]
    )
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline:
        time.sleep(0.05)
        if path.exists() and leases(path):
            break
    process.kill()
    process.wait()
    assert leases(path) == 1
    # The lease does not end by its time while anyone waits for this test.
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE leases SET expires_at = expires_at + 86400")
    assert [2] == asyncio.run(ask(path, Doubling(exclusive=True), [1]))


def test_leases_of_elsewhere_end_by_their_time(location: StoreLocation) -> None:
    """Nobody here can see that the machine which holds one has gone."""
    database = Database(location)
    step = Doubling(exclusive=True)
    number = database.transact(
        partial(step_id, kind=step.kind, name=step.name, version=step.version, parameters={})
    )
    keys = [(step.key(1), number)]
    database.transact(partial(claim, keys=keys, owner="elsewhere:1:1", ttl_s=0.5))
    assert [2] == asyncio.run(asyncio.wait_for(ask(location, step, [1]), 60))
    assert {1: 1} == step.computed
    database.close()


def leases(path: Path) -> int:
    """Return how many leases the store holds."""
    with sqlite3.connect(path) as connection:
        try:
            (count,) = connection.execute("SELECT count(*) FROM leases").fetchone()
        except sqlite3.OperationalError:
            return 0
    return int(count)
