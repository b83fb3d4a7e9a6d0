"""What tests of the engine ask, and the stores that keep it."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, closing
from typing import TYPE_CHECKING

from pytest_xling.engine.client import Client
from pytest_xling.engine.job import Job
from pytest_xling.engine.memo import AnswerMemo
from pytest_xling.engine.store_writer import StoreWriter
from pytest_xling.records import Message, Request, Response, Sample
from pytest_xling.store.database import Database

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence

    from pytest_xling.config.store_location import StoreLocation
    from pytest_xling.interfaces.provider import Provider
    from pytest_xling.keys import JsonValue


def request(question: object, **params: JsonValue) -> Request:
    """Return a request that asks *question*."""
    messages = (Message(role="user", content=str(question)),)
    return Request(model="m", messages=messages, params=params)


@asynccontextmanager
async def opened(location: StoreLocation) -> AsyncIterator[StoreWriter]:
    """A store at *location*."""
    with closing(Database(location)) as database:
        store = StoreWriter(database)
        try:
            yield store
        finally:
            await store.aclose()


def ask(
    location: StoreLocation, provider: Provider, *questions: object
) -> list[str | BaseException | None]:
    """Ask *questions* at once; return the answers' texts, and for some why there is none."""

    async def asked() -> list[str | BaseException | None]:
        async with opened(location) as store:
            memo = await AnswerMemo.open(Client(provider), store)
            answers = await asyncio.gather(
                *(memo(request(question)) for question in questions), return_exceptions=True
            )
            return [a.text if isinstance(a, Response) else a for a in answers]

    return asyncio.run(asyncio.wait_for(asked(), 300))


def asked_twice(questions: Mapping[str, Sequence[str]], metrics: Sequence[str]) -> list[Job]:
    """Return two jobs for each of *questions*, which are by language."""
    return [
        Job(
            case_id=f"q{number}-{language}-r{repeat}",
            benchmark="b",
            sample=Sample(
                id=f"q{number}",
                benchmark="b",
                language=language,
                prompt={"question": text},
                reference="Yeast makes gas.",
            ),
            condition=f"r{repeat}" if repeat else "",
            position=2 * number + repeat,
            request=Request(
                model="m",
                messages=(Message(role="user", content=text),),
                params={},
                repeat=repeat,
                sample_id=f"q{number}",
                language=language,
            ),
            metrics=tuple(metrics),
            pivot="en",
        )
        for language, texts in questions.items()
        for number, text in enumerate(texts)
        for repeat in range(2)
    ]
