"""Asking: one that breaks takes no other with it, and what comes in is clean."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from pytest_xling.engine.answering import Answering, Gate
from pytest_xling.engine.limits import AdaptiveLimit
from pytest_xling.errors import PermanentFault
from pytest_xling.providers.scripted import ScriptedProvider
from pytest_xling.records import Message, Request, Response

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_xling.errors import XlingError


class Careless(ScriptedProvider):
    """Breaks on "break", cancels itself on "cancel", else repeats the question as it is."""

    async def generate(self, request: Request) -> Response:
        """Answer after the others have begun."""
        await asyncio.sleep(0.01)
        question = request.messages[0].content
        if question == "break":
            raise KeyError(question)
        if question == "cancel":
            raise asyncio.CancelledError
        await asyncio.sleep(0.02)
        return Response(text=question, stop_reason="stop", model_version=question, error=question)


def request(question: str) -> Request:
    """Return a request that asks *question*."""
    return Request(model="m", messages=(Message(role="user", content=question),), params={})


def answer(questions: Sequence[str]) -> tuple[dict[int, Response], dict[int, XlingError]]:
    """Ask *questions* at once; return what was answered and what failed."""
    provider: Any = Careless()
    done: dict[int, Response] = {}
    failed: dict[int, XlingError] = {}

    async def ask() -> None:
        step = Answering(provider, limit=AdaptiveLimit(8), cap=None)
        await step.compute(list(map(request, questions)), done.__setitem__, failed.__setitem__)

    asyncio.run(ask())
    return done, failed


@pytest.mark.parametrize("how", ["break", "cancel"])
def test_a_bug_in_a_provider_costs_its_own_request_only(how: str) -> None:
    """Those beside it are paid for: they are answered, and the fault says what broke."""
    done, failed = answer(["a", how, "c"])
    assert {0: "a", 2: "c"} == {index: response.text for index, response in done.items()}
    assert [1] == list(failed)
    assert isinstance(failed[1], PermanentFault)
    assert "provider 'scripted' broke" in str(failed[1])


def test_what_a_provider_says_comes_in_clean() -> None:
    """A lone surrogate can be neither hashed nor stored nor reported."""
    done, _ = answer(["a\ud83d b"])
    assert {"a\ufffd b"} == {done[0].text, done[0].model_version, done[0].error}


def test_a_shut_gate_lets_what_is_under_way_go_on() -> None:
    """And says why nothing else goes through."""

    async def two() -> tuple[Response | BaseException, Response | BaseException]:
        provider: Any = Careless()
        gate = Gate(provider)
        first = asyncio.create_task(gate.generate(request("a")))
        await asyncio.sleep(0)
        gate.shut("the disk is full")
        return await asyncio.gather(first, gate.generate(request("b")), return_exceptions=True)

    first, second = asyncio.run(two())
    assert isinstance(first, Response)
    assert isinstance(second, PermanentFault)
    assert "the disk is full; this was not asked" in str(second)


async def _abandoned(gate: Gate) -> list[object]:
    asked = [asyncio.create_task(gate.generate(request(text))) for text in ("a", "b")]
    await asyncio.sleep(0)
    gate.abandon("nobody waits")
    return await asyncio.gather(*asked, gate.generate(request("c")), return_exceptions=True)


def test_what_is_abandoned_is_dropped_at_once() -> None:
    """What is under way fails as what comes later does; nobody waits for an answer."""

    class Slow(ScriptedProvider):
        async def generate(self, request: Request) -> Response:  # noqa: ARG002  never answers
            await asyncio.Event().wait()
            raise AssertionError

    found = asyncio.run(_abandoned(Gate(Slow(""))))
    assert ["PermanentFault", "PermanentFault", "GivenUp"] == [
        type(fault).__name__ for fault in found
    ]
    assert "nobody waits; the answer was not waited for" == str(found[0])
    assert "nobody waits; this was not asked" == str(found[2])
