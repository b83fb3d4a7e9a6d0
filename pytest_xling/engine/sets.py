"""Answers that are scored together: sets of them, and the corpora of fitted metrics."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

from pytest_xling.engine.job import missing_reason
from pytest_xling.keys import content_key
from pytest_xling.records import AnswerSet

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_xling.engine.job import Result, Scorable
    from pytest_xling.interfaces.metric import Unit

IN_PIVOT, TO_NEUTRAL = "in the pivot language", "to the neutral query"

Placed: TypeAlias = "tuple[int, ScorableSet]"
"""The index of a set's first result, and the set."""


@dataclass(frozen=True)
class ScorableSet:
    """Answers to be scored together, with their content key.

    Whether there is an answer or not, each repeat has its place.
    """

    answers: tuple[Scorable, ...]
    pivot: tuple[Scorable, ...] = ()
    compared: str = ""
    """What *pivot* is, such as "in the pivot language"; empty: it is not looked at."""
    corpus: Corpus | None = None
    """All sets a fitted metric learns from, this one included."""

    @cached_property
    def own_key(self) -> bytes:
        """The content key of the set alone."""
        return content_key(
            {
                "answers": [scorable.key.hex() for scorable in self.answers],
                "pivot": [scorable.key.hex() for scorable in self.pivot] if self.compared else None,
            }
        )

    @cached_property
    def key(self) -> bytes:
        """The content key of all that a metric may look at."""
        if self.corpus is None:
            return self.own_key
        return content_key({"set": self.own_key.hex(), "corpus": self.corpus.key.hex()})

    @cached_property
    def answer_set(self) -> AnswerSet:
        """What a metric is given: the repeats that came with an answer."""
        answers, pivot = present(self.answers), present(self.pivot)
        return AnswerSet(
            answers=tuple(scorable.answer for scorable in answers),
            missing=len(self.answers) - len(answers),
            pivot=tuple(scorable.answer for scorable in pivot),
            pivot_missing=len(self.pivot) - len(pivot),
        )


@dataclass(frozen=True)
class Corpus:
    """The sets of one benchmark, language and temperature."""

    sets: tuple[ScorableSet, ...]

    @cached_property
    def key(self) -> bytes:
        """The content key of all sets, in any order."""
        return content_key(sorted(scorable.own_key.hex() for scorable in self.sets))


def present(scorables: Sequence[Scorable]) -> list[Scorable]:
    """Return those that came with an answer."""
    return [scorable for scorable in scorables if not missing_reason(scorable.answer)]


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
    placed: list[Placed] = []
    for (benchmark, sample_id, language, temperature), indices in members.items():
        answers = _scorables(results, indices)
        if answers is None:
            continue
        if unit == "repeats":
            placed.append((indices[0], ScorableSet(answers)))
            continue
        pivot = results[indices[0]].job.pivot
        if pivot in {None, language}:
            continue
        beside = members.get((benchmark, sample_id, str(pivot), temperature), [])
        if (others := _scorables(results, beside)) is not None:
            placed.append((indices[0], ScorableSet(answers, others, compared=IN_PIVOT)))
    return placed


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
    placed: list[Placed] = []
    for at in members.values():
        indices = [index for _, index in sorted(at.items())]
        if unit == "levels":
            if (answers := _scorables(results, indices)) is not None:
                placed.append((indices[0], ScorableSet(answers)))
            continue
        neutral = _scorables(results, [at[0]] if 0 in at else [])
        for level, index in at.items():
            own = _scorables(results, [index])
            if level > 0 and own is not None and neutral is not None:
                placed.append((index, ScorableSet(own, neutral, compared=TO_NEUTRAL)))
    return placed


def corpora_of(results: Sequence[Result], *, unit: Unit) -> list[list[Placed]]:
    """Return the sets of one benchmark's results, those of a language and temperature together.

    Each knows all others of its corpus.
    """
    corpora: dict[tuple[str, float | None], list[Placed]] = {}
    for index, scorable in sets_of(results, range(len(results)), unit=unit):
        job = results[index].job
        corpora.setdefault((job.sample.language, job.temperature), []).append((index, scorable))
    whole = []
    for placed in corpora.values():
        corpus = Corpus(tuple(scorable for _, scorable in placed))
        whole.append([(index, replace(scorable, corpus=corpus)) for index, scorable in placed])
    return whole


def _scorables(results: Sequence[Result], indices: Sequence[int]) -> tuple[Scorable, ...] | None:
    """Return what there is to score at *indices*; None where one met a fault."""
    scorables = [results[index].scorable for index in indices]
    answered = tuple(scorable for scorable in scorables if scorable is not None)
    return answered if len(answered) == len(scorables) else None
