"""Read a thresholds file for a run that is already there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_xling.config.yaml import read_yaml
from pytest_xling.errors import did_you_mean
from pytest_xling.planning import thresholds

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from pytest_xling.config.thresholds import ThresholdFile

__all__ = ["read_thresholds"]


def read_thresholds(path: Path, benchmarks: Collection[str]) -> ThresholdFile:
    """Read and check the file at *path*.

    Benchmarks the run does not have are nobody's mistake, nor are metrics of theirs, unless their
    name is nearly that of one it has.

    Args:
        path: the file.
        benchmarks: those of the run.

    Raises:
        ConfigError: names the file, the line and the fix.
    """
    written = read_yaml(path).get("benchmarks")
    names = set(written) if isinstance(written, dict) else set()
    unmentioned = set(benchmarks) - names
    elsewhere = {name for name in names - set(benchmarks) if not did_you_mean(name, unmentioned)}
    return thresholds.read_thresholds(
        path, benchmarks={*benchmarks, *elsewhere}, elsewhere=elsewhere
    )
