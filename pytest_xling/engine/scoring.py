"""The step that runs a metric, and the annotators it needs."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from pytest_xling.engine.step import Batched
from pytest_xling.errors import BrokenStep, EvaluationError, XlingError
from pytest_xling.keys import canonical_json, content_key
from pytest_xling.records import LARGEST, Annotation, Answer, Reading

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence
    from concurrent.futures import Executor

    from pytest_xling.interfaces.metric import Metric
    from pytest_xling.keys import JsonValue

__all__ = [
    "Annotate",
    "ReadingStep",
    "Scorable",
    "Scoring",
    "annotated_with",
    "checked",
    "missing_reason",
]

FLAG_VALUES = (0.0, 1.0)

Annotate: TypeAlias = (
    "Callable[[Sequence[Answer]], Awaitable[list[Annotation | XlingError | None]]]"
)
"""Annotates answers with one annotator; None where it has nothing to do."""


@dataclass(frozen=True)
class Scorable:
    """An answer with its content key, hashed once for all metrics."""

    answer: Answer

    @cached_property
    def key(self) -> bytes:
        """The content key of all that a metric may look at."""
        sample, response = self.answer.sample, self.answer.response
        looked_at: dict[str, JsonValue] = {
            "language": sample.language,
            "prompt": dict(sample.prompt),
            "reference": sample.reference,
            "text": response.text,
            "stop_reason": response.stop_reason,
            "error": response.error,
        }
        if sample.wrong:
            looked_at["wrong"] = list(sample.wrong)
        if response.first_token:
            looked_at["first_token"] = [list(pair) for pair in response.first_token]
        return content_key(looked_at)


class ReadingStep:
    """How readings are kept, whatever they are of."""

    kind: ClassVar[str] = "score"
    exclusive = False

    def payload(self, _scorable: object) -> None:
        """Keep nothing: the answers are kept already."""

    def encode(self, reading: Reading) -> str:
        """Return *reading* as JSON."""
        return canonical_json([reading.value, reading.reason])

    def decode(self, text: str) -> Reading:
        """Return the reading in *text*."""
        value, reason = json.loads(text)
        return Reading(value=value, reason=reason)

    def cost_usd(self, _reading: Reading) -> float:
        """Return 0: metrics run here."""
        return 0.0


class Scoring(ReadingStep):
    """Scores answers with one metric.

    Where there is no answer, metrics that have nothing to say give None and the reason.
    """

    def __init__(
        self,
        metric: Metric[Answer],
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
        self._run = Batched(self._score, size=_length, executor=executor)

    def _score(self, answers: Sequence[Answer]) -> list[Reading]:
        return checked(self._metric, self._metric.score(answers), len(answers))

    def key(self, scorable: Scorable) -> bytes:
        """Return the content key of the answer."""
        return scorable.key

    async def compute(
        self,
        scorables: Sequence[Scorable],
        done: Callable[[int, Reading], None],
        failed: Callable[[int, XlingError], None],
    ) -> None:
        """Score *scorables*: annotate what needs it, then run the metric in batches."""
        present: list[int] = []
        for index, scorable in enumerate(scorables):
            reason = missing_reason(scorable.answer)
            if reason and not self._metric.scores_missing:
                done(index, Reading(value=None, reason=f"no answer: {reason}"))
            else:
                present.append(index)
        answers = [scorables[index].answer for index in present]
        ready: list[tuple[int, Answer]] = []
        annotated = await annotated_with(self._annotators, answers)
        for index, answer in zip(present, annotated, strict=True):
            if isinstance(answer, XlingError):
                failed(index, answer)
            else:
                ready.append((index, answer))
        await self._run(
            [answer for _, answer in ready],
            lambda index, reading: done(ready[index][0], reading),
            lambda index, error: failed(ready[index][0], error),
        )


async def annotated_with(
    annotators: Mapping[str, Annotate], answers: Sequence[Answer]
) -> list[Answer | XlingError]:
    """Return *answers* with what *annotators* say of them; in place of some, what went wrong.

    Where an annotator has nothing to do, an answer goes without.
    """
    if not annotators:
        return list(answers)
    columns = await asyncio.gather(*(ask(answers) for ask in annotators.values()))
    annotated: list[Answer | XlingError] = []
    for answer, row in zip(answers, zip(*columns, strict=True), strict=True):
        said: dict[str, Annotation] = {}
        fault: XlingError | None = None
        for name, found in zip(annotators, row, strict=True):
            if isinstance(found, XlingError):
                fault = found
            elif found is not None:
                said[name] = found
        annotated.append(fault or replace(answer, annotations=said))
    return annotated


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
            said = "1.0 or 0.0" if flag else f"a number up to {LARGEST:g}"
            msg = f"metric {metric.name!r} gave {value!r}, not {said} or None with a reason"
            raise EvaluationError(msg)
    return readings


def missing_reason(answer: Answer) -> str:
    """Say why there is no answer, or return "" where there is one."""
    if answer.text.strip():
        return ""
    response = answer.response
    reasons = {
        "content_filter": "content filter",
        "refusal": "refusal",
        "error": "API error",
    }
    return reasons.get(response.stop_reason, "empty text")


def _length(answer: Answer) -> int:
    return len(answer.text)
