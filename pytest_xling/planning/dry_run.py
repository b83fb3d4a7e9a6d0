"""Estimate what a run would ask and cost, without asking."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_xling.text.tokens import encode

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pytest_xling.records import Request
    from pytest_xling.store.answers import Length

MESSAGE_OVERHEAD = 7
"""Tokens a chat format adds around one user turn, roughly (OpenAI's cookbook says 3 + 1 + 3)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguageEstimate:
    """What one language would take; tokens counted by o200k_base."""

    language: str
    requests: int
    """Distinct requests; equal ones are asked once."""
    stored: int
    """Of these, how many the store has answered already."""
    prompt_tokens: int
    completion_tokens: int
    """If answers are as long as stored ones were, where there are any."""
    max_completion_tokens: int
    """If every answer were as long as --xling-max-tokens allows."""
    cost_usd: float | None
    """At the tokens expected; None without a price."""
    max_cost_usd: float | None
    """At the longest answers; None without a price."""


class Lengths:
    """How long the answers of a model are expected to be: as long as stored ones were on average.

    Args:
        stored: answers and their mean length in tokens, by model, benchmark and language.
        model: the model under test. Where it has no answers, those of all others count.
    """

    def __init__(self, stored: Mapping[tuple[str, str, str], Length], *, model: str) -> None:
        self._stored = stored
        self._model = model
        self.sources: dict[str, dict[str, None]] = {}
        """By the source of an estimate: the languages it was used for."""

    def expected(self, benchmark: str, language: str) -> float | None:
        """Return the mean length; None where nothing is known of the benchmark."""
        here = {place: length for place, length in self._stored.items() if place[1] == benchmark}
        own = {place: length for place, length in here.items() if place[0] == self._model}
        alike = {place: length for place, length in here.items() if place[2] == language}
        both = {place: length for place, length in own.items() if place[2] == language}
        for lengths, source in (
            (both, f"stored answers of {self._model}"),
            (own, f"stored answers of {self._model} in other languages"),
            (alike, "stored answers of other models"),
            (here, "stored answers of other models in other languages"),
        ):
            if lengths:
                self.sources.setdefault(source, {})[language] = None
                answers = sum(length.answers for length in lengths.values())
                return sum(length.answers * length.mean for length in lengths.values()) / answers
        self.sources.setdefault("--xling-max-tokens", {})[language] = None
        return None


def dry_run(
    requests: Mapping[bytes, Request],
    *,
    stored: Iterable[bytes],
    expected: Mapping[bytes, float],
    price: tuple[float, float] | None,
) -> list[LanguageEstimate]:
    """Estimate by language what answering *requests* would take.

    Args:
        requests: by content key, so that equal ones count once.
        stored: keys that are answered already and cost nothing.
        expected: the expected lengths of answers in tokens, by key; others are of maximal length.
        price: US dollars per million prompt and completion tokens.
    """
    have = set(stored)
    by_language: dict[str, list[tuple[bytes, Request]]] = {}
    for key, request in requests.items():
        by_language.setdefault(request.language, []).append((key, request))
    rows = []
    for language, asked in sorted(by_language.items()):
        missing = [(key, request) for key, request in asked if key not in have]
        new = [request for _, request in missing]
        texts = [message.content for request in new for message in request.messages]
        prompt = sum(len(tokens) for tokens in encode(texts)) + MESSAGE_OVERHEAD * len(texts)
        longest = {key: _limit(request) for key, request in missing}
        likely = sum(min(expected.get(key, limit), limit) for key, limit in longest.items())
        completion, most = round(likely), sum(longest.values())
        rows.append(
            LanguageEstimate(
                language=language,
                requests=len(asked),
                stored=len(asked) - len(new),
                prompt_tokens=prompt,
                completion_tokens=completion,
                max_completion_tokens=most,
                cost_usd=_cost(prompt, completion, price),
                max_cost_usd=_cost(prompt, most, price),
            )
        )
    return rows


def _limit(request: Request) -> int:
    limit = request.params["max_tokens"]
    return limit if isinstance(limit, int) else 0


def _cost(prompt: int, completion: int, price: tuple[float, float] | None) -> float | None:
    return None if price is None else (prompt * price[0] + completion * price[1]) / 1e6
