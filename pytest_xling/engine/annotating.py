"""Annotators as functions over answers, whose annotations are stored."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from pytest_xling.engine.executor import in_batches
from pytest_xling.engine.memo import remember
from pytest_xling.errors import XlingError
from pytest_xling.interfaces.annotator import AskingAnnotator, TextAnnotator
from pytest_xling.judging.panel import ask_panel
from pytest_xling.keys import content_key
from pytest_xling.records import Annotation

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from pytest_xling.engine.executor import Executor
    from pytest_xling.engine.memo import Step
    from pytest_xling.engine.store_writer import StoreWriter
    from pytest_xling.interfaces.annotator import Ask
    from pytest_xling.records import Answer

Annotate: TypeAlias = (
    "Callable[[Sequence[Answer]], Awaitable[list[Annotation | XlingError | None]]]"
)
"""Annotates answers with one annotator; None where it has nothing to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAnnotator:
    """An annotator, with what it needs to run and where its annotations are kept."""

    annotator: Any
    step: Step
    needs: Mapping[str, Annotate]
    """The annotators whose output it reads."""
    asks: Sequence[Ask]
    """The models it asks, if any: a judge that is asked three times is in it three times."""
    store: StoreWriter
    executor: Executor

    async def __call__(self, answers: Sequence[Answer]) -> list[Annotation | XlingError | None]:
        """Return the annotation of each answer, or the error in its place.

        None where there is nothing to do: an answer is in the language to translate into.
        """
        step, target = self.step, self.step.parameters.get("target")
        annotations: list[Annotation | XlingError | None] = [None] * len(answers)
        indices = [i for i, answer in enumerate(answers) if answer.language != target]
        annotated = await annotated_with(self.needs, [answers[i] for i in indices])
        keys: dict[int, bytes] = {}
        inputs: dict[bytes, Any] = {}
        for i, answer in zip(indices, annotated, strict=True):
            if isinstance(answer, XlingError):
                annotations[i] = answer
            elif isinstance(self.annotator, TextAnnotator):
                keys[i] = content_key([answer.text, answer.language])
                inputs[keys[i]] = answer.text, answer.language
            else:
                keys[i] = content_key(self.annotator.looks_at(answer))
                inputs[keys[i]] = answer
        if isinstance(self.annotator, AskingAnnotator):
            compute: Any = partial(ask_panel, self.annotator, asks=self.asks)
        else:
            compute = partial(in_batches, self.annotator, executor=self.executor)
        values: dict[bytes, Any] = await remember(self.store, step, inputs, compute)
        for i, key in keys.items():
            value = values[key]
            annotations[i] = (
                value
                if isinstance(value, XlingError)
                else Annotation(kind=step.name, value=value, signature=step.signature)
            )
        return annotations


async def annotated_with(
    annotators: Mapping[str, Annotate], answers: Sequence[Answer]
) -> list[Answer | XlingError]:
    """Return *answers* with their annotations, or an error in place of an answer.

    An answer for which an annotator has nothing to do has none of that annotator.
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
