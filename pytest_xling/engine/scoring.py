"""The steps that run metrics: over answers, and over sets of answers."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from pytest_xling.engine.annotators import annotated_with
from pytest_xling.engine.batches import MAX_BATCH, in_batches
from pytest_xling.engine.job import Scorable, missing_reason
from pytest_xling.engine.sets import Corpus, ScorableSet, present
from pytest_xling.errors import BrokenStep, EvaluationError, XlingError
from pytest_xling.keys import canonical_json
from pytest_xling.records import LARGEST, Answer, AnswerSet, Reading

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from concurrent.futures import Executor

    from pytest_xling.engine.annotators import Annotate
    from pytest_xling.interfaces.metric import Metric
    from pytest_xling.keys import JsonValue

__all__ = ["ReadingStep", "Scoring", "SetScoring", "checked"]

FLAG_VALUES = (0.0, 1.0)
MAX_SETS = 64
"""Sets scored together: enough to fill a batch of an encoder with their answers."""

AnyScorable = TypeVar("AnyScorable", Scorable, ScorableSet)
Scored = TypeVar("Scored", Answer, AnswerSet)


class ReadingStep(Generic[AnyScorable, Scored]):
    """Scores with one metric, whatever it scores, and how its readings are kept."""

    kind: ClassVar[str] = "score"
    exclusive = False
    max_batch: ClassVar[int] = MAX_BATCH

    def __init__(
        self,
        metric: Metric[Scored],
        *,
        parameters: Mapping[str, JsonValue],
        annotators: Mapping[str, Annotate],
        executor: Executor,
    ) -> None:
        self.name = metric.name
        self.version = metric.version
        self.parameters = parameters
        self._metric: Metric[Scored] = metric
        self._annotators = annotators
        self._executor = executor

    def key(self, scorable: AnyScorable) -> bytes:
        """Return the content key of what is scored."""
        return scorable.key

    async def compute(self, scorables: Sequence[AnyScorable]) -> list[Reading | XlingError]:
        """Score *scorables*: annotate what needs it, then run the metric in batches."""
        readings: dict[int, Reading | XlingError] = {}
        for index, scorable in enumerate(scorables):
            if reason := self._why_unscored(scorable):
                readings[index] = Reading(value=None, reason=reason)
        given = [index for index in range(len(scorables)) if index not in readings]
        annotated = await self._annotated([scorables[index] for index in given])
        ready: dict[int, Scored] = {}
        for index, scored in zip(given, annotated, strict=True):
            if isinstance(scored, XlingError):
                readings[index] = scored
            else:
                ready[index] = scored
        inputs = list(ready.values())
        outcomes = await in_batches(
            self._score,
            inputs,
            sizes=[scored.size for scored in inputs],
            executor=self._executor,
            max_batch=self.max_batch,
        )
        readings.update(zip(ready, outcomes, strict=True))
        return [readings[index] for index in range(len(scorables))]

    def _score(self, inputs: Sequence[Scored]) -> list[Reading]:
        return checked(self._metric, self._metric.score(inputs), len(inputs))

    def _why_unscored(self, scorable: AnyScorable) -> str:
        """Say why *scorable* has no value; "" where the metric scores it."""
        raise NotImplementedError

    async def _annotated(self, scorables: Sequence[AnyScorable]) -> list[Scored | XlingError]:
        """Annotate what is scored, then what the metric makes of it to be checked.

        What went wrong stands in its place.
        """
        checker = self._metric.checked_by
        needs = {name: each for name, each in self._annotators.items() if name != checker}
        outcomes = await self._with_needs(needs, scorables)
        if not checker:
            return outcomes
        places = [place for place, each in enumerate(outcomes) if not isinstance(each, XlingError)]
        ready: list[Any] = [outcomes[place] for place in places]
        checks = [self._metric.checks(each) for each in ready]
        checked_of = await _each_annotated({checker: self._annotators[checker]}, checks)
        for place, scored, annotated in zip(places, ready, checked_of, strict=True):
            if isinstance(annotated, XlingError):
                outcomes[place] = annotated
            else:
                outcomes[place] = replace(scored, checks=annotated)
        return outcomes

    async def _with_needs(
        self, needs: Mapping[str, Annotate], scorables: Sequence[AnyScorable]
    ) -> list[Scored | XlingError]:
        """Return what the metric is given, annotated with *needs*; what went wrong in its place."""
        raise NotImplementedError

    def payload(self, _scorable: object) -> None:
        """Keep nothing: the answers are kept already."""

    def encode(self, reading: Reading) -> str:
        """Return *reading* as JSON."""
        return canonical_json([reading.value, reading.reason])

    def decode(self, text: str) -> Reading:
        """Return the reading in *text*."""
        value, reason = json.loads(text)
        return Reading(value=value, reason=reason)

    def broken(self, error: BaseException) -> BaseException:
        """Return *error*: it is a bug, and ends the run."""
        return error

    def cost_usd(self, _reading: Reading) -> float:
        """Return 0: metrics run here."""
        return 0.0


class Scoring(ReadingStep[Scorable, Answer]):
    """Scores answers with one metric.

    Where there is no answer, metrics that have nothing to say give None and the reason.
    """

    def _why_unscored(self, scorable: Scorable) -> str:
        """Say why there is nothing to score; "" if there is."""
        reason = missing_reason(scorable.answer)
        return f"no answer: {reason}" if reason and not self._metric.scores_missing else ""

    async def _with_needs(
        self, needs: Mapping[str, Annotate], scorables: Sequence[Scorable]
    ) -> list[Answer | XlingError]:
        return await annotated_with(needs, [s.answer for s in scorables])


class SetScoring(ReadingStep[ScorableSet, AnswerSet]):
    """Scores sets of answers with one metric.

    A set with fewer answers than the metric needs gets None and the reason.
    """

    max_batch = MAX_SETS

    async def compute(self, scorables: Sequence[ScorableSet]) -> list[Reading | XlingError]:
        """Score *scorables*; those of a fitted metric with the corpora they are of."""
        if self._metric.fitted:
            return await self._fit(scorables)
        return await super().compute(scorables)

    async def _fit(self, scorables: Sequence[ScorableSet]) -> list[Reading | XlingError]:
        """Score whole corpora, whatever part of them is asked for."""
        corpora = [scorable.corpus or Corpus((scorable,)) for scorable in scorables]
        readings: dict[bytes, dict[bytes, Reading] | XlingError] = {}
        for corpus in corpora:
            if corpus.key not in readings:
                readings[corpus.key] = await self._fit_corpus(corpus)
        outcomes: list[Reading | XlingError] = []
        for scorable, corpus in zip(scorables, corpora, strict=True):
            of_corpus = readings[corpus.key]
            if isinstance(of_corpus, XlingError):
                outcomes.append(of_corpus)
            elif reason := self._why_unscored(scorable):
                outcomes.append(Reading(value=None, reason=reason))
            else:
                outcomes.append(of_corpus[scorable.own_key])
        return outcomes

    async def _fit_corpus(self, corpus: Corpus) -> dict[bytes, Reading] | XlingError:
        """Return the readings of a corpus's sets by their keys, or what went wrong."""
        enough = [scorable for scorable in corpus.sets if not self._why_unscored(scorable)]
        sets: list[AnswerSet] = []
        for answer_set in await self._annotated(enough):
            if isinstance(answer_set, XlingError):
                return answer_set
            sets.append(answer_set)
        loop = asyncio.get_running_loop()
        try:
            readings = await loop.run_in_executor(self._executor, self._score, sets)
        except XlingError as error:
            return error
        return {s.own_key: reading for s, reading in zip(enough, readings, strict=True)}

    def _why_unscored(self, scorable: ScorableSet) -> str:
        """Say what is missing from a set; "" if nothing is."""
        least = self._metric.least
        sides = [("", scorable.answers, least)]
        if scorable.compared:
            sides.append((f" {scorable.compared}", scorable.pivot, 1))
        for where, asked, needed in sides:
            there = len(present(asked))
            if there >= needed:
                continue
            if not asked:
                return f"no answer{where} to compare with"
            if len(asked) < needed:
                return f"asked once (K = 1): comparing needs --xling-samples={needed} or more"
            reasons = Counter(filter(None, (missing_reason(repeat.answer) for repeat in asked)))
            why = ", ".join(f"{reason} {count}" for reason, count in sorted(reasons.items()))
            return f"{there} of {len(asked)} answers{where}: {why}"
        return ""

    async def _with_needs(
        self, needs: Mapping[str, Annotate], scorables: Sequence[ScorableSet]
    ) -> list[AnswerSet | XlingError]:
        """Annotate all answers of the sets; what went wrong stands in place of a whole set."""
        sets = [scorable.answer_set for scorable in scorables]
        if not needs:
            return [*sets]
        outcomes: list[AnswerSet | XlingError] = []
        members = [(*each.answers, *each.pivot) for each in sets]
        for own, annotated in zip(sets, await _each_annotated(needs, members), strict=True):
            if isinstance(annotated, XlingError):
                outcomes.append(annotated)
            else:
                size = len(own.answers)
                outcomes.append(replace(own, answers=annotated[:size], pivot=annotated[size:]))
        return outcomes


