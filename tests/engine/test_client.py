"""Asking again, over a real socket: rate limits, faults that pass, servers that never answer."""

from __future__ import annotations

import asyncio
from contextlib import aclosing, asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from pytest_xling.engine.client import Client
from pytest_xling.engine.limits import Account, Budget, Patience, Slots
from pytest_xling.errors import BudgetExceeded, GivenUp, PermanentFault, TransientFault
from pytest_xling.providers.openai import OpenaiProvider
from pytest_xling.records import Request, Response
from tests.engine.asking import request
from tests.servers.openai_server import serving, spawned, stats

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence


def _requests(count: int, marker: str = "") -> list[Request]:
    return [request(f"Question {number}? {marker}", temperature=0.0) for number in range(count)]


def _alternating(count: int, marker: str) -> list[Request]:
    """Return requests of which every other one has a marker."""
    pairs = zip(_requests(count, marker), _requests(count), strict=True)
    return [one for pair in pairs for one in pair]


@asynccontextmanager
async def _connected(
    url: str, *, timeout_s: float = 10.0, connections: int = 64, **limits: Any
) -> AsyncIterator[Client]:
    """Give a client of the server at *url*."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_BASE_URL", url)
        patch.setenv("OPENAI_API_KEY", "none")
        for proxy in ("HTTP_PROXY", "ALL_PROXY", "http_proxy", "all_proxy"):
            patch.delenv(proxy, raising=False)
        provider = OpenaiProvider("m", timeout_s=timeout_s)
        provider.prepare()
    async with aclosing(provider):
        yield Client(provider, **{"slots": Slots(connections), **limits})


def _ask_all(
    url: str, requests: Sequence[Request], **client: Any
) -> list[Response | BaseException]:
    """Ask all at once; return answers and faults."""

    async def ask() -> list[Response | BaseException]:
        async with _connected(url, **client) as connected:
            asked = map(connected.ask, requests)
            return await asyncio.gather(*asked, return_exceptions=True)

    return asyncio.run(ask())


def _patient(patience_s: float) -> dict[str, Any]:
    """Return what makes a client wait so long for the model, which it begins to ask slowly."""
    return {"slots": Slots(64, first=4), "patience": Patience("m", patience_s=patience_s)}


def _unreachable() -> Patience:
    """Return a patience that gives up on a server that never replied after 0.2 s."""
    patience = Patience()
    patience._unreachable_s = 0.2
    return patience


def test_a_rate_limited_server_answers_all_at_its_own_pace() -> None:
    """200 requests, 64 at once, to a server that takes 16: all answered, few refused."""
    with spawned(delay_s=0.2, max_in_flight=16) as url:
        slots = Slots(64)
        outcomes = _ask_all(url, _requests(200), slots=slots)
        assert 200 == sum(isinstance(outcome, Response) for outcome in outcomes)
        assert 16 == stats(url)["max_in_flight"]
        assert stats(url)["statuses"]["429"] <= 48 + 6  # the first burst and a few probes
        # It probes for more while the last answers come, longer on a machine that is busy.
        assert 15 <= slots.limit < 32


def test_sixty_four_connections_are_kept_busy() -> None:
    """A server that answers 64 requests at a time, and no fewer, answers all of 256."""
    with spawned(together=64) as url:
        outcomes = _ask_all(url, _requests(256), connections=64)
        assert 256 == sum(isinstance(outcome, Response) for outcome in outcomes)
        assert 64 == stats(url)["max_in_flight"]


def test_faults_that_pass_are_tried_again() -> None:
    """The second attempt is answered, whatever the first one met."""
    modes = ["500", "503", "529", "html", "html502", "half_json", "close", "drop", "empty_choices"]
    with serving(retry_after="0.01") as server:
        requests = [request for mode in modes for request in _requests(1, f"[[{mode}*1]]")]
        outcomes = _ask_all(server.url, requests, connections=16)
        assert {Response} == {type(outcome) for outcome in outcomes}
        assert {2} == set(stats(server.url)["prompts"].values())


@pytest.mark.parametrize(
    ("marker", "attempts", "outcome", "said", "asked"),
    [
        ("[[401]]", 6, PermanentFault, "", 1),
        ("[[503]]", 3, TransientFault, "gave up after 3 failed attempts", 3),
        ("[[429*9]]", 2, Response, "", 10),
    ],
    ids=["a wrong key", "an overloaded server", "rate limits"],
)
def test_attempts_are_used_up_by_faults_that_may_pass(
    marker: str, attempts: int, outcome: type[object], said: str, asked: int
) -> None:
    """Others are not asked about again, and rate limits do not count."""
    with serving(retry_after="0.01") as server:
        (met,) = _ask_all(server.url, _requests(1, marker), connections=4, attempts=attempts)
        assert isinstance(met, outcome)
        assert said in str(met)
        assert asked == server.requests


NO_WAITS = (
    *("3600", "-5", "nan", "inf", "1" + "0" * 400, "soon"),
    *("Fri, 31 Dec 9999 23:59:59 GMT", "Fri, 31 Dec 99999999999999999999 23:59:59 GMT"),
)
"""What no Retry-After should say: nobody sits through an hour, and no calendar has the dates."""


@pytest.mark.parametrize(
    ("mode", "retry_after", "count", "least"),
    [
        *(("429", "0.05", count, 1) for count in (1, 40)),  # on a busy machine one takes it all
        *(("429", retry_after, 30, 5) for retry_after in NO_WAITS),
        *((mode, "", 160, 6) for mode in ("500", "503", "html", "close")),
    ],
)
def test_a_server_that_never_answers_is_probed_until_the_patience_is_over(
    mode: str, retry_after: str, count: int, least: int
) -> None:
    """One patience for all requests together, and some twenty attempts, however many they are."""
    with serving(mode=mode, retry_after=retry_after) as server:
        outcomes = _ask_all(server.url, _requests(count), **_patient(0.5))
        assert {GivenUp} == {type(outcome) for outcome in outcomes}
        assert any("no answer for 0.5 s (--xling-timeout)" in str(outcome) for outcome in outcomes)
        assert least <= server.requests <= 25


def test_a_storm_that_passes_costs_no_answer() -> None:
    """What fails at first is asked again with care, and then at full speed."""
    with serving(fail_first=8, fail_mode="500", retry_after="") as server:
        outcomes = _ask_all(server.url, _requests(160), **_patient(2.0))
        assert {Response} == {type(outcome) for outcome in outcomes}
        assert 168 == server.requests


def test_one_prompt_that_always_fails_stops_nobody_else() -> None:
    """The fault of one request is its own while others are answered."""
    with serving(retry_after_ms="10", delay_s=0.05) as server:
        requests = [*_requests(1, "[[503]]"), *_requests(100)]
        outcomes = _ask_all(
            server.url,
            requests,
            slots=Slots(4, first=4),
            patience=Patience("m", patience_s=5.0),
            attempts=4,
        )
        assert isinstance(outcomes[0], TransientFault)
        assert {Response} == {type(outcome) for outcome in outcomes[1:]}


@pytest.mark.parametrize("mode", ["401", "403", "404", "quota"])
def test_what_every_request_would_meet_stops_after_a_handful(mode: str) -> None:
    """160 requests at 64 connections ask four times; all others say why they were not."""
    with serving(mode=mode) as server:
        outcomes = _ask_all(server.url, _requests(160), **_patient(5.0))
        assert {GivenUp, PermanentFault} == {type(outcome) for outcome in outcomes}
        assert 4 >= server.requests
        (cause,) = {outcome.cause for outcome in outcomes if isinstance(outcome, GivenUp)}
        assert {cause} == {str(o) for o in outcomes if not isinstance(o, GivenUp)}


def test_what_one_prompt_meets_stops_nobody_else() -> None:
    """Now and then a filter before the server answers 403: the key is all right."""
    with serving() as server:
        outcomes = _ask_all(server.url, _alternating(20, "[[403]]"), connections=1)
        assert 20 == sum(isinstance(outcome, Response) for outcome in outcomes)
        assert 40 == server.requests


async def test_what_is_under_way_when_the_provider_is_given_up_is_kept() -> None:
    """An answer that is being made is paid for."""
    with serving(delay_s=0.3) as slow, serving(mode="401") as wrong:
        async with _connected(slow.url) as client:
            shared: dict[str, Any] = {"slots": client.slots, "patience": client.patience}
            answered = asyncio.create_task(client.ask(*_requests(1)))
            await asyncio.sleep(0.1)
            async with _connected(wrong.url, **shared) as same:
                asked = map(same.ask, _requests(5))
                outcomes = await asyncio.gather(*asked, return_exceptions=True)
            assert client.patience.stopped
            assert not any(isinstance(outcome, Response) for outcome in outcomes)
            assert isinstance(await answered, Response)


def test_retry_after_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not a moment less than the server asks, and hardly more."""
    waits_s: list[float] = []
    sleep = asyncio.sleep

    async def noted(seconds: float) -> None:
        waits_s.append(seconds)
        await sleep(seconds)

    monkeypatch.setattr(asyncio, "sleep", noted)
    with serving(retry_after="0.6") as server:
        outcomes = _ask_all(server.url, _requests(1, "[[429*1]]"), connections=4)
    assert isinstance(outcomes[0], Response)
    (wait_s,) = filter(None, waits_s)
    assert 0.6 <= wait_s <= 1.0


