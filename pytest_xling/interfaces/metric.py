"""Metrics: one file each, named as in thresholds.yaml."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal, Protocol, TypeAlias, runtime_checkable

from pytest_xling.registry import MetricKind, load

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_xling.keys import JsonValue
    from pytest_xling.records import Answer, AnswerSet, Reading, Sample

__all__ = [
    "Better",
    "Bounded",
    "Bounds",
    "Directed",
    "Metric",
    "MetricKind",
    "Selective",
    "SetMetric",
    "Signed",
    "TextIn",
    "Unit",
    "applies_to",
    "bounds_of",
    "direction_of",
    "is_directed",
    "is_fitted",
    "is_share",
    "reach_of",
    "unit_of",
]

Bounds: TypeAlias = tuple[float | None, float | None]
"""The lowest and the highest value there can be; None where there is no end."""

Better: TypeAlias = Literal["higher", "lower"]

Unit: TypeAlias = Literal["answer", "repeats", "pivot", "levels", "neutral"]
"""What one reading is of: an answer; the repeats of a question in one language (``repeats``); these
beside the repeats in the pivot language (``pivot``); one answer at each level of presupposition
(``levels``); or an answer beside the one to the neutral query (``neutral``)."""

TextIn: TypeAlias = Literal["english", "native"]
"""Which text a metric reads: the answer's translation into English, or the answer as it is."""


class Metric(Protocol):
    """Scores answers in batches.

    A metric is a frozen dataclass: its fields are its parameters and part of its signature
    (but for ``device``, which is not). ``score`` is pure and gives on a batch what it gives one by
    one; of a sample it reads language, prompt, reference and wrong answers, and neither its id nor
    its metadata, which may change without a new score. A metric that has something large to load
    may also have ``load()`` (:class:`pytest_xling.registry.Loads`), a number that cannot take any
    value ``bounds`` (:class:`Bounded`), and one whose numbers have a good end ``better``
    (:class:`Directed`).

    Fields named ``text_in``, ``encoder``, ``stance``, ``device`` and ``seed`` are filled from the
    settings of the same name; every field may be set with ``--xling-param=METRIC.FIELD=VALUE``.
    """

    name: ClassVar[str]
    version: ClassVar[str]
    """Raised whenever the same input would give another reading."""
    kind: ClassVar[MetricKind]
    """``flag``: 1.0 is bad and 0.0 good, gated by max_rate. ``number``: by floor and ceiling."""
    libraries: ClassVar[tuple[str, ...]]
    """Distributions whose version may change a reading; they stand in the signature."""
    scores_missing: ClassVar[bool]
    """Whether it has a reading where there is no answer; else that is None with the reason."""

    @property
    def needs(self) -> tuple[str, ...]:
        """Names of the annotators whose output it reads; may depend on its fields."""
        ...

    def score(self, answers: Sequence[Answer]) -> list[Reading]:
        """Return one reading per answer, in order."""
        ...


class SetMetric(Protocol):
    """Scores sets of answers; else as :class:`Metric`.

    The engine gives it no set with fewer than ``least`` answers (on either side, where there is a
    pivot): there the reading is None with the reason.
    """

    name: ClassVar[str]
    version: ClassVar[str]
    kind: ClassVar[MetricKind]
    libraries: ClassVar[tuple[str, ...]]
    least: ClassVar[int]
    """How many answers a set needs: 2 where they are compared with each other, else 1."""
    fitted: ClassVar[bool]
    """Whether it first fits a model to all answers: ``score`` is then called once, after all
    answers are there, with all sets of one benchmark, language and temperature."""

    @property
    def unit(self) -> Literal["repeats", "pivot", "levels", "neutral"]:
        """Which answers make a set; of the class, not of the object."""
        ...

    @property
    def needs(self) -> tuple[str, ...]:
        """Names of the annotators whose output it reads; may depend on its fields."""
        ...

    def score(self, sets: Sequence[AnswerSet]) -> list[Reading]:
        """Return one reading per set, in order."""
        ...


@runtime_checkable
class Selective(Protocol):
    """A metric that has something to say of some samples only; others get no score at all."""

    @staticmethod
    def applies(sample: Sample) -> bool:
        """Tell whether the metric is about *sample*."""
        ...


@runtime_checkable
class Bounded(Protocol):
    """A number with a lowest value, a highest, or both; intervals of its mean end there, too."""

    bounds: ClassVar[Bounds]


@runtime_checkable
class Directed(Protocol):
    """A number that is better at one end, so that one language can be worse than another."""

    better: ClassVar[Better]


@runtime_checkable
class Signed(Protocol):
    """A metric or annotator whose readings rest on more than its fields, such as an encoder."""

    def signed(self) -> Mapping[str, JsonValue]:
        """Return what else stands in the signature; called before the first batch.

        Raises:
            ConfigError: what it rests on is not there.
        """
        ...


def applies_to(metric: type, sample: Sample) -> bool:
    """Tell whether *metric* is about *sample*: all are, but for those that choose."""
    return metric.applies(sample) if isinstance(metric, Selective) else True


def bounds_of(metric: type) -> Bounds:
    """Return the bounds of a metric's class; none where it has not said any."""
    return metric.bounds if isinstance(metric, Bounded) else (None, None)


def reach_of(metric: type) -> float | None:
    """Return how far apart two values of a metric can be; None where that is not known."""
    lowest, highest = bounds_of(metric)
    return None if lowest is None or highest is None else highest - lowest


def direction_of(metric: type) -> Better | None:
    """Return which end of a metric is better; None where neither is. Flags are better low."""
    if isinstance(metric, Directed):
        return metric.better
    return "lower" if getattr(metric, "kind", "number") == "flag" else None


def is_directed(name: str) -> bool:
    """Tell whether one language can be worse than another by the metric called *name*.

    Not where neither end is better, nor where it compares with the pivot language already.
    """
    metric = load("metric", name)
    return direction_of(metric) is not None and unit_of(metric) != "pivot"


def is_share(metric: type) -> bool:
    """Tell whether all values of a metric are 0 or 1, so that its mean is a share.

    That of flags is; a number says so with ``share = True``. A t interval of such values has no
    width where all agree, and would prove anything; an exact one of a rate has.
    """
    return getattr(metric, "kind", "number") == "flag" or bool(getattr(metric, "share", False))


def is_fitted(metric: type) -> bool:
    """Tell whether a metric first fits a model to all answers."""
    fitted: bool = getattr(metric, "fitted", False)
    return fitted


def unit_of(metric: type) -> Unit:
    """Return what one reading of a metric is of."""
    unit: Unit = getattr(metric, "unit", "answer")
    return unit
