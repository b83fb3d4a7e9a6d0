"""Put the answers together that are scored together."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from pytest_xling.engine.set_scoring import Corpus, ScorableSet

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_xling.engine.run import Result
    from pytest_xling.engine.scoring import Scorable
    from pytest_xling.interfaces.metric import Unit

__all__ = ["corpora_of", "sets_of"]

IN_PIVOT, TO_NEUTRAL = "in the pivot language", "to the neutral query"

Placed: TypeAlias = "tuple[int, ScorableSet]"
"""The index of a set's first result, and the set."""


def sets_of(results: Sequence[Result], wanted: Sequence[int], *, unit: Unit) -> list[Placed]:
    """Return the sets of the results at the indices *wanted*, by the first of each.

    One that met a fault has no set; asked again, it will.

    Args:
        results: of whole groups: all languages, conditions and levels of a question.
        wanted: indices.
        unit: what makes a set, as in :data:`pytest_xling.interfaces.metric.Unit`.
    """
    if unit in {"levels", "neutral"}:
        return _over_levels(results, wanted, unit=unit)
    members: dict[tuple[str, str, str, float | None], list[int]] = {}
    for index in wanted:
        job = results[index].job
        place = (job.benchmark, job.sample.id, job.sample.language, job.temperature)
        members.setdefault(place, []).append(index)
    found: list[Placed] = []
    for (benchmark, sample_id, language, temperature), indices in members.items():
        answers = _scorables(results, indices)
        if answers is None:
            continue
        if unit == "repeats":
            found.append((indices[0], ScorableSet(answers)))
            continue
        pivot = results[indices[0]].job.pivot
        if pivot in {None, language}:
            continue
        beside = members.get((benchmark, sample_id, str(pivot), temperature), [])
        if (others := _scorables(results, beside)) is not None:
            found.append((indices[0], ScorableSet(answers, others, compared=IN_PIVOT)))
    return found


def _over_levels(results: Sequence[Result], wanted: Sequence[int], *, unit: Unit) -> list[Placed]:
    """Return the sets of answers to one claim under one condition, at its levels."""
    members: dict[tuple[str, str, str, str], dict[int, int]] = {}
    for index in wanted:
        job = results[index].job
        level = job.sample.level
        if level is None:
            continue
        claim = job.sample.parallel_id or job.sample.id
        place = (job.benchmark, claim, job.sample.language, job.condition)
        members.setdefault(place, {})[level] = index
    found: list[Placed] = []
    for at in members.values():
        indices = [index for _, index in sorted(at.items())]
        if unit == "levels":
            if (answers := _scorables(results, indices)) is not None:
                found.append((indices[0], ScorableSet(answers)))
            continue
        neutral = _scorables(results, [at[0]] if 0 in at else [])
        for level, index in at.items():
            own = _scorables(results, [index])
            if level > 0 and own is not None and neutral is not None:
                found.append((index, ScorableSet(own, neutral, compared=TO_NEUTRAL)))
    return found


def corpora_of(results: Sequence[Result], *, unit: Unit) -> list[list[Placed]]:
    """Return the sets of one benchmark's results, those of a language and temperature together.

    Each knows all others of its corpus.
    """
    corpora: dict[tuple[str, float | None], list[Placed]] = {}
    for index, one in sets_of(results, range(len(results)), unit=unit):
        job = results[index].job
        corpora.setdefault((job.sample.language, job.temperature), []).append((index, one))
    whole = []
    for placed in corpora.values():
        corpus = Corpus(tuple(one for _, one in placed))
        whole.append([(index, replace(one, corpus=corpus)) for index, one in placed])
    return whole


def _scorables(results: Sequence[Result], indices: Sequence[int]) -> tuple[Scorable, ...] | None:
    """Return what there is to score at *indices*; None where one met a fault."""
    found = [results[index].scorable for index in indices]
    kept = tuple(one for one in found if one is not None)
    return kept if len(kept) == len(found) else None
