"""The step that asks a provider."""

from __future__ import annotations

import asyncio
import contextlib
import json
import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from pytest_xling.engine.retries import ask
from pytest_xling.errors import GivenUp, PermanentFault, XlingError
from pytest_xling.keys import canonical_json, content_key
from pytest_xling.records import MOST_TOKENS, Response, Usage
from pytest_xling.text.display import clean

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pytest_xling.engine.limits import AdaptiveLimit, CostCap
    from pytest_xling.interfaces.provider import Provider
    from pytest_xling.keys import JsonValue
    from pytest_xling.records import Request

__all__ = ["Answering", "Gate", "decode_response", "encode_response", "request_key"]


class Gate:
    """Stands before a provider; once closed, nothing more is asked, what is under way goes on."""

    def __init__(self, provider: Provider) -> None:
        self._provider = provider
        self._closed = asyncio.Event()
        self._reason = "the run is being stopped"
        self._under_way: set[asyncio.Task[object]] = set()
        self._abandoned = False
        self._idle = asyncio.Event()

    async def generate(self, request: Request) -> Response:
        """Ask the provider unless closed; whatever it is, what it says comes in clean."""
        if self._closed.is_set():
            msg = f"{self._reason}; this was not asked"
            raise GivenUp(msg, cause=self._reason)
        task = asyncio.current_task()
        assert task is not None  # noqa: S101  for mypy: a coroutine runs in a task
        self._under_way.add(task)
        try:
            return _cleaned(await self._provider.generate(request))
        except asyncio.CancelledError:
            if not self._abandoned:
                raise
            task.uncancel()
            msg = f"{self._reason}; the answer was not waited for"
            raise PermanentFault(msg) from None
        finally:
            self._under_way.discard(task)
            if self._closed.is_set() and not self._under_way:
                self._idle.set()

    def shut(self, reason: str) -> None:
        """Let nothing more through, because of *reason*."""
        self._reason = reason
        self._closed.set()

    def abandon(self, reason: str) -> None:
        """Let nothing more through, because of *reason*, and drop what is under way."""
        self.shut(reason)
        self._abandoned = True
        for task in self._under_way:
            task.cancel()

    async def close(self, *, grace_s: float) -> None:
        """Let nothing more through, and wait up to *grace_s* for what is under way."""
        self._closed.set()
        if self._under_way:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._idle.wait(), grace_s)


class Answering:
    """Asks a provider; each answer is kept as soon as it is there.

    Args:
        provider: who answers.
        limit: how many requests may be in flight.
        cap: what may be spent; None where nothing costs.
    """

    kind: ClassVar[str] = "answer"
    exclusive = True

    def __init__(self, provider: Provider, *, limit: AdaptiveLimit, cap: CostCap | None) -> None:
        self.name = provider.name
        self.version = "1"
        self.parameters: Mapping[str, JsonValue] = {}
        self.gate = Gate(provider)
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
        self,
        requests: Sequence[Request],
        done: Callable[[int, Response], None],
        failed: Callable[[int, XlingError], None],
    ) -> None:
        """Ask all *requests* at once, as far as the limit lets them."""
        self.asking.set()

        async def one(index: int, request: Request) -> None:
            try:
                response = await ask(self.gate, request, limit=self._limit, cap=self._cap)
            except XlingError as error:
                failed(index, error)
            else:
                done(index, response)

        # One that breaks takes no other with it: those are paid for.
        tasks = (one(index, request) for index, request in enumerate(requests))
        for index, broken in enumerate(await asyncio.gather(*tasks, return_exceptions=True)):
            if broken is not None:
                fault = PermanentFault(f"provider {self.name!r} broke: {broken!r}")
                fault.__cause__ = broken
                failed(index, fault)


def _cleaned(response: Response) -> Response:
    """Return *response* with text that can be kept, and with counts that can be believed."""
    text, error, usage = response.text, response.error, response.usage
    return replace(
        response,
        usage=replace(
            usage,
            prompt_tokens=_believed(usage.prompt_tokens),
            completion_tokens=_believed(usage.completion_tokens),
        ),
        text=None if text is None else clean(text),
        error=None if error is None else clean(error),
        model_version=clean(response.model_version),
        first_token=tuple((clean(token), logprob) for token, logprob in response.first_token),
    )


def _believed(tokens: int) -> int:
    """Return a count of tokens; 0, which stands for none counted, where there cannot be so many."""
    return tokens if 0 <= tokens <= MOST_TOKENS else 0


def request_key(provider: Provider, request: Request) -> bytes:
    """Return the content key of a request: all that determines the answer, and the repeat."""
    return content_key(_identity(provider, request))


def _identity(provider: Provider, request: Request) -> dict[str, JsonValue]:
    return {**provider.identify(request), "repeat": request.repeat}


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
    )
