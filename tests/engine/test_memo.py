"""The memo: computed once, kept, shared between callers and processes."""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import pytest

from pytest_xling.engine.memo import Step, remember
from pytest_xling.errors import EvaluationError
from pytest_xling.keys import content_key
from pytest_xling.providers.scripted import ScriptedProvider
from pytest_xling.records import Request, Response
from pytest_xling.store.database import Database
from pytest_xling.store.outputs import claim, step_id
from tests.engine.asking import ask, opened, request

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from pytest_xling.config.store_location import StoreLocation
    from pytest_xling.engine.store_writer import StoreWriter
    from pytest_xling.errors import XlingError

    Outputs: TypeAlias = AsyncIterator[dict[int, int | XlingError]]


class Doubling:
    """Doubles numbers, and remembers what for; some cannot be doubled."""

    def __init__(self, *, version: str = "1", failing: Sequence[int] = ()) -> None:
        self.version = version
        self.failing = failing
        self.batches: list[list[int]] = []

    async def compute(self, values: Sequence[int]) -> Outputs:
        """Double *values*."""
        self.batches.append(list(values))
        await asyncio.sleep(0)
        yield {
            index: EvaluationError(f"{value} is odd") if value in self.failing else 2 * value
            for index, value in enumerate(values)
        }

    async def double(self, store: StoreWriter, *values: int) -> list[int | XlingError]:
        """Return the doubles of *values*, from *store* where it has them."""
        step = await Step.open(store, "score", "doubling", self.version, {})
        inputs = {content_key(value): value for value in values}
        outs = await remember(store, step, inputs, self.compute)
        return [outs[content_key(value)] for value in values]

    def doubled(self, location: StoreLocation, *values: int) -> list[int | XlingError]:
        """Return the doubles of *values*."""

        async def doubled() -> list[int | XlingError]:
            async with opened(location) as store:
                return await self.double(store, *values)

        return asyncio.run(doubled())


def test_what_is_kept_is_not_computed_again(location: StoreLocation) -> None:
    """One batch of what is new; another version is another step."""
    assert [6, 2, 6] == Doubling().doubled(location, 3, 1, 3)
    again, changed = Doubling(), Doubling(version="2")
    assert [2, 4, 6, 8] == again.doubled(location, 1, 2, 3, 4)
    assert [[2, 4]] == again.batches
    assert [2] == changed.doubled(location, 1)
    assert [[1]] == changed.batches


def test_an_error_is_returned_and_not_kept(location: StoreLocation) -> None:
    """A failed value fails alone, and is computed again next time."""
    good, bad = Doubling(failing=[2]).doubled(location, 1, 2)
    assert good == 2
    assert isinstance(bad, EvaluationError)
    mended = Doubling()
    assert [2, 4] == mended.doubled(location, 1, 2)
    assert [[2]] == mended.batches


def test_what_is_ready_is_kept_whatever_breaks_after_it(tmp_path: Path) -> None:
    """What breaks half-way, as at Ctrl-C, has lost only what was not ready; a bug reaches us."""

    class BreaksHalfWay(Doubling):
        async def compute(self, values: Sequence[int]) -> Outputs:
            yield {values.index(1): 2}
            raise ZeroDivisionError

    path = tmp_path / "s.sqlite"
    with pytest.raises(ZeroDivisionError):
        BreaksHalfWay().doubled(path, 1, 2)
    mended = Doubling()
    assert [2, 4] == mended.doubled(path, 1, 2)
    assert [[2]] == mended.batches


async def test_calls_side_by_side_compute_once(tmp_path: Path) -> None:
    """What another call is about to have is waited for."""
    doubling = Doubling()
    async with opened(tmp_path / "s.sqlite") as store:
        calls = doubling.double(store, 1, 2), doubling.double(store, 2, 3)
        assert [[2, 4], [4, 6]] == [*await asyncio.gather(*calls)]
    assert [1, 2, 3] == sorted(value for batch in doubling.batches for value in batch)


class Echo(ScriptedProvider):
    """Repeats questions, and counts what it was asked."""

    def __init__(self, *, delay_s: float = 0) -> None:
        super().__init__("")
        self.delay_s = delay_s
        self.asked: Counter[str] = Counter()

    async def generate(self, request: Request) -> Response:
        """Repeat the question."""
        question = request.messages[0].content
        self.asked[question] += 1
        await asyncio.sleep(self.delay_s)
        return Response(text=question, stop_reason="stop")


def test_a_question_is_asked_once(location: StoreLocation) -> None:
    """However many wait for the answer, and in another session not at all."""
    one, other = Echo(), Echo()
    assert ["c", "a", "c", "b", "a"] == ask(location, one, "c", "a", "c", "b", "a")
    assert {"a": 1, "b": 1, "c": 1} == one.asked
    assert ["a", "d"] == ask(location, other, "a", "d")
    assert {"d": 1} == other.asked


ASKING = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from tests.engine.test_memo import Echo, ask
ask(Path(sys.argv[2]), Echo(delay_s=600), *range(10, 30))
"""


def test_the_leases_of_a_killed_process_do_not_hold_others_up(tmp_path: Path) -> None:
    """After kill -9 in mid-step, another process takes over at once, not at the lease's end."""
    path = tmp_path / "s.sqlite"
    root = Path(__file__).parents[2]
    process = subprocess.Popen([sys.executable, "-c", ASKING, str(root), str(path)])
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline and not (path.exists() and leases(path)):
        time.sleep(0.05)
    process.kill()
    process.wait()
    assert leases(path) == 20
    # The lease does not end by its time while anyone waits for this test.
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE leases SET expires_at = expires_at + 86400")
    assert ["10"] == ask(path, Echo(), 10)


def test_leases_of_elsewhere_end_by_their_time(location: StoreLocation) -> None:
    """Nobody here can see that the machine which holds one has gone."""
    echo = Echo()
    with closing(Database(location)) as database:
        memo = partial(step_id, kind="answer", name=echo.name, version="1", parameters={})
        number = database.transact(memo)
        key = content_key({**echo.identify(request(1)), "repeat": 0})
        held = partial(claim, keys=[(key, number)], owner="elsewhere:1:1", ttl_s=0.5)
        assert database.transact(held)
    assert ["1"] == ask(location, echo, 1)
    assert {"1": 1} == echo.asked


def leases(path: Path) -> int:
    """Return how many leases the store holds."""
    with closing(sqlite3.connect(path)) as connection:
        try:
            (count,) = connection.execute("SELECT count(*) FROM leases").fetchone()
        except sqlite3.OperationalError:
            return 0
    return int(count)
