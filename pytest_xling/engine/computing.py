"""What a metric or an annotator gives on a batch, checked; wherever the batch is computed."""

from __future__ import annotations

import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from pytest_xling.errors import BrokenStep, EvaluationError, XlingError
from pytest_xling.files.whole import display_path
from pytest_xling.interfaces.annotator import AnswerAnnotator, TextAnnotator
from pytest_xling.interfaces.metric import Metric, within
from pytest_xling.records import LARGEST

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_xling.records import Reading

FLAG_VALUES = (0.0, 1.0)

Made: TypeAlias = "Metric[Any] | TextAnnotator | AnswerAnnotator"
"""What runs over batches, made with its parameters."""


def outcomes(made: Made, inputs: Sequence[Any]) -> list[Any]:
    """Return what *made* gives for each of *inputs*, in order; an error in place of an output.

    A batch that fails is halved until the inputs that break it stand alone. What is fitted to all
    of its inputs is not: they fail together.
    """
    if isinstance(made, Metric) and made.fitted:
        try:
            return _outputs(made, inputs)
        except XlingError as error:
            return [error] * len(inputs)
    try:
        return _outputs(made, inputs)
    except EvaluationError as error:
        half = len(inputs) // 2
        if not half or isinstance(error, BrokenStep):
            return [error] * len(inputs)
    return [*outcomes(made, inputs[:half]), *outcomes(made, inputs[half:])]


def _outputs(made: Made, inputs: Sequence[Any]) -> list[Any]:
    try:
        if isinstance(made, TextAnnotator):
            return made.annotate([text for text, _ in inputs], [language for _, language in inputs])
        if isinstance(made, AnswerAnnotator):
            return made.annotate(inputs)
        readings = made.score(inputs)
    except XlingError:
        raise
    except Exception as error:  # whatever others' code may raise
        *_, last = traceback.extract_tb(error.__traceback__)
        where = f"{display_path(Path(last.filename))}:{last.lineno}"
        msg = f"{made.name!r} broke: {type(error).__name__}: {error} ({where})"
        raise EvaluationError(msg) from error
    return checked(made, readings, len(inputs))


def checked(metric: Metric[Any], readings: list[Reading], wanted: int) -> list[Reading]:
    """Return *readings* if they are what a metric may give.

    Raises:
        BrokenStep: their number is wrong, or a reason is not text.
        EvaluationError: a value is not finite or too large to be summed, beyond the metric's
            bounds, or a flag's neither 0 nor 1.
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
        if value is not None and not within(value, metric.bounds):
            lowest, highest = metric.bounds
            msg = (
                f"metric {metric.name!r} gave {value!r}, and its bounds are {lowest} and {highest}"
            )
            raise EvaluationError(msg)
    return readings