async def test_waiting_holds_no_slot() -> None:
    """While one request waits for its Retry-After, the only slot serves others."""
    done: list[Request] = []
    with serving(retry_after="0.5") as server:
        requests = [*_requests(1, "[[503*1]]"), *_requests(10)]
        async with _connected(server.url, connections=2) as client:

            async def one(request: Request) -> None:
                await client.ask(request)
                done.append(request)

            await asyncio.gather(*map(one, requests))
    assert requests[0] == done[-1]


def test_a_hanging_server_is_given_up_after_the_second_volley() -> None:
    """100 requests do not each wait for their six time-outs."""
    with serving(mode="hang") as server:
        outcomes = _ask_all(
            server.url, _requests(100), connections=10, patience=_unreachable(), timeout_s=0.4
        )
        assert not any(isinstance(outcome, Response) for outcome in outcomes)
        assert sum("unreachable" in str(outcome) for outcome in outcomes) >= 90
        assert server.requests <= 35


def test_a_server_that_answers_now_and_then_is_not_given_up() -> None:
    """A row of failures ends with any reply."""
    with serving() as server:
        patience = _unreachable()
        requests = _alternating(12, "[[hang*1]]")
        outcomes = _ask_all(server.url, requests, connections=4, patience=patience, timeout_s=0.2)
        assert all(isinstance(outcome, Response) for outcome in outcomes)
        assert not patience.stopped


