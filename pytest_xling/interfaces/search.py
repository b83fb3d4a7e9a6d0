"""Search providers: where evidence for claims comes from."""

from __future__ import annotations

import json
import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, ClassVar, Final

from pytest_xling.keys import canonical_json
from pytest_xling.records import Response

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_xling.keys import JsonValue
    from pytest_xling.records import PromptStyle, Request

RESULTS: Final = 10
"""Results of a search by default (VeriScore, section 3.2)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """One result of a search."""

    title: str
    text: str
    """What it says on the matter: a passage, or the snippet a search engine shows."""
    url: str = ""


class SearchProvider:
    """Finds evidence; a provider in the role ``search``, so the engine does the rest.

    What was found is kept and not searched again; searches are retried, limited and paid for as
    answers are. A subclass says its ``name`` and has :meth:`search`; one that depends on more than
    what follows its name in ``--xling-search=NAME:SPEC`` says so in :meth:`signed`.
    """

    name: ClassVar[str]
    style: PromptStyle = "search"
    paid: ClassVar[bool] = False
    """Whether searches may cost money."""
    max_connections: ClassVar[int] = 16
    """Searches it can usefully have in flight at once."""

    def __init__(self, spec: str = "", *, timeout_s: float = 120.0, device: str = "auto") -> None:
        del device
        self.spec = spec
        self.timeout_s = timeout_s

    def check(self) -> None:
        """Raise ConfigError for what would make every search fail; searches nothing."""

    def signed(self) -> dict[str, JsonValue]:
        """Return what results depend on beside the query: an index's digest, an address."""
        return {"spec": self.spec}

    def identify(self, request: Request) -> dict[str, JsonValue]:
        """Return all that determines what *request* finds, for its content key."""
        query = request.messages[0].content
        return {"query": query, "params": dict(request.params), **self.signed()}

    async def search(self, query: str, *, results: int) -> Sequence[SearchResult]:
        """Search once.

        Args:
            query: in any language; not empty.
            results: how many to return at most, best first.

        Raises:
            RateLimited, TransientFault, PermanentFault: nothing was found out. That nothing
                matches is no fault, but an empty list.
        """
        raise NotImplementedError

    async def generate(self, request: Request) -> Response:
        """Search for the message of *request*; the response is a JSON list of results.

        Raises:
            RateLimited, TransientFault, PermanentFault: nothing was found out.
        """
        limit = request.params.get("results", RESULTS)
        assert isinstance(limit, int)  # noqa: S101  for mypy: the annotator gives it
        began = time.perf_counter()
        results = await self.search(request.messages[0].content, results=limit)
        rows: list[JsonValue] = [asdict(result) for result in results[:limit]]
        return Response(
            text=canonical_json(rows),
            stop_reason="stop",
            latency_s=time.perf_counter() - began,
            model_version=f"{self.name}:{self.spec}",
        )

    async def aclose(self) -> None:
        """Give back connections and memory."""


def results_of(response: Response) -> list[SearchResult]:
    """Return the results in a search provider's response, best first."""
    return [SearchResult(**row) for row in json.loads(response.text or "[]")]
