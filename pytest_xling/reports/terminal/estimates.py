"""The numbers of a run, whatever its gates said."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_xling import registry
from pytest_xling.errors import ConfigError
from pytest_xling.gates.estimate import estimate
from pytest_xling.records import Estimate
from pytest_xling.store.queries import averages, scores_by_place

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection

    from pytest_xling.interfaces.metric import Bounds, MetricKind
    from pytest_xling.store.queries import MetricStep, Place

__all__ = ["ALPHA", "kind_of", "with_intervals", "without_intervals"]

ALPHA = 0.05
"""Where no gate says at which level an interval is wanted."""


def with_intervals(
    connection: Connection, run_id: str, scored: Sequence[MetricStep]
) -> dict[Place, Estimate]:
    """Return estimates of *scored* by benchmark, metric and language; reads every score."""
    return {
        (benchmark, metric, language): replace(
            estimate(
                scores,
                metric=metric,
                language=language,
                kind=kind_of(metric),
                alpha=ALPHA,
                bounds=_bounds_of(metric),
            ),
            share=_is_share(metric),
        )
        for (benchmark, metric, language), scores in scores_by_place(
            connection, run_id, scored
        ).items()
    }


def without_intervals(
    connection: Connection, run_id: str, scored: Sequence[MetricStep]
) -> dict[Place, Estimate]:
    """Return estimates without intervals, averaged by the store: fast on any number of cases."""
    return {
        (benchmark, metric, language): Estimate(
            metric=metric,
            language=language,
            value=average.mean,
            low=None,
            high=None,
            n=average.n,
            unscored=average.unscored,
            share=_is_share(metric),
        )
        for (benchmark, metric, language), average in averages(connection, run_id, scored).items()
    }


def _bounds_of(metric: str) -> Bounds:
    """Return a metric's bounds; none for one that is not installed here any more."""
    try:
        bounds: Bounds = registry.load("metric", metric).bounds
    except ConfigError:
        return (None, None)
    return bounds


def _is_share(metric: str) -> bool:
    """Tell whether a metric's mean is a share; of one not installed here any more, not."""
    try:
        share: bool = registry.load("metric", metric).share
    except ConfigError:
        return False
    return share


def kind_of(metric: str) -> MetricKind:
    """Return a metric's kind; ``number`` for one that is not installed here any more."""
    try:
        kind: MetricKind = registry.load("metric", metric).kind
    except ConfigError:
        return "number"
    return kind