def test_the_budget_is_checked_before_each_request() -> None:
    """Answers cost 20 tokens; the cap is reached after the fifth, and no sixth is sent."""
    with serving() as server:
        account = Account(Budget(100 / 1_000_000), 1.0, 1.0)
        outcomes = _ask_all(server.url, _requests(20), connections=1, account=account)
        assert 5 == sum(isinstance(outcome, Response) for outcome in outcomes)
        assert [BudgetExceeded] + 14 * [GivenUp] == [type(outcome) for outcome in outcomes[5:]]
        assert "--xling-max-cost" in str(outcomes[-1])
        assert 5 == server.requests
        assert pytest.approx(100 / 1_000_000) == account.spent_usd


async def test_cancelling_frees_everything() -> None:
    """In a slot, before a slot or waiting to retry: afterwards no slot is taken."""
    with serving(retry_after="5") as server:
        async with _connected(server.url, connections=3) as client:
            requests = [*_requests(1, "[[503]]"), *_requests(8, "[[hang]]")]
            tasks = [asyncio.create_task(client.ask(request)) for request in requests]
            await asyncio.sleep(0.3)
            for task in tasks:
                task.cancel()
            outcomes = await asyncio.gather(*tasks, return_exceptions=True)
            assert {asyncio.CancelledError} == {type(outcome) for outcome in outcomes}
            assert 0 == client.slots.in_flight
