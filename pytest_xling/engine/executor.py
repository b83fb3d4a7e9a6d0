"""Run metrics and annotators over batches, on a thread of this process, and check the outputs."""

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

Runnable: TypeAlias = "Metric[Any] | TextAnnotator | AnswerAnnotator"
"""What runs over batches."""


class Executor:
    """Runs metrics and annotators over batches, one after the other on a thread of this process.

    Args:
        progress: called with a name, how many of its inputs are done, and how many there are.
    """

    def __init__(self, *, progress: Callable[[str, int, int], None] | None = None) -> None:
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="xling-score")
        self._progress = progress
        self._done: Counter[str] = Counter()
        self._total: Counter[str] = Counter()

    def place(self, provider: Provider) -> None:
        """Move a model, before its first request, to where batches run: here it stays."""

    async def call(self, function: Callable[..., T], *args: object) -> T:
        """Call *function* on this executor's thread of this process, and return its result."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, function, *args)

    async def load(self, runnable: Any) -> None:  # noqa: ANN401  any metric or annotator
        """Load what *runnable* needs for its first batch, where it will run."""
        await self.call(runnable.load)

    async def outcomes(
        self, runnable: Runnable, batches: Sequence[Sequence[Any]]
    ) -> AsyncIterator[tuple[int, list[Any]]]:
        """Yield the index of each batch and its outputs, as they are ready.

        An :class:`~pytest_xling.errors.XlingError` may stand in place of an output.
        """
        self._total[runnable.name] += sum(map(len, batches))
        self._report(runnable.name)
        async for index, outputs in self._run(runnable, batches):
            yield index, outputs
            self._done[runnable.name] += len(outputs)
            self._report(runnable.name)

    def _report(self, name: str) -> None:
        if self._progress is not None and (total := self._total[name]):
            self._progress(name, self._done[name], total)

    async def _run(
        self, runnable: Runnable, batches: Sequence[Sequence[Any]]
    ) -> AsyncIterator[tuple[int, list[Any]]]:
        for index, batch in enumerate(batches):
            yield index, await self.call(outcomes, runnable, batch)

    def close(self) -> None:
        """Cancel what has not begun, and do not wait for what runs."""
        self._thread.shutdown(wait=False, cancel_futures=True)


async def in_batches(
    runnable: Runnable,
    inputs: Sequence[Any],
    *,
    executor: Executor,
    max_batch: int = MAX_BATCH,
) -> AsyncIterator[dict[int, Any]]:
    """Yield the outputs for *inputs* by their indices, a batch at a time; errors for some.

    Args:
        runnable: a metric or an annotator.
        inputs: those of similar length are put into a batch.
        executor: where to run it.
        max_batch: inputs in a batch at most.
    """
    order = sorted(range(len(inputs)), key=lambda i: _size(inputs[i]))
    indices = [order[start : start + max_batch] for start in range(0, len(order), max_batch)]
    batches = [[inputs[i] for i in batch] for batch in indices]
    async for number, outputs in executor.outcomes(runnable, batches):
        yield dict(zip(indices[number], outputs, strict=True))


def _size(value: Any) -> int:  # noqa: ANN401  any input
    """Return the length of an input: a text with its language, an answer or a set of answers."""
    size: int = len(value[0]) if isinstance(value, tuple) else value.size
    return size


def outcomes(runnable: Runnable, inputs: Sequence[Any]) -> list[Any]:
    """Return the output for each of *inputs*, in order, or an error in its place.

    A batch that fails is halved until the inputs that break it are alone. Inputs of a metric that
    is fitted to all of them fail together.
    """
    if isinstance(runnable, Metric) and runnable.fitted:
        try:
            return _outputs(runnable, inputs)
        except XlingError as error:
            return [error] * len(inputs)
    try:
        return _outputs(runnable, inputs)
    except EvaluationError as error:
        half = len(inputs) // 2
        if not half or isinstance(error, BrokenStep):
            return [error] * len(inputs)
    return [*outcomes(runnable, inputs[:half]), *outcomes(runnable, inputs[half:])]


def _outputs(runnable: Runnable, inputs: Sequence[Any]) -> list[Any]:
    try:
        if isinstance(runnable, TextAnnotator):
            texts, languages = [text for text, _ in inputs], [language for _, language in inputs]
            return runnable.annotate(texts, languages)
        if isinstance(runnable, AnswerAnnotator):
            return runnable.annotate(inputs)
        readings = runnable.score(inputs)
    except XlingError:
        raise
    except Exception as error:  # others' code may raise anything
        *_, last = traceback.extract_tb(error.__traceback__)
        where = f"{display_path(Path(last.filename))}:{last.lineno}"
        msg = f"{runnable.name!r} broke: {type(error).__name__}: {error} ({where})"
        raise EvaluationError(msg) from error
    return checked(runnable, readings, len(inputs))


def checked(metric: Metric[Any], readings: list[Reading], inputs: int) -> list[Reading]:
    """Return *readings* of so many *inputs* if a metric may give them.

    Raises:
        BrokenStep: their number is wrong, or a reason is not text.
        EvaluationError: a value is not finite or too large to be summed, beyond the metric's
            bounds, or a flag's neither 0 nor 1.
    """
    if len(readings) != inputs:
        msg = f"metric {metric.name!r} gave {len(readings)} readings for {inputs} inputs"
        raise BrokenStep(msg)
    flag = metric.kind == "flag"
    for reading in readings:
        value = reading.value
        reason: object = reading.reason  # others' metrics may give anything
        if not isinstance(reason, str):
            msg = f"metric {metric.name!r} gave the reason {reason!r}; a reason is text"
            raise BrokenStep(msg)
        # The comparison is false for NaN, too.
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
