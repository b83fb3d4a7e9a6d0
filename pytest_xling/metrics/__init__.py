"""Metrics: one file each, named as in thresholds.yaml."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Protocol, TypeAlias, runtime_checkable

from pytest_xling.registry import MetricKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_xling.records import Answer, Reading

__all__ = ["Bounded", "Bounds", "Metric", "MetricKind", "bounds_of"]

Bounds: TypeAlias = tuple[float | None, float | None]
"""The lowest and the highest value there can be; None where there is no end."""


class Metric(Protocol):
    """Scores answers in batches.

    A metric is a frozen dataclass: its fields are its parameters and part of its signature.
    ``score`` is pure and gives on a batch what it gives one by one. A metric that has
    something large to load may also have ``load()`` (:class:`pytest_xling.registry.Loads`), and a
    number that cannot take any value ``bounds`` (:class:`Bounded`).
    """

    name: ClassVar[str]
    version: ClassVar[str]
    """Raised whenever the same input would give another reading."""
    kind: ClassVar[MetricKind]
    """``flag``: 1.0 is bad and 0.0 good, gated by max_rate. ``number``: by floor and ceiling."""
    needs: ClassVar[tuple[str, ...]]
    """Names of the annotators whose output it reads."""
    libraries: ClassVar[tuple[str, ...]]
    """Distributions whose version may change a reading; they stand in the signature."""
    scores_missing: ClassVar[bool]
    """Whether it has a reading where there is no answer; else that is None with the reason."""

    def score(self, answers: Sequence[Answer]) -> list[Reading]:
        """Return one reading per answer, in order."""
        ...


@runtime_checkable
class Bounded(Protocol):
    """A number with a lowest value, a highest, or both; intervals of its mean end there, too."""

    bounds: ClassVar[Bounds]


def bounds_of(metric: type) -> Bounds:
    """Return the bounds of a metric's class; none where it has not said any."""
    return metric.bounds if isinstance(metric, Bounded) else (None, None)
