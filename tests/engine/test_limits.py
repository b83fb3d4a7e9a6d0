"""Slots adapt to what the server takes; money is not spent twice."""

from __future__ import annotations

import asyncio
import random
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


async def _burst(limit: Slots, capacity: int, requests: int, *, work_s: float = 0.01) -> int:
    """Send *requests* at once to a server that takes *capacity*; return the refusals."""
    taken = refused = 0

    async def one() -> None:
        nonlocal taken, refused
        while True:
            async with limit:
                if taken >= capacity:
                    refused += 1
                    limit.rejected(0.02)
                else:
                    taken += 1
                    await asyncio.sleep(work_s)
                    taken -= 1
                    limit.succeeded()
                    return
            await asyncio.sleep(0.02)

    await asyncio.gather(*(one() for _ in range(requests)))
    return refused


@pytest.mark.parametrize("capacity", [3, 16, 32, 50])
def test_settles_where_the_server_does(capacity: int) -> None:
    """A burst of 64 to a server that takes fewer leaves as many slots; few refusals follow."""

    async def main() -> None:
        limit = Slots(64)
        refused = await _burst(limit, capacity, 20 * capacity)
        assert capacity - 1 <= limit.limit <= capacity + 1
        assert refused <= 64 - capacity + 5
        assert 0 == limit.in_flight

    asyncio.run(main())


def test_never_below_one_slot() -> None:
    """However often it is refused, one request may go."""

    async def main() -> None:
        limit = Slots(4)
        for _ in range(20):
            async with limit:
                limit.rejected(0.0)
        assert 1 == limit.limit

    asyncio.run(main())


def test_grows_by_one_after_a_clean_round_and_stops_at_the_maximum() -> None:
    """Successes open slots one by one, never more than were asked for."""

    async def main() -> None:
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

    asyncio.run(main())


def test_probes_less_and_less_often_where_that_is_refused() -> None:
    """The gaps between refused probes grow."""

    async def main() -> None:
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

    asyncio.run(main())


def test_a_server_that_takes_nothing_is_left_alone_for_as_long_as_it_asks() -> None:
    """After a refusal at one slot nothing is sent until Retry-After is over."""

    async def main() -> None:
        limit = Slots(1)
        loop = asyncio.get_running_loop()
        async with limit:
            limit.rejected(0.2)
        start = loop.time()
        async with limit:
            assert loop.time() - start >= 0.19

    asyncio.run(main())


def test_recovers_quickly_after_a_pause() -> None:
    """A server that counts requests per minute is full at once and free at once."""

    async def main() -> None:
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

    asyncio.run(main())


def test_slots_are_given_in_the_order_they_were_asked_for() -> None:
    """Nobody overtakes."""

    async def main() -> list[int]:
        limit = Slots(3)
        order = []

        async def one(number: int) -> None:
            async with limit:
                order.append(number)
                await asyncio.sleep(random.random() / 1000)  # noqa: S311  only a jitter

        await asyncio.gather(*(one(number) for number in range(50)))
        return order

    assert list(range(50)) == asyncio.run(main())


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=1, max_size=30),
    st.integers(1, 5),
)
def test_cancelling_loses_no_slot(plan: Sequence[tuple[int, bool]], size: int) -> None:
    """Whoever is cancelled, waiting or inside, all slots are free at the end and all others ran."""

    async def main() -> None:
        limit = Slots(size)
        done = set()

        async def one(number: int, steps: int) -> None:
            async with limit:
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
        assert {n for n, (_, cancelled) in enumerate(plan) if not cancelled} <= done

    asyncio.run(main())


def test_zero_slots_are_refused() -> None:
    """A limit of 0 would wait for ever."""
    with pytest.raises(ValueError, match="at least 1"):
        Slots(0)


def _account(max_usd: float | None, price_in: float, price_out: float, **more: float) -> Account:
    return Account(Budget(max_usd), price_in, price_out, **more)


def _asked(account: Account, *usages: Usage | None) -> None:
    """Admit a request for each of *usages*, and settle it at once."""

    async def main() -> None:
        for usage in usages:
            await account.admit()
            account.settle(usage)

    asyncio.run(main())


async def _admitted(account: Account) -> bool:
    """Tell whether one more request is admitted at once."""
    try:
        async with asyncio.timeout(0.01):
            await account.admit()
    except TimeoutError:
        return False
    return True


def test_prices_are_per_million_tokens() -> None:
    """2 US$ in and 8 out: 1,000 and 500 tokens cost 0.006."""
    account = _account(None, 2.0, 8.0)
    _asked(account, Usage(prompt_tokens=1_000, completion_tokens=500))
    assert pytest.approx(0.006) == account.spent_usd


def test_the_cap_stops_before_it_is_passed() -> None:
    """Ten answers at 0.1 fit into 1 US$; the eleventh is not asked."""
    account = _account(1.0, 1.0, 0.0)
    tenth = Usage(prompt_tokens=100_000)
    _asked(account, *[tenth] * 10)
    with pytest.raises(BudgetExceeded, match="--xling-max-cost"):
        _asked(account, tenth)
    assert pytest.approx(1.0) == account.spent_usd


def test_requests_in_flight_count_at_the_mean_price() -> None:
    """After one answer at 0.1, nine more may be in flight, not ten: the tenth waits for one."""

    async def main() -> None:
        account = _account(1.0, 1.0, 0.0)
        await account.admit()
        account.settle(Usage(prompt_tokens=100_000))
        assert [True] * 9 + [False] == [await _admitted(account) for _ in range(10)]
        account.settle(None)
        assert await _admitted(account)

    asyncio.run(main())


def test_models_share_a_budget_each_at_its_own_price() -> None:
    """What one has spent is not there for the other, and nobody waits for what is spent."""
    budget = Budget(1.0)
    judge, tested = Account(budget, 1.0, 0.0), Account(budget, 2.0, 0.0, first_usd=0.1)
    _asked(judge, Usage(prompt_tokens=400_000))
    _asked(tested, Usage(prompt_tokens=300_000))
    assert pytest.approx(0.6) == tested.spent_usd
    with pytest.raises(BudgetExceeded, match="1 US\\$ are spent"):
        _asked(judge, None)


@pytest.mark.parametrize(("max_usd", "in_flight"), [(1.0, 2), (0.1, 1)])
def test_the_first_volley_is_reckoned_by_the_longest_answer(max_usd: float, in_flight: int) -> None:
    """Before any price is known only as many go out as the cap allows at worst, but one."""

    async def main() -> None:
        account = _account(max_usd, 1.0, 1.0, first_usd=0.4)
        admitted = [await _admitted(account) for _ in range(in_flight + 1)]
        assert [True] * in_flight + [False] == admitted

    asyncio.run(main())
