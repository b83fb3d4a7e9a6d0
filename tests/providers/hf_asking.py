"""Ask the `hf` provider: alone, or many requests at once."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from pytest_xling.errors import PermanentFault
from pytest_xling.providers.hf import HfProvider
from pytest_xling.records import Message, Request, Response

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pytest_xling.keys import JsonValue

__all__ = ["alone", "answers", "ask", "asking", "fault"]


def asking(text: str, **params: JsonValue) -> Request:
    """Return a greedy request for 12 tokens, or as *params* say."""
    return Request(
        model="m",
        messages=(Message(role="user", content=text),),
        params={"temperature": 0.0, "max_tokens": 12, **params},
    )


def ask(
    folder: Path, requests: Sequence[Request], *, timeout_s: float = 120.0
) -> list[Response | BaseException]:
    """Ask all at once."""

    async def main() -> list[Response | BaseException]:
        provider = HfProvider(str(folder), device="cpu", timeout_s=timeout_s)
        provider.check()
        try:
            return await asyncio.gather(
                *(provider.generate(r) for r in requests), return_exceptions=True
            )
        finally:
            await provider.aclose()

    return asyncio.run(main())


def answers(folder: Path, requests: Sequence[Request]) -> list[Response]:
    """Ask all at once; there must be answers."""
    found = []
    for answer in ask(folder, requests):
        assert isinstance(answer, Response), answer
        found.append(answer)
    return found


def alone(folder: Path, requests: Sequence[Request]) -> list[str | None]:
    """Return the answers to *requests*, asked one after the other."""

    async def main() -> list[str | None]:
        provider = HfProvider(str(folder), device="cpu")
        try:
            return [(await provider.generate(each)).text for each in requests]
        finally:
            await provider.aclose()

    return asyncio.run(main())


def fault(folder: Path, request: Request, *, timeout_s: float = 120.0) -> str:
    """Return what the fault says that *request* must meet."""
    (answer,) = ask(folder, [request], timeout_s=timeout_s)
    assert isinstance(answer, PermanentFault), answer
    return str(answer)
