"""The steps that run metrics: over answers, and over sets of answers."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from pytest_xling.engine.annotators import annotated_with
from pytest_xling.engine.batches import MAX_BATCH, in_batches
from pytest_xling.engine.job import Scorable, missing_reason
from pytest_xling.engine.sets import Corpus, ScorableSet, present
from pytest_xling.errors import XlingError
from pytest_xling.keys import canonical_json
from pytest_xling.records import Answer, AnswerSet, Reading

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence

    from pytest_xling.engine.annotators import Annotate
    from pytest_xling.engine.executor import Executor
    from pytest_xling.interfaces.metric import Metric
    from pytest_xling.keys import JsonValue

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

    async def compute(
        self, scorables: Sequence[AnyScorable]
    ) -> AsyncIterator[dict[int, Reading | XlingError]]:
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
        places, inputs = list(ready), list(ready.values())
        computing = in_batches(
            self._metric,
            inputs,
            sizes=[scored.size for scored in inputs],
            executor=self._executor,
            max_batch=self.max_batch,
        )
        async for batch in computing:
            # With the first batch goes what has no value, so that it makes no writing of its own.
            yield readings | {places[index]: outcome for index, outcome in batch.items()}
            readings = {}
        if readings:
            yield readings

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
        answer = scorable.answer
        reason = missing_reason(answer)
        if self._metric.scores_missing:
            return ""
        if reason:
            return f"no answer: {reason}"
        silent = not answer.text.strip() and not self._metric.reads_calls
        return "the answer is a call of a tool, without a text" if silent else ""

    async def _with_needs(
        self, needs: Mapping[str, Annotate], scorables: Sequence[Scorable]
    ) -> list[Answer | XlingError]:
        return await annotated_with(needs, [s.answer for s in scorables])


class SetScoring(ReadingStep[ScorableSet, AnswerSet]):
    """Scores sets of answers with one metric.

    A set with fewer answers than the metric needs gets None and the reason.
    """

    max_batch = MAX_SETS

    async def compute(
        self, scorables: Sequence[ScorableSet]
    ) -> AsyncIterator[dict[int, Reading | XlingError]]:
        """Score *scorables*; those of a fitted metric with the corpora they are of."""
        fitted = self._metric.fitted
        computing = self._fit(scorables) if fitted else super().compute(scorables)
        async for ready in computing:
            yield ready

    async def _fit(
        self, scorables: Sequence[ScorableSet]
    ) -> AsyncIterator[dict[int, Reading | XlingError]]:
        """Score whole corpora, each in a batch, whatever part of them is asked for."""
        members: dict[bytes, list[int]] = {}
        batches: dict[bytes, tuple[list[ScorableSet], list[AnswerSet]]] = {}
        readings: dict[int, Reading | XlingError] = {}
        for index, scorable in enumerate(scorables):
            corpus = scorable.corpus or Corpus((scorable,))
            members.setdefault(corpus.key, []).append(index)
            if reason := self._why_unscored(scorable):
                readings[index] = Reading(value=None, reason=reason)
        for key, indices in members.items():
            corpus = scorables[indices[0]].corpus or Corpus((scorables[indices[0]],))
            enough = [scorable for scorable in corpus.sets if not self._why_unscored(scorable)]
            sets: list[AnswerSet] = []
            for answer_set in await self._annotated(enough):
                if isinstance(answer_set, XlingError):
                    readings.update(dict.fromkeys(indices, answer_set))
                    break
                sets.append(answer_set)
            else:
                batches[key] = enough, sets
        keys = [key for key, (_, sets) in batches.items() if sets]
        computing = self._executor.outcomes(self._metric, [batches[key][1] for key in keys])
        async for number, outcomes in computing:
            scored = [scorable.own_key for scorable in batches[keys[number]][0]]
            of_corpus = dict(zip(scored, outcomes, strict=True))
            yield {
                index: of_corpus[scorables[index].own_key]
                for index in members[keys[number]]
                if index not in readings
            }
        yield readings

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
