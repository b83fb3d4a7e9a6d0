"""The step that asks a provider."""

from __future__ import annotations

import asyncio
import json
import math
from typing import TYPE_CHECKING, Any, ClassVar

from pytest_xling.engine.asking import Gate, ask, ask_in_batches
from pytest_xling.errors import PermanentFault, XlingError
from pytest_xling.interfaces.batching import Batching
from pytest_xling.keys import canonical_json, content_key
from pytest_xling.records import Message, Request, Response, ToolCall, Usage
from pytest_xling.text.display import clean

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping, Sequence

    from pytest_xling.engine.batch_queue import BatchQueue
    from pytest_xling.engine.limits import AdaptiveLimit, CostCap
    from pytest_xling.interfaces.provider import Provider
    from pytest_xling.keys import JsonValue


class Answering:
    """Asks a provider; each answer is kept as soon as it is there.

    Args:
        provider: who answers.
        limit: how many requests may be in flight.
        cap: what may be spent; None where nothing costs.
        batches: through which the provider is asked; None where it is asked one by one.
        edition: keeps its answers beside earlier ones to the same requests; "" for none.
        held: whether nothing is to be asked just now.
    """

    kind: ClassVar[str] = "answer"
    exclusive = True

    def __init__(
        self,
        provider: Provider,
        *,
        limit: AdaptiveLimit,
        cap: CostCap | None,
        batches: BatchQueue | None = None,
        edition: str = "",
        held: Callable[[], bool] = bool,
    ) -> None:
        self.name = kept_as(provider)
        self.version = "1"
        self.parameters: Mapping[str, JsonValue] = {"edition": edition} if edition else {}
        self.gate = Gate(batches or provider, held=held)
        self.batches = batches
        self._provider = provider
        self._limit = limit
        self._cap = cap
        self.asking = asyncio.Event()
        """Set once anything had to be asked."""

    def key(self, request: Request) -> bytes:
        """Return the content key: all that determines the answer, and the repeat."""
        return request_key(self._provider, request)

    def payload(self, request: Request) -> str:
        """Return the request as JSON."""
        return canonical_json(_identity(self._provider, request))

    def encode(self, response: Response) -> str:
        """Return *response* as JSON."""
        return encode_response(response)

    def decode(self, text: str) -> Response:
        """Return the response in *text*."""
        return decode_response(json.loads(text))

    def cost_usd(self, response: Response) -> float:
        """Return what *response* cost."""
        return self._cap.price(response.usage) if self._cap is not None else 0.0

    async def compute(
        self, requests: Sequence[Request]
    ) -> AsyncIterator[dict[int, Response | XlingError]]:
        """Ask *requests*, one after the other: the memo has each computed in a task of its own."""
        self.asking.set()
        for index, request in enumerate(requests):
            yield {index: await self._answer(request)}

    async def _answer(self, request: Request) -> Response | XlingError:
        try:
            if self.batches is not None:
                return await ask_in_batches(self.gate, request)
            return await ask(self.gate, request, limit=self._limit, cap=self._cap)
        except XlingError as fault:
            return fault

    def broken(self, error: BaseException) -> PermanentFault:
        """Return a fault that says what the provider broke with."""
        fault = PermanentFault(f"provider {self.name!r} broke: {error!r}")
        fault.__cause__ = error
        return fault


def request_key(provider: Provider, request: Request) -> bytes:
    """Return the content key of a request: all that determines the answer, and the repeat."""
    return content_key(_identity(provider, request))


def provider_digest(provider: Provider, model: str = "") -> str:
    """Return a digest of all a provider knows of a model: address, weights, versions."""
    bare = Request(model=model, messages=(Message(role="user", content=""),), params={})
    return content_key(provider.identify(bare)).hex()


def kept_as(provider: Provider) -> str:
    """Return the name under which a provider's answers are kept."""
    return provider.answers_as if isinstance(provider, Batching) else provider.name


def _identity(provider: Provider, request: Request) -> dict[str, JsonValue]:
    release: dict[str, JsonValue] = {"release": request.release} if request.release else {}
    return {**provider.identify(request), **release, "repeat": request.repeat}


def encode_response(response: Response) -> str:
    """Return *response* as JSON."""
    encoded: dict[str, JsonValue] = {
        "text": response.text,
        "stop_reason": response.stop_reason,
        "usage": [response.usage.prompt_tokens, response.usage.completion_tokens],
        "latency_s": round(response.latency_s, 4),
        "model_version": response.model_version,
        "error": response.error,
    }
    if response.usage.estimated:
        encoded["usage_estimated"] = True
    if response.first_token:
        finite = [(token, p) for token, p in response.first_token if math.isfinite(p)]
        encoded["first_token"] = [[clean(token), p] for token, p in finite]
    if response.left_out:
        encoded["left_out"] = list(response.left_out)
    if response.thoughts:
        encoded["thoughts"] = response.thoughts
    if response.tool_calls:
        encoded["tool_calls"] = [[c.name, c.arguments, c.id] for c in response.tool_calls]
    return canonical_json(encoded)


def decode_response(read: dict[str, Any]) -> Response:
    """Return the response :func:`encode_response` was given."""
    prompt_tokens, completion_tokens = read["usage"]
    return Response(
        text=read["text"],
        stop_reason=read["stop_reason"],
        usage=Usage(
            prompt_tokens=prompt_tokens,
            completion_tokens=completion_tokens,
            estimated=read.get("usage_estimated", False),
        ),
        latency_s=read["latency_s"],
        model_version=read["model_version"],
        error=read["error"],
        first_token=tuple((token, logprob) for token, logprob in read.get("first_token", ())),
        left_out=tuple(read.get("left_out", ())),
        thoughts=read.get("thoughts", ""),
        tool_calls=tuple(
            ToolCall(name=name, arguments=arguments, id=number)
            for name, arguments, number in read.get("tool_calls", ())
        ),
    )
