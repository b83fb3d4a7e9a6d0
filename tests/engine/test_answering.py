"""Answers: one that breaks takes no other with it, what comes in is clean, and is kept whole."""

from __future__ import annotations

import asyncio
import json
import math
from typing import TYPE_CHECKING, Any

import pytest

from pytest_xling.engine.answering import decode_response, encode_response
from pytest_xling.engine.client import Client
from pytest_xling.engine.memo import AnswerMemo
from pytest_xling.engine.store_writer import StoreWriter
from pytest_xling.errors import PermanentFault
from pytest_xling.providers.scripted import ScriptedProvider
from pytest_xling.records import Message, Request, Response
from pytest_xling.store.database import Database
from pytest_xling.store.outputs import owners

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


class Careless(ScriptedProvider):
    """Breaks on "break", cancels itself on "cancel", else repeats the question; odd on "odd"."""

    async def generate(self, request: Request) -> Response:
        """Answer after the others have begun."""
        await asyncio.sleep(0.01)
        question = request.messages[0].content
        if question == "break":
            raise KeyError(question)
        if question == "cancel":
            raise asyncio.CancelledError
        await asyncio.sleep(0.02)
        if question == "odd":
            return Response(text="b", stop_reason="stop", latency_s="soon")  # type: ignore[arg-type]  # what is tested
        return Response(text=question, stop_reason="stop", model_version=question, error=question)


def request(question: str) -> Request:
    """Return a request that asks *question*."""
    return Request(model="m", messages=(Message(role="user", content=question),), params={})


def answer(path: Path, questions: Sequence[str]) -> list[Any]:
    """Ask *questions* at once, through a memo; return responses, and errors in their place."""
    provider: Any = Careless()

    async def ask() -> list[Any]:
        database = Database(path / "s.sqlite")
        store = StoreWriter(database)
        memo = await AnswerMemo.open(Client(provider), store)
        answers = map(memo, map(request, questions))
        outcomes = await asyncio.gather(*answers, return_exceptions=True)
        await store.aclose()
        with database.read() as connection:
            assert not owners(connection)  # nothing is still claimed
        database.close()
        return outcomes

    return asyncio.run(ask())


@pytest.mark.parametrize("how", ["break", "cancel"])
def test_a_bug_in_a_provider_costs_its_own_request_only(tmp_path: Path, how: str) -> None:
    """Those beside it are paid for: they are answered, and the fault says what broke."""
    first, fault, last = answer(tmp_path, ["a", how, "c"])
    assert isinstance(first, Response)
    assert isinstance(last, Response)
    assert ("a", "c") == (first.text, last.text)
    assert isinstance(fault, PermanentFault)
    assert "provider 'scripted' broke" in str(fault)


def test_an_answer_that_cannot_be_kept_costs_its_own_request_only(tmp_path: Path) -> None:
    """A provider that gives its latency as text is told of as one that breaks."""
    first, fault = answer(tmp_path, ["a", "odd"])
    assert isinstance(first, Response)
    assert isinstance(fault, PermanentFault)
    assert "provider 'scripted' broke" in str(fault)


def test_what_a_provider_says_comes_in_clean() -> None:
    """A lone surrogate can be neither hashed nor stored nor reported."""
    provider: Any = Careless()

    response = asyncio.run(Client(provider).ask(request("a\ud83d b")))
    assert {"a\ufffd b"} == {response.text, response.model_version, response.error}


def test_a_shut_client_lets_what_is_under_way_go_on() -> None:
    """And says why nothing else goes through."""

    async def two() -> tuple[Response | BaseException, Response | BaseException]:
        provider: Any = Careless()
        client = Client(provider)
        first = asyncio.create_task(client.ask(request("a")))
        await asyncio.sleep(0)
        client.shut("the disk is full")
        return await asyncio.gather(first, client.ask(request("b")), return_exceptions=True)

    first, second = asyncio.run(two())
    assert isinstance(first, Response)
    assert isinstance(second, PermanentFault)
    assert "the disk is full; this was not asked" in str(second)


async def _abandoned(client: Client) -> list[object]:
    asked = [asyncio.create_task(client.ask(request(text))) for text in ("a", "b")]
    await asyncio.sleep(0)
    client.abandon("nobody waits")
    return await asyncio.gather(*asked, client.ask(request("c")), return_exceptions=True)


def test_what_is_abandoned_is_dropped_at_once() -> None:
    """What is under way fails as what comes later does; nobody waits for an answer."""

    class Slow(ScriptedProvider):
        async def generate(self, request: Request) -> Response:  # noqa: ARG002  never answers
            await asyncio.Event().wait()
            raise AssertionError

    found = asyncio.run(_abandoned(Client(Slow(""))))
    assert ["PermanentFault", "PermanentFault", "GivenUp"] == [
        type(fault).__name__ for fault in found
    ]
    assert "nobody waits; the answer was not waited for" == str(found[0])
    assert "nobody waits; this was not asked" == str(found[2])


def test_log_probabilities_come_back_from_the_store() -> None:
    """Exactly, in their order."""
    response = Response(
        text="Yes", stop_reason="stop", first_token=((" Yes", -0.1), (" 是", -2.5), ("No", -9999.0))
    )
    assert response == decode_response(json.loads(encode_response(response)))


def test_a_row_without_them_is_read_as_before() -> None:
    """They are left out where there are none, so that old rows and new ones are alike."""
    response = Response(text="Yes", stop_reason="stop")
    stored = json.loads(encode_response(response))
    assert "first_token" not in stored
    assert response == decode_response(stored)


def test_what_no_store_can_keep_is_left_out() -> None:
    """A provider of another package may give what JSON or SQLite do not know."""
    odd = (("a\ud800", -1.0), ("b", math.nan), ("c", -math.inf))
    stored = encode_response(Response(text="Yes", stop_reason="stop", first_token=odd))
    assert (("a\ufffd", -1.0),) == decode_response(json.loads(stored)).first_token


def test_what_the_server_did_not_take_is_kept() -> None:
    """A reply asked for without its schema says so; one with all that was asked is as ever."""
    response = Response(text="Yes", stop_reason="stop", left_out=("response_format",))
    assert response == decode_response(json.loads(encode_response(response)))
    assert "left_out" not in encode_response(Response(text="Yes", stop_reason="stop"))
