"""The ends of intervals that have to be there."""

from __future__ import annotations

from typing import Protocol


class HasEnds(Protocol):
    """What has an interval, or none."""

    @property
    def low(self) -> float | None:
        """The lower end."""

    @property
    def high(self) -> float | None:
        """The upper end."""


def ends(made: HasEnds) -> tuple[float, float]:
    """Return both ends of an interval."""
    assert made.low is not None
    assert made.high is not None
    return made.low, made.high
