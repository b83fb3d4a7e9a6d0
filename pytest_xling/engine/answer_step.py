"""The step of asking a model: what the memo keeps answers by."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, ClassVar

from pytest_xling.engine.answering import (
    decode_response,
    encode_response,
    identity,
    kept_as,
    request_key,
)
from pytest_xling.errors import PermanentFault, XlingError
from pytest_xling.keys import canonical_json

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence

    from pytest_xling.engine.client import Client
    from pytest_xling.keys import JsonValue
    from pytest_xling.records import Request, Response


class Answering:
    """The step of asking a model; each answer is kept as soon as it is there.

    Args:
        client: asks.
        edition: keeps its answers beside earlier ones to the same requests; "" for none.
    """

    kind: ClassVar[str] = "answer"
    exclusive = True

    def __init__(self, client: Client, *, edition: str = "") -> None:
        self.client = client
        self.name = kept_as(client.provider)
        self.version = "1"
        self.parameters: Mapping[str, JsonValue] = {"edition": edition} if edition else {}

    def key(self, request: Request) -> bytes:
        """Return the content key: all that determines the answer, and the repeat."""
        return request_key(self.client.provider, request)

    def payload(self, request: Request) -> str:
        """Return the request as JSON."""
        return canonical_json(identity(self.client.provider, request))

    def encode(self, response: Response) -> str:
        """Return *response* as JSON."""
        return encode_response(response)

    def decode(self, text: str) -> Response:
        """Return the response in *text*."""
        return decode_response(json.loads(text))

    def cost_usd(self, response: Response) -> float:
        """Return what *response* cost."""
        account = self.client.account
        return account.price(response.usage) if account is not None else 0.0

    async def compute(
        self, requests: Sequence[Request]
    ) -> AsyncIterator[dict[int, Response | XlingError]]:
        """Ask *requests*, one after the other: the memo has each computed in a task of its own."""
        for index, request in enumerate(requests):
            try:
                yield {index: await self.client.ask(request)}
            except XlingError as fault:
                yield {index: fault}

    def broken(self, error: BaseException) -> PermanentFault:
        """Return a fault that says what the provider broke with."""
        fault = PermanentFault(f"provider {self.name!r} broke: {error!r}")
        fault.__cause__ = error
        return fault
