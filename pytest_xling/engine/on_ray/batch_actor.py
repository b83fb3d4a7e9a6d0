"""The process on Ray that runs batches; it is sent names and parameters, never code."""

from __future__ import annotations

import pickle
import traceback
from collections import Counter
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pytest_xling import registry
from pytest_xling.engine.executor import outcomes
from pytest_xling.errors import ConfigError, EvaluationError
from pytest_xling.files.digest import files_sha256
from pytest_xling.interfaces.annotator import AnswerAnnotator, TextAnnotator
from pytest_xling.interfaces.metric import Metric
from pytest_xling.languages import declared

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_xling.engine.executor import Runnable

PACKAGE = Path(__file__).resolve().parents[2]
BENCHMARKS = "_benchmarks"
"""In a wheel only, and no part of what computes."""
ATTEMPTS = 3
"""How often a batch is started: one that ends its process each time always will."""
ON_RAY = "On Ray:\n"


@dataclass(frozen=True, slots=True)
class Task:
    """A metric or an annotator for another process, which makes it of its name and fields."""

    kind: Literal["metric", "annotator"]
    name: str
    fields: tuple[tuple[str, Any], ...]

    @classmethod
    def of(cls, runnable: Runnable) -> Task:
        """Return the task by which another process makes *runnable*."""
        values = tuple((f.name, getattr(runnable, f.name)) for f in fields(runnable) if f.init)  # type: ignore[arg-type]  # all are dataclasses
        return cls(_kind(runnable), runnable.name, values)

    @staticmethod
    def is_portable(runnable: object) -> bool:
        """Tell whether *runnable* runs over batches, and another process can make it.

        What a conftest.py, a test file or a prompts.yaml defines is only known to the process that
        read it, and so is a language that one declares.
        """
        if declared() or not isinstance(runnable, Metric | TextAnnotator | AnswerAnnotator):
            return False
        return registry.is_importable(_kind(runnable), runnable.name)

    def make(self) -> Runnable:
        """Return the metric or annotator.

        Raises:
            ConfigError: there is none of that name here, or what it needs is missing.
        """
        runnable: Runnable = registry.load(self.kind, self.name)(**dict(self.fields))
        runnable.check()
        return runnable


def _kind(runnable: Runnable) -> Literal["metric", "annotator"]:
    return "metric" if isinstance(runnable, Metric) else "annotator"


@cache
def package_digest() -> str:
    """Return a digest of the package's code: where it differs, numbers may."""
    code = (path for path in PACKAGE.rglob("*.py") if BENCHMARKS not in path.parts)
    return files_sha256(sorted(code))[:16]


def check_package(digest: str) -> None:
    """Check that this process has the package's code of another.

    Raises:
        ConfigError: it has not.
    """
    if package_digest() != digest:
        msg = (
            f"--xling-executor: the pytest-xling on Ray ({PACKAGE}) is not the one that runs "
            "here, and its numbers may differ; install the same version on all machines"
        )
        raise ConfigError(msg)


class Attempts:
    """Counts the attempts at each batch, in a process that runs none.

    If that process dies Ray restarts it, ``ATTEMPTS`` times at most, and it counts from 0 again:
    the attempts at a batch stay finite.
    """

    def __init__(self) -> None:
        self._attempts: Counter[str] = Counter()

    def begin(self, batch: str) -> int:
        """Return the number of attempts at *batch*, this one included."""
        self._attempts[batch] += 1
        return self._attempts[batch]


class BatchActor:
    """Runs batches, one at a time; errors are returned, never raised.

    Args:
        digest: of the package's code in the process that sends the batches.
        attempts: the handle of an :class:`Attempts` actor.
    """

    def __init__(self, digest: str, attempts: Any) -> None:  # noqa: ANN401  Ray's handles are untyped
        self._digest = digest
        self._attempts = attempts
        self._runnables: dict[Task, Runnable] = {}

    def run(self, batch: str, pickled_task: bytes, pickled_inputs: bytes) -> bytes:
        """Return a task's outputs for a batch, in order, or an error, for :func:`unpickle`.

        Args:
            batch: a unique name.
            pickled_task: a :class:`Task`.
            pickled_inputs: of the batch.
        """
        import ray  # noqa: PLC0415  an extra, which is there where this runs
        import ray.exceptions  # noqa: PLC0415  likewise

        try:
            task = self._task(pickled_task)
            inputs: Sequence[Any] = pickle.loads(pickled_inputs)  # noqa: S301  from our own driver
            try:
                attempts = ray.get(self._attempts.begin.remote(batch))
            except ray.exceptions.RayError as error:
                return pickle.dumps([_uncounted(task, error)] * len(inputs))
            if attempts > ATTEMPTS:
                return pickle.dumps([_fatal(task, len(inputs))] * len(inputs))
            results = outcomes(self._runnable(task), inputs)
            return pickle.dumps([portable(each) for each in results])
        except Exception as error:  # noqa: BLE001  Ray would restart the batch's process
            return pickle.dumps(portable(error))

    def load(self, task: bytes) -> None:
        """Load what a task needs; its first batch meets any error."""
        import contextlib  # noqa: PLC0415

        with contextlib.suppress(Exception):
            self._runnable(self._task(task)).load()

    def _task(self, pickled: bytes) -> Task:
        check_package(self._digest)
        task: Task = pickle.loads(pickled)  # noqa: S301  from our own driver
        return task

    def _runnable(self, task: Task) -> Runnable:
        if task not in self._runnables:
            self._runnables[task] = task.make()
        return self._runnables[task]


def unpickle(pickled: bytes) -> Any:  # noqa: ANN401  outputs of a batch, or a model's answer
    """Return what an actor has pickled.

    Raises:
        Exception: the actor's own error.
    """
    result: Any = pickle.loads(pickled)  # noqa: S301  from an actor of ours
    if isinstance(result, BaseException):
        raise result
    return result


def _fatal(task: Task, inputs: int) -> EvaluationError:
    msg = (
        f"{task.kind} {task.name!r}: a process on Ray died {ATTEMPTS} times over the same batch of "
        f"{inputs}, and is not started again for it; see why with --xling-executor=local"
    )
    return EvaluationError(msg)


def _uncounted(task: Task, error: Exception) -> EvaluationError:
    reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
    msg = (
        f"{task.kind} {task.name!r}: the process on Ray that counts how often a batch is begun is "
        f"gone, and without it none is: run again ({reason})"
    )
    return EvaluationError(msg)


def portable(value: Any) -> Any:  # noqa: ANN401  any output
    """Return *value*; an error as one that another process can unpickle, with its traceback."""
    if not isinstance(value, BaseException):
        return value
    # Several inputs may share one error, and its formatted traceback includes its notes.
    if not any(note.startswith(ON_RAY) for note in getattr(value, "__notes__", ())):
        value.add_note(ON_RAY + "".join(traceback.format_exception(value)))
    try:
        pickle.loads(pickle.dumps(value))  # noqa: S301  our own
    except Exception:  # noqa: BLE001  others' errors may raise anything
        kind = type(value) if type(value) in {ConfigError, EvaluationError} else RuntimeError
        return kind(f"{type(value).__name__}: {value}")
    return value
