"""The process on Ray that runs batches, and what it is told: names and parameters, never code."""

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

    from pytest_xling.engine.executor import Made

PACKAGE = Path(__file__).resolve().parents[2]
BENCHMARKS = "_benchmarks"
"""In a wheel only, and nothing that computes."""
ATTEMPTS = 3
"""How often a batch is begun: what its process did not survive so often it never will."""
ON_RAY = "On Ray:\n"


@dataclass(frozen=True, slots=True)
class Task:
    """A metric or an annotator as it is found in any process: by its name, with its fields."""

    kind: Literal["metric", "annotator"]
    name: str
    fields: tuple[tuple[str, Any], ...]

    @classmethod
    def of(cls, made: Made) -> Task:
        """Return what tells another process to make *made*."""
        kind: Literal["metric", "annotator"] = "metric" if isinstance(made, Metric) else "annotator"
        given = tuple((f.name, getattr(made, f.name)) for f in fields(made) if f.init)  # type: ignore[arg-type]  # all are dataclasses
        return cls(kind, made.name, given)

    @staticmethod
    def is_portable(made: object) -> bool:
        """Tell whether another process can make *made*, and there are batches of it to run.

        What a conftest.py, a test file or a prompts.yaml defines is only known where that was read,
        and so is a language that one declares.
        """
        if declared() or not isinstance(made, Metric | TextAnnotator | AnswerAnnotator):
            return False
        return registry.is_importable(
            "metric" if isinstance(made, Metric) else "annotator", made.name
        )

    def make(self) -> Made:
        """Return the metric or annotator, made.

        Raises:
            ConfigError: there is none of that name here, or what it needs is not there.
        """
        made: Made = registry.load(self.kind, self.name)(**dict(self.fields))
        made.check()
        return made


@cache
def package_digest() -> str:
    """Return a digest of the package's code: where it differs numbers may, too."""
    code = (path for path in PACKAGE.rglob("*.py") if BENCHMARKS not in path.parts)
    return files_sha256(sorted(code))[:16]


def check_package(digest: str) -> None:
    """Check that the package's code here is that of another process.

    Raises:
        ConfigError: it is not.
    """
    if package_digest() != digest:
        msg = (
            f"--xling-executor: the pytest-xling on Ray ({PACKAGE}) is not the one that runs "
            "here, and its numbers may differ; install the same version on all machines"
        )
        raise ConfigError(msg)


class Attempts:
    """Counts how often a batch was begun, in a process that runs none.

    Where that dies Ray starts it anew, ``ATTEMPTS`` times at most, and it counts from the
    beginning: a batch is begun so many times more, and not without end.
    """

    def __init__(self) -> None:
        self._begun: Counter[str] = Counter()

    def begin(self, batch: str) -> int:
        """Return how often *batch* has been begun, this time included."""
        self._begun[batch] += 1
        return self._begun[batch]


class BatchActor:
    """Runs batches, one at a time; nothing it does raises.

    Args:
        digest: of the package's code where the batches come from.
        attempts: the handle of an :class:`Attempts` actor.
    """

    def __init__(self, digest: str, attempts: Any) -> None:  # noqa: ANN401  Ray's handles are untyped
        self._digest = digest
        self._attempts = attempts
        self._made: dict[Task, Made] = {}

    def run(self, batch: str, task: bytes, inputs: bytes) -> bytes:
        """Return what a task gives on a batch, in the order of its inputs, for :func:`received`.

        Args:
            batch: a name that no other batch has.
            task: a :class:`Task`, pickled.
            inputs: pickled.
        """
        import ray  # noqa: PLC0415  an extra; without it nobody gets here
        import ray.exceptions  # noqa: PLC0415  likewise

        try:
            wanted = self._task(task)
            given: Sequence[Any] = pickle.loads(inputs)  # noqa: S301  from our own driver
            try:
                begun = ray.get(self._attempts.begin.remote(batch))
            except ray.exceptions.RayError as error:
                return pickle.dumps([_uncounted(wanted, error)] * len(given))
            if begun > ATTEMPTS:
                return pickle.dumps([_fatal(wanted, len(given))] * len(given))
            results = outcomes(self._ready(wanted), given)
            return pickle.dumps([portable(each) for each in results])
        except Exception as error:  # noqa: BLE001  Ray would start the batch's process anew
            return pickle.dumps(portable(error))

    def load(self, task: bytes) -> None:
        """Load what a task needs; whatever is wrong with it is said of its first batch."""
        import contextlib  # noqa: PLC0415

        with contextlib.suppress(Exception):
            self._ready(self._task(task)).load()

    def _task(self, task: bytes) -> Task:
        check_package(self._digest)
        wanted: Task = pickle.loads(task)  # noqa: S301  from our own driver
        return wanted

    def _ready(self, task: Task) -> Made:
        if task not in self._made:
            self._made[task] = task.make()
        return self._made[task]


def received(answered: bytes) -> Any:  # noqa: ANN401  outputs of a batch, or a model's answer
    """Return what an actor has pickled.

    Raises:
        Exception: what it broke with, as it would have broken here.
    """
    result: Any = pickle.loads(answered)  # noqa: S301  from an actor of ours
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
    told = (str(error).strip().splitlines() or [type(error).__name__])[0]
    msg = (
        f"{task.kind} {task.name!r}: the process on Ray that counts how often a batch is begun is "
        f"gone, and without it none is: run again ({told})"
    )
    return EvaluationError(msg)


def portable(value: Any) -> Any:  # noqa: ANN401  any output
    """Return *value*; of an error what another process can read, and where it came from."""
    if not isinstance(value, BaseException):
        return value
    # Several inputs may meet the same error, and where it came from includes its notes.
    if not any(note.startswith(ON_RAY) for note in getattr(value, "__notes__", ())):
        value.add_note(ON_RAY + "".join(traceback.format_exception(value)))
    try:
        pickle.loads(pickle.dumps(value))  # noqa: S301  our own
    except Exception:  # noqa: BLE001  whatever another's error cannot do
        kind = type(value) if type(value) in {ConfigError, EvaluationError} else RuntimeError
        return kind(f"{type(value).__name__}: {value}")
    return value
