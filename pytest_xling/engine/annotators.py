"""Annotators as functions over answers: what is annotated once is read from the store."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from pytest_xling.errors import XlingError
from pytest_xling.records import Annotation

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_xling.engine.memo import Memo
    from pytest_xling.keys import JsonValue
    from pytest_xling.records import Answer, AnswerSet

__all__ = ["OpenAnnotator", "annotated_with", "sets_annotated_with"]

Annotated = TypeVar("Annotated", "Answer", "AnswerSet")


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAnnotator:
    """Annotates answers, or sets of answers, through the memo of an annotator's step."""

    memo: Memo[Any, JsonValue]
    needs: Mapping[str, OpenAnnotator]
    """The annotators whose output it reads."""
    of_sets: bool
    """Whether it takes sets."""
    reads_text: bool
    """Whether it takes a text and its language rather than an answer."""
    target: JsonValue
    """The language it translates into, in which there is nothing to translate."""

    async def __call__(self, answers: Sequence[Any]) -> list[Annotation | XlingError | None]:
        """Return an annotation of each answer, or what went wrong; None: nothing to do."""
        annotations: list[Annotation | XlingError | None] = [None] * len(answers)
        indices = [
            i for i, each in enumerate(answers) if self.of_sets or each.language != self.target
        ]
        annotate = sets_annotated_with if self.of_sets else annotated_with
        annotated: Sequence[Any] = await annotate(self.needs, [answers[i] for i in indices])
        inputs: dict[int, Any] = {}
        for i, answer in zip(indices, annotated, strict=True):
            if isinstance(answer, XlingError):
                annotations[i] = answer
            else:
                inputs[i] = (answer.text, answer.language) if self.reads_text else answer
        step, signature = self.memo.step, self.memo.signature
        values = await self.memo.many(list(inputs.values()))
        for i, value in zip(inputs, values, strict=True):
            annotations[i] = (
                value
                if isinstance(value, XlingError)
                else Annotation(kind=step.name, value=value, signature=signature)
            )
        return annotations


async def annotated_with(
    annotators: Mapping[str, OpenAnnotator], answers: Sequence[Annotated]
) -> list[Annotated | XlingError]:
    """Return *answers* with the annotations of *annotators*; in place of some, what went wrong.

    Where an annotator has nothing to do, an answer goes without.
    """
    if not annotators:
        return list(answers)
    columns = await asyncio.gather(*(annotate(answers) for annotate in annotators.values()))
    annotated: list[Annotated | XlingError] = []
    for answer, row in zip(answers, zip(*columns, strict=True), strict=True):
        annotations: dict[str, Annotation] = {}
        fault: XlingError | None = None
        for name, annotation in zip(annotators, row, strict=True):
            if isinstance(annotation, XlingError):
                fault = annotation
            elif annotation is not None:
                annotations[name] = annotation
        annotated.append(fault or replace(answer, annotations=annotations))
    return annotated


async def sets_annotated_with(
    annotators: Mapping[str, OpenAnnotator], sets: Sequence[AnswerSet]
) -> list[AnswerSet | XlingError]:
    """Return *sets* and their answers with the annotations of *annotators*.

    What went wrong, with whichever answer, stands in place of a whole set.
    """
    of_sets = {name: each for name, each in annotators.items() if each.of_sets}
    of_answers = {name: each for name, each in annotators.items() if not each.of_sets}
    answers = [answer for each in sets for answer in (*each.answers, *each.pivot)]
    annotated = iter(await annotated_with(of_answers, answers))
    outcomes: dict[int, AnswerSet | XlingError] = {}
    whole: dict[int, AnswerSet] = {}
    for place, each in enumerate(sets):
        members = [next(annotated) for _ in (*each.answers, *each.pivot)]
        present = tuple(member for member in members if not isinstance(member, XlingError))
        fault = next((member for member in members if isinstance(member, XlingError)), None)
        size = len(each.answers)
        if fault:
            outcomes[place] = fault
        else:
            whole[place] = replace(each, answers=present[:size], pivot=present[size:])
    together = await annotated_with(of_sets, list(whole.values()))
    outcomes.update(zip(whole, together, strict=True))
    return [outcomes[place] for place in range(len(sets))]
