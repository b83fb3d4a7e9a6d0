"""How many scores a metric should have, so that a gate knows when some are missing."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from pytest_xling.interfaces.metric import Metric
    from pytest_xling.planning.plan import Case

__all__ = ["Planned", "planned_scores"]

Planned: TypeAlias = "Counter[tuple[str, int | None]]"
"""Scores by language and level; what is of no level, or of several, stands under None."""


def planned_scores(
    cases: Iterable[Case], metric: type[Metric[Any]], *, pivot: str | None
) -> Planned:
    """Count the scores that *cases* should have, as the engine makes them.

    Of single answers each has one, of repeats a sample at one temperature, and of levels a claim
    under one condition. What compares with the pivot language says nothing of that itself; what
    compares with the neutral query, nothing of it.

    Args:
        cases: of one benchmark.
        metric: its class.
        pivot: the language others are compared with; None where none is.
    """
    unit = metric.unit
    planned: set[tuple[str, int | None, Hashable]] = set()
    for case in cases:
        sample, at = case.sample, case.condition
        if not metric.applies(sample):
            continue
        language, level = sample.language, sample.level
        if unit == "answer":
            planned.add((language, level, case.id))
        elif unit == "repeats":
            planned.add((language, level, (sample.id, at.temperature)))
        elif unit == "pivot":
            if pivot not in {None, language}:
                planned.add((language, level, (sample.id, at.temperature)))
        elif level is None:
            continue
        elif unit == "levels":
            planned.add((language, None, (sample.parallel_id or sample.id, at)))
        elif level > 0:
            planned.add((language, level, case.id))
    return Counter((language, level) for language, level, _ in planned)
