"""Slots adapt to what the server takes; money is not spent twice."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_xling.engine.limits import Account, Budget, Slots
from pytest_xling.errors import BudgetExceeded
from pytest_xling.records import Usage

if TYPE_CHECKING:
    from collections.abc import Sequence


async def test_grows_by_one_after_a_clean_round_and_stops_at_the_maximum() -> None:
    """Successes open slots one by one, never more than were asked for."""
    limit = Slots(4)
    async with limit, limit:
        limit.rejected()
    assert 1 == limit.limit
    seen = []
    for _ in range(30):
        async with limit:
            limit.succeeded()
        seen.append(limit.limit)
    assert 4 == seen[-1]
    assert all(after - before in {0, 1} for before, after in pairwise(seen))


async def test_probes_less_and_less_often_where_that_is_refused() -> None:
    """The gaps between refused probes grow."""
    limit = Slots(64)
    limit.limit = limit.in_flight = 33
    limit.rejected()
    probes: list[int] = []
    for success in range(3_000):
        limit.in_flight = limit.limit
        limit.succeeded()
        if limit.limit == 33:
            probes.append(success)
            limit.in_flight = 33
            limit.rejected()
    gaps = [b - a for a, b in pairwise(probes)]
    assert sorted(gaps) == gaps
    assert gaps[-1] >= 4 * gaps[0]


async def test_a_server_that_takes_nothing_is_left_alone_for_as_long_as_it_asks() -> None:
    """After a refusal at one slot nothing is sent until Retry-After is over."""
    limit = Slots(1)
    loop = asyncio.get_running_loop()
    async with limit:
        limit.rejected(0.2)
    start = loop.time()
    async with limit:
        assert loop.time() - start >= 0.19


async def test_recovers_quickly_after_a_pause() -> None:
    """A server that counts requests per minute is full at once and free at once."""
    limit = Slots(64)
    limit.in_flight = 64
    for _ in range(64):
        limit.rejected(0.01)
        limit.release()
    assert 1 == limit.limit
    await asyncio.sleep(0.02)
    for _ in range(31):
        limit.succeeded()
    assert 32 == limit.limit


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=1, max_size=30),
    st.integers(1, 5),
)
def test_cancelling_loses_no_slot(plan: Sequence[tuple[int, bool]], size: int) -> None:
    """All are free at the end, and whoever was not cancelled ran, in the order they asked."""

    async def main() -> None:
        limit = Slots(size)
        begun, done = [], set()

        async def one(number: int, steps: int) -> None:
            async with limit:
                begun.append(number)
                assert limit.in_flight <= size
                for _ in range(steps):
                    await asyncio.sleep(0)
            done.add(number)

        tasks = [asyncio.create_task(one(n, steps)) for n, (steps, _) in enumerate(plan)]
        for n, (steps, cancelled) in enumerate(plan):
            if cancelled:
                for _ in range(steps):
                    await asyncio.sleep(0)
                tasks[n].cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert 0 == limit.in_flight
        assert sorted(begun) == begun
        assert {n for n, (_, cancelled) in enumerate(plan) if not cancelled} <= done

    asyncio.run(main())


def test_zero_slots_are_refused() -> None:
    """A limit of 0 would wait for ever."""
    with pytest.raises(ValueError, match="at least 1"):
        Slots(0)


async def _admitted(account: Account) -> bool:
    """Tell whether one more request is admitted at once."""
    try:
        async with asyncio.timeout(0.01):
            await account.admit()
    except TimeoutError:
        return False
    return True


async def test_requests_in_flight_count_at_the_mean_price() -> None:
    """After one answer at 0.1, nine more may be in flight, not ten: the tenth waits for one."""
    account = Account(Budget(1.0), 1.0, 0.0)
    await account.admit()
    account.settle(Usage(prompt_tokens=100_000))
    assert [True] * 9 + [False] == [await _admitted(account) for _ in range(10)]
    account.settle(None)
    assert await _admitted(account)


async def test_models_share_a_budget_each_at_its_own_price() -> None:
    """What one has spent is not there for the other, and nobody waits for what is spent."""
    budget = Budget(1.0)
    judge, tested = Account(budget, 1.0, 0.0), Account(budget, 2.0, 8.0, first_usd=0.1)
    await judge.admit()
    judge.settle(Usage(prompt_tokens=400_000))
    await tested.admit()
    tested.settle(Usage(prompt_tokens=100_000, completion_tokens=50_000))
    assert pytest.approx(0.6) == tested.spent_usd
    with pytest.raises(BudgetExceeded, match="1 US\\$ are spent"):
        await judge.admit()


@pytest.mark.parametrize(("max_usd", "in_flight"), [(1.0, 2), (0.1, 1)])
async def test_the_first_volley_is_reckoned_by_the_longest_answer(
    max_usd: float, in_flight: int
) -> None:
    """Before any price is known only as many go out as the cap allows at worst, but one."""
    account = Account(Budget(max_usd), 1.0, 1.0, first_usd=0.4)
    admitted = [await _admitted(account) for _ in range(in_flight + 1)]
    assert [True] * in_flight + [False] == admitted
