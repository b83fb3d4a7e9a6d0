"""Differences and other contrasts of estimates with intervals, of the same questions or not."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence

__all__ = ["Interval", "contrast", "difference"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """An estimate with its interval; None where there is none."""

    value: float | None = None
    low: float | None = None
    high: float | None = None
    error: float = 0.0
    """Standard error."""
    influence: Mapping[Hashable, float] = field(default_factory=dict, repr=False)
    """What each cluster adds to the error: by it estimates of the same questions vary together."""


def difference(first: Interval, second: Interval) -> Interval:
    """Return how much higher *first* is than *second*: see :func:`contrast`."""
    return contrast([first, second], [1.0, -1.0])


def contrast(estimates: Sequence[Interval], coefficients: Sequence[float]) -> Interval:
    """Return Σ cᵢθᵢ with its interval, such as a gap, a drop, or the slope of a trend.

    By the method of variance estimates recovery (Zou and Donner 2008; Donner and Zou 2012; of two
    rates Newcombe 1998): distances to the ends are added like standard errors. Estimates of the
    same clusters vary together as much as what those add to each.

    Args:
        estimates: all with intervals of one alpha.
        coefficients: one for each.

    Returns:
        Without value or interval where an estimate has none.

    Raises:
        ValueError: the lengths differ, or there is no estimate.
    """
    if len(estimates) != len(coefficients) or not estimates:
        msg = f"{len(estimates)} estimates, {len(coefficients)} coefficients"
        raise ValueError(msg)
    terms: list[_Term] = []
    for estimate, coefficient in zip(estimates, coefficients, strict=True):
        value, low, high = estimate.value, estimate.low, estimate.high
        if value is None or low is None or high is None:
            return Interval()
        down, up = sorted((coefficient * (low - value), coefficient * (high - value)))
        down = -down
        added = {cluster: coefficient * part for cluster, part in estimate.influence.items()}
        terms.append(_Term(coefficient * value, down, up, abs(coefficient) * estimate.error, added))
    value = math.fsum(term.value for term in terms)
    influence: defaultdict[Hashable, list[float]] = defaultdict(list)
    for term in terms:
        for cluster, part in term.influence.items():
            influence[cluster].append(part)
    return Interval(
        value=value,
        low=value - _together(terms, lambda term: term.down),
        high=value + _together(terms, lambda term: term.up),
        error=_together(terms, lambda term: term.error),
        influence={cluster: math.fsum(parts) for cluster, parts in influence.items()},
    )


@dataclass(frozen=True, slots=True)
class _Term:
    value: float
    down: float
    up: float
    error: float
    influence: Mapping[Hashable, float]

    def correlation(self, other: _Term) -> float:
        shared = self.influence.keys() & other.influence.keys()
        product = math.fsum(self.influence[c] * other.influence[c] for c in shared)
        errors = self.error * other.error
        return max(-1.0, min(1.0, product / errors)) if errors else 0.0


def _together(terms: Sequence[_Term], length: Callable[[_Term], float]) -> float:
    squares = [length(term) ** 2 for term in terms]
    squares += [
        2 * one.correlation(other) * length(one) * length(other)
        for at, one in enumerate(terms)
        for other in terms[:at]
    ]
    return math.sqrt(max(math.fsum(squares), 0.0))
