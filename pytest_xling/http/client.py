"""One question and its answer, through the official client of a service."""

from __future__ import annotations

import asyncio
import json
import time
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import httpx2

from pytest_xling.errors import PermanentFault, ProviderFault
from pytest_xling.http.faults import no_reply, passing, unusable
from pytest_xling.http.reply import EVERY_REQUEST, excerpt, read_json
from pytest_xling.http.transport import CONNECT_S, Pools, RedactedLogs, Screened

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_xling.http.endpoint import Endpoint
    from pytest_xling.keys import JsonValue
    from pytest_xling.records import Request, Response, ToolCall

_SAMPLING = "--xling-temperatures (=default sends none)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """What a service replied in place of an answer."""

    reply: httpx2.Response
    error: Mapping[str, Any]
    """What the body has under that key; empty where it is none of the service's own."""
    message: str
    """On one line, without secrets."""

    @property
    def status(self) -> int:
        """The status of the reply."""
        return self.reply.status_code


class HostedClient(ABC):
    """Asks one request, in the words that the service takes; no message holds a secret.

    Args:
        endpoint: the service.
        model: as it knows it.
        timeout_s: how long an exchange may take.
    """

    ends: ClassVar[str]
    """How the service's address usually ends, for messages."""
    never: ClassVar[frozenset[str]] = frozenset()
    """Params that the service has no word for."""

    def __init__(self, endpoint: Endpoint, model: str, *, timeout_s: float) -> None:
        self.endpoint = endpoint
        self.model = model
        self._timeout_s = timeout_s
        self._connect_s = min(CONNECT_S, timeout_s)
        self._not_taken: set[str] = set(self.never)
        self._logs = RedactedLogs(endpoint.secrets)
        self.http_client = httpx2.AsyncClient(
            transport=Screened(endpoint, Pools()),
            timeout=httpx2.Timeout(timeout_s, connect=self._connect_s, pool=None),
            # Another address would get questions and key, and a GET is no question.
            follow_redirects=False,
        )

    @abstractmethod
    def body(self, request: Request, params: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
        """Return *request* in the service's words, with *params*, of which none is None."""

    @abstractmethod
    async def send(self, body: Mapping[str, JsonValue]) -> httpx2.Response:
        """Return the reply to *body*, whatever its status; raise what the connection raised."""

    @abstractmethod
    def read(self, reply: object) -> Response:
        """Return the answer in *reply*, the JSON of a success.

        Raises:
            TransientFault, PermanentFault: there is none in it.
        """

    def path(self) -> str:
        """Return what requests add to the endpoint's address."""
        return ""

    def fault(self, refusal: Refusal, answered: str) -> ProviderFault | None:
        """Return the fault for a refusal that only this service words so; None for any other."""
        del refusal, answered
        return None

    async def ask(self, request: Request) -> Response:
        """Ask, and once more without a param that is not taken and can be done without.

        Raises:
            RateLimited, TransientFault, PermanentFault: nothing was answered.
        """
        given = {name: value for name, value in request.params.items() if value is not None}
        left_out = tuple(name for name in given if name in self._not_taken)
        while True:
            params = {name: value for name, value in given.items() if name not in left_out}
            start = time.perf_counter()
            reply = await self._exchange(self.body(request, params))
            if reply.is_success:
                read = self.read(read_json(reply.content, url=self.endpoint.url, ends=self.ends))
                self._not_taken.update(left_out)
                latency_s = time.perf_counter() - start
                return replace(read, latency_s=latency_s, left_out=left_out)
            refusal = self._refusal(reply)
            without = _dispensable(refusal, params)
            if not without:
                raise self._fault(refusal, params)
            left_out = (*left_out, without)

    async def _exchange(self, body: Mapping[str, JsonValue]) -> httpx2.Response:
        fault: ProviderFault
        try:
            # httpx2's time-out is for each read: a server that drips would never meet it.
            async with asyncio.timeout(self._timeout_s):
                return await self.send(body)
        except (TimeoutError, httpx2.HTTPError) as error:
            connecting = isinstance(error, httpx2.ConnectTimeout)
            waited_s = self._connect_s if connecting else self._timeout_s
            fault = no_reply(error, self.endpoint, timeout_s=waited_s)
        except ProviderFault as error:
            fault = error.with_traceback(None)  # whose frames hold what was sent
        raise fault  # out here, so that no traceback shows the client's exceptions

    def _refusal(self, reply: httpx2.Response) -> Refusal:
        try:
            body = json.loads(reply.content)
        except (ValueError, RecursionError):
            body = None
        error = body.get("error") if isinstance(body, dict) else None
        error = error if isinstance(error, dict) else {}
        told = error.get("message")
        text = told if isinstance(told, str) else reply.text or reply.reason_phrase
        message = excerpt(self.endpoint.secrets.redact(text))
        return Refusal(reply=reply, error=error, message=message)

    def _fault(self, refusal: Refusal, params: Mapping[str, JsonValue]) -> ProviderFault:
        """Return the fault for a reply whose status is no success."""
        reply, model = refusal.reply, self.model
        answered = f"{self.endpoint.url} answered {refusal.status}: {refusal.message!r}"
        fault = self.fault(refusal, answered) or passing(reply, answered)
        if fault is not None:
            return fault
        if refusal.status in EVERY_REQUEST or reply.is_redirect:
            advice = unusable(reply, self.endpoint, model=model, path=self.path(), ends=self.ends)
            return PermanentFault(f"{answered}. {advice}", every_request=True)
        if "temperature" in params and "temperature" in refusal.message:
            advice = f"Model {model!r} does not take this temperature: change or drop {_SAMPLING}"
            return PermanentFault(f"{answered}. {advice}", every_request=True)
        return PermanentFault(f"{answered}. Model {model!r} does not take this request")

    async def aclose(self) -> None:
        """Close all connections."""
        await self.http_client.aclose()
        self._logs.end()


def merged(body: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """Return *body* with *more* in it; objects that both have are merged likewise."""
    both = {
        name: merged(body[name], value)
        for name, value in more.items()
        if isinstance(value, dict) and isinstance(body.get(name), dict)
    }
    return {**body, **more, **both}


def schema_of(form: object) -> JsonValue:
    """Return the JSON schema in *form*, which is in the words of OpenAI's API; None without one."""
    told = form.get("json_schema") if isinstance(form, dict) else None
    return told.get("schema") if isinstance(told, dict) else None


def arguments_of(call: ToolCall) -> dict[str, JsonValue]:
    """Return the arguments of *call* by name; what is no JSON object stands under one name."""
    try:
        read = json.loads(call.arguments or "{}")
    except (ValueError, RecursionError):
        read = call.arguments
    return read if isinstance(read, dict) else {"arguments": read}


def _dispensable(refusal: Refusal, params: Mapping[str, JsonValue]) -> str:
    """Return a param without which the refused request may be taken; "" where there is none.

    Newer models take no temperature. That of 0 is our own wish for answers that can be had again;
    any other is the user's, and what was asked without it would be called by it.
    """
    if refusal.status not in {httpx2.codes.BAD_REQUEST, httpx2.codes.UNPROCESSABLE_CONTENT}:
        return ""
    told = refusal.message
    if "optional_logprobs" in params and "logprobs" in told.lower():
        return "optional_logprobs"
    if params.get("temperature") == 0 and "temperature" in told:
        return "temperature"
    # Not every service says that it is the schema that it does not take.
    return "response_format" if "response_format" in params else ""
