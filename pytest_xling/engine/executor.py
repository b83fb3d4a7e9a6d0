"""Run metrics and annotators, a batch at a time, checked: on a thread, unless told otherwise."""

from __future__ import annotations

import asyncio
import traceback
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from pytest_xling.errors import BrokenStep, EvaluationError, XlingError
from pytest_xling.files.whole import display_path
from pytest_xling.interfaces.annotator import AnswerAnnotator, TextAnnotator
from pytest_xling.interfaces.metric import Metric, within
from pytest_xling.records import LARGEST

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence

    from pytest_xling.interfaces.provider import Provider
    from pytest_xling.records import Reading

T = TypeVar("T")

MAX_BATCH = 256
FLAG_VALUES = (0.0, 1.0)

Made: TypeAlias = "Metric[Any] | TextAnnotator | AnswerAnnotator"
"""What runs over batches, made with its parameters."""


class Executor:
    """Runs metrics and annotators over batches, one after the other on a thread of this process.

    Args:
        progress: told of a name, how many of its inputs are done, and how many there are.
    """

    def __init__(self, *, progress: Callable[[str, int, int], None] | None = None) -> None:
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="xling-score")
        self._progress = progress
        self._done: Counter[str] = Counter()
        self._whole: Counter[str] = Counter()

    def place(self, provider: Provider) -> None:
        """Have a model run where batches do, before its first request: here on its own thread."""

    async def call(self, function: Callable[..., T], *args: object) -> T:
        """Call *function* on the thread of this process that imports, loads and reads files."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, function, *args)

    async def load(self, made: Any) -> None:  # noqa: ANN401  any metric or annotator
        """Load what *made* needs for its first batch, where it will run."""
        await self.call(made.load)

    async def outcomes(
        self, made: Made, batches: Sequence[Sequence[Any]]
    ) -> AsyncIterator[tuple[int, list[Any]]]:
        """Yield the index of each batch and what *made* gives on it, as they are ready.

        An :class:`~pytest_xling.errors.XlingError` stands in place of an output.
        """
        self._whole[made.name] += sum(map(len, batches))
        self._tell(made.name)
        async for index, outputs in self._run(made, batches):
            yield index, outputs
            self._done[made.name] += len(outputs)
            self._tell(made.name)

    def _tell(self, name: str) -> None:
        if self._progress is not None and (whole := self._whole[name]):
            self._progress(name, self._done[name], whole)

    async def _run(
        self, made: Made, batches: Sequence[Sequence[Any]]
    ) -> AsyncIterator[tuple[int, list[Any]]]:
        for index, batch in enumerate(batches):
            yield index, await self.call(outcomes, made, batch)

    def close(self) -> None:
        """Take on nothing more; what runs is not waited for."""
        self._thread.shutdown(wait=False, cancel_futures=True)


async def in_batches(
    made: Made,
    values: Sequence[Any],
    *,
    executor: Executor,
    max_batch: int = MAX_BATCH,
) -> AsyncIterator[dict[int, Any]]:
    """Yield what *made* gives for *values* by their indices, a batch at a time; errors for some.

    Args:
        made: a metric or an annotator.
        values: its inputs; those of similar length are in a batch.
        executor: where to run it.
        max_batch: inputs in a batch at most.
    """
    order = sorted(range(len(values)), key=lambda i: _size(values[i]))
    indices = [order[start : start + max_batch] for start in range(0, len(order), max_batch)]
    batches = [[values[i] for i in batch] for batch in indices]
    async for number, outputs in executor.outcomes(made, batches):
        yield dict(zip(indices[number], outputs, strict=True))


def _size(value: Any) -> int:  # noqa: ANN401  any input
    """Return how long an input is: a text with its language, an answer or a set of answers."""
    size: int = len(value[0]) if isinstance(value, tuple) else value.size
    return size


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
