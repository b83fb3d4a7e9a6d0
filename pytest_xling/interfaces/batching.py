"""Providers that answer many requests together, some hours later, for less."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Protocol, runtime_checkable

from pytest_xling.interfaces.provider import Provider

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_xling.errors import ProviderFault
    from pytest_xling.records import Request, Response


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchState:
    """What a service says of a batch."""

    id: str
    status: str
    """In its own word."""
    over: bool
    """Whether nothing more comes of it: it is completed, failed, expired or cancelled."""
    completed: int = 0
    failed: int = 0
    files: tuple[str, ...] = ()
    """Where results are: answers and errors. A service may have some before the batch is over."""
    fault: ProviderFault | None = None
    """Why none of it was asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A request as a line of a file."""

    text: bytes
    left_out: tuple[str, ...]
    """Optional params of the request that the server does not take."""


class BatchService(Protocol):
    """A service that is given requests as files and asked for the results later.

    Every coroutine makes one attempt, and raises RateLimited, TransientFault or PermanentFault.
    """

    max_requests: ClassVar[int]
    """In one batch."""
    max_bytes: ClassVar[int]
    """In the file of one."""

    @property
    def url(self) -> str:
        """Its address, without credentials."""
        ...

    def line(self, key: str, request: Request) -> Line:
        """Return the line that asks *request*; its result is found by *key*."""
        ...

    async def upload(self, lines: bytes) -> str:
        """Hand in a file of requests, which costs nothing yet, and return its id."""
        ...

    async def delete(self, file: str) -> None:
        """Delete a file, if it is there, so that no batch can be begun of it any more."""
        ...

    async def begin(self, file: str) -> BatchState:
        """Have the requests in a file answered: that is paid for."""
        ...

    async def find(self, file: str, *, since_s: float) -> BatchState | None:
        """Return the batch that was begun of a file; None where none was.

        Args:
            file: its id.
            since_s: when it was handed in, in seconds since 1970.
        """
        ...

    async def state(self, batch: str) -> BatchState | None:
        """Return what has become of a batch; None where the service knows none of that id."""
        ...

    async def results(
        self,
        state: BatchState,
        requests: Mapping[str, Request],
        left_out: Mapping[str, tuple[str, ...]],
    ) -> dict[str, Response | ProviderFault]:
        """Return, by key, what there is by now of the results of *requests*.

        Args:
            state: of the batch.
            requests: whose results to return.
            left_out: the params each was sent without.
        """
        ...

    async def cancel(self, batch: str) -> BatchState | None:
        """Have no more of a batch answered; None where the service knows none of that id."""
        ...


@runtime_checkable
class Batching(Provider, Protocol):
    """A provider that is asked through batches instead of by ``generate``."""

    answers_as: ClassVar[str]
    """The provider that would give the same answers: they are kept under its name."""
    price_share: ClassVar[float]
    """What an answer costs there, as a share of the list price."""

    def service(self) -> BatchService:
        """Return the service; its connections are given back by ``aclose``."""
        ...
