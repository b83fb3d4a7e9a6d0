"""Read a thresholds file for the metrics and languages there are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_xling import registry
from pytest_xling.config import thresholds
from pytest_xling.interfaces.metric import direction_of, is_directed, unit_of
from pytest_xling.languages import find
from pytest_xling.text.stance import LEVELS

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from pytest_xling.config.thresholds import ThresholdFile

__all__ = ["read_thresholds"]


def read_thresholds(path: Path, *, benchmarks: Collection[str]) -> ThresholdFile:
    """Read and check the file at *path*.

    Args:
        path: the file.
        benchmarks: the names it may speak of.

    Raises:
        ConfigError: names the file, the line and the fix.
    """
    return thresholds.read(
        path,
        benchmarks=benchmarks,
        metrics=registry.MetricKinds(),
        language_code=lambda name: find(name).code,
        directed=is_directed,
        unit=lambda name: unit_of(registry.load("metric", name)),
        improves=lambda name: direction_of(registry.load("metric", name)) is not None,
        levels=LEVELS,
    )
