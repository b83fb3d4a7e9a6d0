"""What a metric gives for answers, and for sets of answers."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

from pytest_xling.engine.annotating import annotated_with
from pytest_xling.engine.executor import MAX_BATCH, in_batches
from pytest_xling.engine.job import Scorable, missing_reason
from pytest_xling.engine.sets import Corpus, ScorableSet, present
from pytest_xling.errors import XlingError
from pytest_xling.keys import canonical_json
from pytest_xling.records import Answer, AnswerSet, Reading

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence

    from pytest_xling.engine.annotating import Annotate
    from pytest_xling.engine.executor import Executor
    from pytest_xling.interfaces.metric import Metric

MAX_SETS = 64
"""Sets scored together: enough to fill a batch of an encoder with their answers."""

Scored: TypeAlias = "Answer | AnswerSet"


async def score(
    metric: Metric[Any],
    scorables: Sequence[Scorable | ScorableSet],
    *,
    annotators: Mapping[str, Annotate],
    executor: Executor,
) -> AsyncIterator[dict[int, Reading | XlingError]]:
    """Score answers, or sets of them: annotate what needs it, then run the metric in batches.

    What a fitted metric scores is scored with the corpora it is of. What the metric has nothing to
    say of gets None and the reason: no answer, or a set with too few.
    """
    readings: dict[int, Reading | XlingError] = {
        index: Reading(value=None, reason=reason)
        for index, scorable in enumerate(scorables)
        if (reason := _why_unscored(metric, scorable))
    }
    if metric.fitted:
        async for ready in _fit(metric, scorables, readings, annotators, executor):
            yield ready
        return
    left = [index for index in range(len(scorables)) if index not in readings]
    annotated = await _annotated(metric, annotators, [scorables[index] for index in left])
    inputs: dict[int, Scored] = {}
    for index, scored in zip(left, annotated, strict=True):
        if isinstance(scored, XlingError):
            readings[index] = scored
        else:
            inputs[index] = scored
    places = list(inputs)
    computing = in_batches(
        metric,
        list(inputs.values()),
        executor=executor,
        max_batch=MAX_BATCH if metric.unit == "answer" else MAX_SETS,
    )
    async for batch in computing:
        # With the first batch goes what has no value, so that it makes no writing of its own.
        yield readings | {places[index]: outcome for index, outcome in batch.items()}
        readings = {}
    if readings:
        yield readings


async def _fit(
    metric: Metric[Any],
    scorables: Sequence[Any],
    readings: dict[int, Reading | XlingError],
    annotators: Mapping[str, Annotate],
    executor: Executor,
) -> AsyncIterator[dict[int, Reading | XlingError]]:
    """Score whole corpora, each in a batch, whatever part of them is asked for."""
    members: dict[bytes, list[int]] = {}
    corpora = [scorable.corpus or Corpus((scorable,)) for scorable in scorables]
    for index, corpus in enumerate(corpora):
        members.setdefault(corpus.key, []).append(index)
    batches: list[tuple[list[int], list[ScorableSet], list[Any]]] = []
    for indices in members.values():
        sets = corpora[indices[0]].sets
        enough = [each for each in sets if not _why_unscored(metric, each)]
        annotated = await _annotated(metric, annotators, enough)
        fault = next((each for each in annotated if isinstance(each, XlingError)), None)
        if fault is not None:
            readings.update(dict.fromkeys(indices, fault))
        elif annotated:
            batches.append((indices, enough, annotated))
    computing = executor.outcomes(metric, [inputs for *_, inputs in batches])
    async for number, outcomes in computing:
        indices, enough, _ = batches[number]
        by_key = dict(zip([each.own_key for each in enough], outcomes, strict=True))
        yield {
            index: by_key[scorables[index].own_key] for index in indices if index not in readings
        }
    yield readings


async def _annotated(
    metric: Metric[Any],
    annotators: Mapping[str, Annotate],
    scorables: Sequence[Scorable | ScorableSet],
) -> list[Scored | XlingError]:
    """Return what the metric is given: annotated, and what it has checked annotated, too.

    What went wrong stands in its place.
    """
    checker = metric.checked_by
    needs = {name: each for name, each in annotators.items() if name != checker}
    outcomes: list[Scored | XlingError] = [
        scorable.answer if isinstance(scorable, Scorable) else scorable.answer_set
        for scorable in scorables
    ]
    if needs:
        given: list[Any] = outcomes
        annotated_of = await _each_annotated(needs, [_members(scored) for scored in given])
        outcomes = [
            annotated if isinstance(annotated, XlingError) else _with_members(scored, annotated)
            for scored, annotated in zip(given, annotated_of, strict=True)
        ]
    if not checker:
        return outcomes
    places = [place for place, each in enumerate(outcomes) if not isinstance(each, XlingError)]
    ready: list[Any] = [outcomes[place] for place in places]
    checks = [metric.checks(each) for each in ready]
    checked_of = await _each_annotated({checker: annotators[checker]}, checks)
    for place, scored, checked in zip(places, ready, checked_of, strict=True):
        outcomes[place] = (
            checked if isinstance(checked, XlingError) else replace(scored, checks=checked)
        )
    return outcomes


def reading_json(reading: Reading) -> str:
    """Return a reading as it is kept."""
    return canonical_json([reading.value, reading.reason])


@lru_cache(4096)  # most are alike, as flags' are: they are one object
def read_reading(text: str) -> Reading:
    """Return the reading that was kept as *text*."""
    value, reason = json.loads(text)
    return Reading(value=value, reason=reason)


def _why_unscored(metric: Metric[Any], scorable: Scorable | ScorableSet) -> str:
    """Say why *metric* has no value for *scorable*; "" where it scores it."""
    if isinstance(scorable, ScorableSet):
        return _why_too_few(scorable, metric.least)
    if metric.scores_missing:
        return ""
    answer = scorable.answer
    if reason := missing_reason(answer):
        return f"no answer: {reason}"
    silent = not answer.text.strip() and not metric.reads_calls
    return "the answer is a call of a tool, without a text" if silent else ""


def _why_too_few(scorable: ScorableSet, least: int) -> str:
    """Say what is missing from a set; "" if nothing is."""
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


def _members(scored: Scored) -> tuple[Answer, ...]:
    return (scored,) if isinstance(scored, Answer) else (*scored.answers, *scored.pivot)


def _with_members(scored: Scored, members: tuple[Answer, ...]) -> Scored:
    if isinstance(scored, Answer):
        return members[0]
    size = len(scored.answers)
    return replace(scored, answers=members[:size], pivot=members[size:])


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
