"""Ask a provider: one request after another, or all at once."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from pytest_xling.records import Message, Request

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_xling.interfaces.provider import Provider
    from pytest_xling.keys import JsonValue
    from pytest_xling.records import Response


def request(*messages: Message | str, params: Mapping[str, JsonValue], **fields: Any) -> Request:
    """Return the request with these messages, those of text the user's."""
    turns = (Message(role="user", content=m) if isinstance(m, str) else m for m in messages)
    return Request(**{"model": "m", "messages": tuple(turns), "params": params, **fields})


def ask(provider: Provider, *requests: Request) -> list[Response]:
    """Check *provider*, ask it one after another, and close it."""

    async def main() -> list[Response]:
        provider.check()
        try:
            return [await provider.generate(each) for each in requests]
        finally:
            await provider.aclose()

    return asyncio.run(main())


def at_once(provider: Provider, *requests: Request) -> list[Response | BaseException]:
    """Check *provider*, ask it all together, and close it; a fault stands for its answer."""

    async def main() -> list[Response | BaseException]:
        provider.check()
        try:
            asked = map(provider.generate, requests)
            return await asyncio.gather(*asked, return_exceptions=True)
        finally:
            await provider.aclose()

    return asyncio.run(main())
