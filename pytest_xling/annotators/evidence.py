"""What a search finds on each claim of an answer (VeriScore, section 3.2; CaLMQA §3.1)."""

from __future__ import annotations

import asyncio
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from pytest_xling.interfaces.annotator import AskingAnnotator
from pytest_xling.interfaces.search import RESULTS, results_of
from pytest_xling.records import Message
from pytest_xling.text.display import shorten

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_xling.interfaces.annotator import Ask
    from pytest_xling.keys import JsonValue
    from pytest_xling.records import Answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence(AskingAnnotator):
    """Searches for each verifiable claim of an answer, in the claim's own words.

    A value has ``found``: for each claim, in order, its results (``title``, ``text``, ``url``),
    best first. A claim about which nothing is found has none; a search that fails is a fault of
    the case. Equal claims of different answers are searched once.
    """

    name = "evidence"
    display_name = "the search"
    version = "1"
    asks = "search"
    minimums: ClassVar[Mapping[str, float]] = {"results": 1, "max_chars": 1}

    results: int = RESULTS
    """How many results are read."""
    max_chars: int = 1_000
    """Of a result's text; more is cut off."""

    @property
    def needs(self) -> tuple[str, ...]:
        """The claims."""
        return ("verifiable_claims",)

    def looks_at(self, answer: Answer, /) -> JsonValue:
        """Return the claims."""
        return [*_claims(answer)]

    async def annotate(self, answer: Answer, ask: Ask, /) -> JsonValue:
        """Return what is found on each claim of *answer*.

        Raises:
            ProviderFault, BudgetExceeded: a search failed.
        """

        async def search(claim: str) -> list[JsonValue]:
            message = Message(role="user", content=claim)
            response = await ask((message,), params={"results": self.results})
            return [
                {**asdict(result), "text": shorten(result.text, limit=self.max_chars)}
                for result in results_of(response)
            ]

        return {"found": list(await asyncio.gather(*map(search, _claims(answer))))}


def _claims(answer: Answer) -> list[str]:
    value: Any = answer.annotations["verifiable_claims"].value
    return [claim["text"] for claim in value["claims"] or ()]
