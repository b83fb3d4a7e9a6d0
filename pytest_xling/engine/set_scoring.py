"""The step that runs a metric over sets of answers."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from pytest_xling.engine.scoring import ReadingStep, annotated_with, checked, missing_reason
from pytest_xling.engine.step import Batched
from pytest_xling.errors import XlingError
from pytest_xling.keys import content_key
from pytest_xling.records import AnswerSet, Reading

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from concurrent.futures import Executor

    from pytest_xling.engine.scoring import Annotate, Scorable
    from pytest_xling.interfaces.metric import Metric
    from pytest_xling.keys import JsonValue

__all__ = ["Corpus", "ScorableSet", "SetScoring"]

MAX_BATCH = 64
"""Sets scored together: enough to fill a batch of an encoder with their answers."""


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
                "answers": [one.key.hex() for one in self.answers],
                "pivot": [one.key.hex() for one in self.pivot] if self.compared else None,
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
        answers, pivot = _present(self.answers), _present(self.pivot)
        return AnswerSet(
            answers=tuple(one.answer for one in answers),
            missing=len(self.answers) - len(answers),
            pivot=tuple(one.answer for one in pivot),
            pivot_missing=len(self.pivot) - len(pivot),
        )


@dataclass(frozen=True)
class Corpus:
    """The sets of one benchmark, language and temperature."""

    sets: tuple[ScorableSet, ...]

    @cached_property
    def key(self) -> bytes:
        """The content key of all sets, in any order."""
        return content_key(sorted(one.own_key.hex() for one in self.sets))


class SetScoring(ReadingStep):
    """Scores sets of answers with one metric.

    A set with fewer answers than the metric needs gets None and the reason.
    """

    def __init__(
        self,
        metric: Metric[AnswerSet],
        *,
        parameters: Mapping[str, JsonValue],
        annotators: Mapping[str, Annotate],
        executor: Executor,
    ) -> None:
        self.name = metric.name
        self.version = metric.version
        self.parameters = parameters
        self._metric = metric
        self._annotators = annotators
        self._executor = executor
        self._run = Batched(self._score, size=_length, executor=executor, max_batch=MAX_BATCH)

    def _score(self, sets: Sequence[AnswerSet]) -> list[Reading]:
        return checked(self._metric, self._metric.score(sets), len(sets))

    def key(self, scorable: ScorableSet) -> bytes:
        """Return the content key of the set."""
        return scorable.key

    async def compute(
        self,
        scorables: Sequence[ScorableSet],
        done: Callable[[int, Reading], None],
        failed: Callable[[int, XlingError], None],
    ) -> None:
        """Score *scorables*: annotate what needs it, then run the metric in batches."""
        if self._metric.fitted:
            await self._fit(scorables, done, failed)
            return
        enough: list[int] = []
        for index, scorable in enumerate(scorables):
            if reason := self._too_few(scorable):
                done(index, Reading(value=None, reason=reason))
            else:
                enough.append(index)
        ready: list[tuple[int, AnswerSet]] = []
        annotated = await self._annotated([scorables[index].answer_set for index in enough])
        for index, one in zip(enough, annotated, strict=True):
            if isinstance(one, XlingError):
                failed(index, one)
            else:
                ready.append((index, one))
        await self._run(
            [one for _, one in ready],
            lambda index, reading: done(ready[index][0], reading),
            lambda index, error: failed(ready[index][0], error),
        )

    async def _fit(
        self,
        scorables: Sequence[ScorableSet],
        done: Callable[[int, Reading], None],
        failed: Callable[[int, XlingError], None],
    ) -> None:
        """Score whole corpora, whatever part of them is asked for."""
        wanted: dict[bytes, list[int]] = {}
        corpora: dict[bytes, Corpus] = {}
        for index, scorable in enumerate(scorables):
            corpus = scorable.corpus or Corpus((scorable,))
            corpora[corpus.key] = corpus
            wanted.setdefault(corpus.key, []).append(index)
        loop = asyncio.get_running_loop()
        for key, indices in wanted.items():
            enough = [one for one in corpora[key].sets if not self._too_few(one)]
            annotated = await self._annotated([one.answer_set for one in enough])
            sets = [one for one in annotated if not isinstance(one, XlingError)]
            faults = [one for one in annotated if isinstance(one, XlingError)]
            try:
                if faults:
                    raise faults[0]
                readings = await loop.run_in_executor(self._executor, self._score, sets)
            except XlingError as error:
                for index in indices:
                    failed(index, error)
                continue
            found = {one.own_key: reading for one, reading in zip(enough, readings, strict=True)}
            for index in indices:
                reason = self._too_few(scorables[index])
                reading = Reading(value=None, reason=reason)
                done(index, reading if reason else found[scorables[index].own_key])

    def _too_few(self, scorable: ScorableSet) -> str:
        """Say what is missing from a set; "" if nothing is."""
        least = self._metric.least
        sides = [("", scorable.answers, least)]
        if scorable.compared:
            sides.append((f" {scorable.compared}", scorable.pivot, 1))
        for where, asked, needed in sides:
            there = len(_present(asked))
            if there >= needed:
                continue
            if not asked:
                return f"no answer{where} to compare with"
            if len(asked) < needed:
                return f"asked once (K = 1): comparing needs --xling-samples={needed} or more"
            reasons = Counter(filter(None, (missing_reason(one.answer) for one in asked)))
            why = ", ".join(f"{reason} {count}" for reason, count in sorted(reasons.items()))
            return f"{there} of {len(asked)} answers{where}: {why}"
        return ""

    async def _annotated(self, sets: Sequence[AnswerSet]) -> list[AnswerSet | XlingError]:
        """Annotate all answers of *sets*; what went wrong stands in place of a whole set."""
        if not self._annotators:
            return list(sets)
        flat = [answer for one in sets for answer in (*one.answers, *one.pivot)]
        annotated = iter(await annotated_with(self._annotators, flat))
        found: list[AnswerSet | XlingError] = []
        for one in sets:
            members = [next(annotated) for _ in (*one.answers, *one.pivot)]
            answers = tuple(m for m in members if not isinstance(m, XlingError))
            fault = next((m for m in members if isinstance(m, XlingError)), None)
            size = len(one.answers)
            found.append(fault or replace(one, answers=answers[:size], pivot=answers[size:]))
        return found


def _present(scorables: Sequence[Scorable]) -> list[Scorable]:
    return [one for one in scorables if not missing_reason(one.answer)]


def _length(answer_set: AnswerSet) -> int:
    return sum(len(answer.text) for answer in (*answer_set.answers, *answer_set.pivot))
