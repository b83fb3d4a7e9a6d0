"""Say what a run would ask and cost, without asking."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_xling.text.tokens import encode

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pytest_xling.records import Request

__all__ = ["LanguageEstimate", "dry_run"]

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
    max_completion_tokens: int
    """If every answer were as long as --xling-max-tokens allows."""
    max_cost_usd: float | None
    """At these tokens; None without a price."""


def dry_run(
    requests: Mapping[bytes, Request],
    *,
    stored: Iterable[bytes],
    price: tuple[float, float] | None,
) -> list[LanguageEstimate]:
    """Estimate by language what answering *requests* would take.

    Args:
        requests: by content key, so that equal ones count once.
        stored: keys that are answered already and cost nothing.
        price: US dollars per million prompt and completion tokens.
    """
    have = set(stored)
    by_language: dict[str, list[tuple[bytes, Request]]] = {}
    for key, request in requests.items():
        by_language.setdefault(request.language, []).append((key, request))
    rows = []
    for language, asked in sorted(by_language.items()):
        new = [request for key, request in asked if key not in have]
        texts = [message.content for request in new for message in request.messages]
        prompt = sum(len(tokens) for tokens in encode(texts)) + MESSAGE_OVERHEAD * len(texts)
        limits = [request.params["max_tokens"] for request in new]
        completion = sum(limit for limit in limits if isinstance(limit, int))
        cost = None
        if price is not None:
            cost = (prompt * price[0] + completion * price[1]) / 1e6
        rows.append(
            LanguageEstimate(
                language=language,
                requests=len(asked),
                stored=len(asked) - len(new),
                prompt_tokens=prompt,
                max_completion_tokens=completion,
                max_cost_usd=cost,
            )
        )
    return rows
