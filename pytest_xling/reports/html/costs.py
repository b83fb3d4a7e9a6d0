"""What a run cost: answers, tokens, dollars and time, by benchmark and language."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pytest_xling.reports.html.shown import compact

if TYPE_CHECKING:
    from pytest_xling.keys import JsonValue
    from pytest_xling.store.browsing import BrowsedCase

__all__ = ["Costs"]


@dataclass(slots=True, kw_only=True)
class _Tally:
    answers: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    estimated: int = 0
    usd: float = 0.0
    latencies: list[float] = field(default_factory=list)


class Costs:
    """Adds up what answers cost, whichever run paid for them."""

    def __init__(self) -> None:
        self._by_place: defaultdict[tuple[str, str], _Tally] = defaultdict(_Tally)

    def add(self, case: BrowsedCase) -> None:
        """Count the answer to *case*."""
        tally = self._by_place[case.benchmark, case.language]
        tokens_in, tokens_out = case.response["usage"]
        tally.answers += 1
        tally.tokens_in += tokens_in
        tally.tokens_out += tokens_out
        tally.estimated += bool(case.response.get("usage_estimated"))
        tally.usd += case.cost_usd
        tally.latencies.append(case.response["latency_s"])

    def rows(self) -> list[JsonValue]:
        """Return one row for each benchmark and language."""
        return [
            {
                "benchmark": benchmark,
                "language": language,
                "answers": tally.answers,
                "in": tally.tokens_in,
                "out": tally.tokens_out,
                "estimated": tally.estimated,
                "usd": compact(tally.usd),
                "median_s": compact(_quantile(tally.latencies, 0.5)),
                "p95_s": compact(_quantile(tally.latencies, 0.95)),
            }
            for (benchmark, language), tally in self._by_place.items()
        ]


def _quantile(values: list[float], share: float) -> float:
    """Return the smallest value that *share* of all are not above."""
    return sorted(values)[max(math.ceil(share * len(values)) - 1, 0)]