async def _each_annotated(
    annotators: Mapping[str, Annotate], groups: Sequence[Sequence[Answer]]
) -> list[tuple[Answer, ...] | XlingError]:
    """Return each group annotated; what went wrong with one answer stands in place of its group."""
    flat = [answer for group in groups for answer in group]
    annotated = iter(await annotated_with(annotators, flat))
    outcomes: list[tuple[Answer, ...] | XlingError] = []
    for group in groups:
        members = [next(annotated) for _ in group]
        fault = next((each for each in members if isinstance(each, XlingError)), None)
        answers = tuple(each for each in members if not isinstance(each, XlingError))
        outcomes.append(fault or answers)
    return outcomes


def checked(metric: Metric[Any], readings: list[Reading], wanted: int) -> list[Reading]:
    """Return *readings* if they are what a metric may give.

    Raises:
        BrokenStep: their number is wrong, or a reason is not text.
        EvaluationError: a value is not finite or too large to be summed, or a flag's neither 0 nor
            1.
    """
    if len(readings) != wanted:
        msg = f"metric {metric.name!r} gave {len(readings)} readings for {wanted} inputs"
        raise BrokenStep(msg)
    flag = metric.kind == "flag"
    for reading in readings:
        value = reading.value
        reason: object = reading.reason  # as others' metrics may give it
        if not isinstance(reason, str):
            msg = f"metric {metric.name!r} gave the reason {reason!r}; a reason is text"
            raise BrokenStep(msg)
        # Of NaN the comparison is false, too.
        if value is not None and not (value in FLAG_VALUES if flag else abs(value) <= LARGEST):
            allowed = "1.0 or 0.0" if flag else f"a number up to {LARGEST:g}"
            msg = f"metric {metric.name!r} gave {value!r}, not {allowed} or None with a reason"
            raise EvaluationError(msg)
    return readings
