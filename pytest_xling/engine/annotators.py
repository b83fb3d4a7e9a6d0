"""Annotators as functions over answers: what is annotated once is read from the store."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from pytest_xling.errors import XlingError
from pytest_xling.records import Annotation

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from pytest_xling.engine.memo import Memo
    from pytest_xling.keys import JsonValue
    from pytest_xling.records import Answer

Annotate: TypeAlias = (
    "Callable[[Sequence[Answer]], Awaitable[list[Annotation | XlingError | None]]]"
)
"""Annotates answers with one annotator; None where it has nothing to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAnnotator:
    """Annotates answers through the memo of an annotator's step."""

    memo: Memo[Any, JsonValue]
    needs: Mapping[str, Annotate]
    """The annotators whose output it reads."""
    reads_text: bool
    """Whether it takes a text and its language rather than an answer."""
    target: JsonValue
    """The language it translates into, in which there is nothing to translate."""

    async def __call__(self, answers: Sequence[Answer]) -> list[Annotation | XlingError | None]:
        """Return an annotation of each answer, or what went wrong; None: nothing to do."""
        annotations: list[Annotation | XlingError | None] = [None] * len(answers)
        indices = [i for i, answer in enumerate(answers) if answer.language != self.target]
        annotated = await annotated_with(self.needs, [answers[i] for i in indices])
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
    annotators: Mapping[str, Annotate], answers: Sequence[Answer]
) -> list[Answer | XlingError]:
    """Return *answers* with the annotations of *annotators*; in place of some, what went wrong.

    Where an annotator has nothing to do, an answer goes without.
    """
    if not annotators:
        return list(answers)
    columns = await asyncio.gather(*(annotate(answers) for annotate in annotators.values()))
    annotated: list[Answer | XlingError] = []
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
