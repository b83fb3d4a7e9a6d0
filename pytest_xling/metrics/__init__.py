"""Metrics: one file each, named as in thresholds.yaml."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Protocol

from pytest_xling.registry import MetricKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_xling.records import Answer, Reading

__all__ = ["Metric", "MetricKind"]


class Metric(Protocol):
    """Scores answers in batches.

    A metric is a frozen dataclass: its fields are its parameters and part of its signature.
    ``score`` is pure and gives on a batch what it gives one by one. A metric with something large to
    load may also have ``load()`` (:class:`pytest_xling.registry.Loads`).
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
