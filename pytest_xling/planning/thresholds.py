"""Read a thresholds file with the registered metrics and languages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from pytest_xling import registry
from pytest_xling.config import thresholds
from pytest_xling.config.yaml import read_yaml
from pytest_xling.errors import did_you_mean
from pytest_xling.interfaces.metric import Metric
from pytest_xling.languages import find
from pytest_xling.text.stance import LEVELS

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from pytest_xling.config.thresholds import ThresholdFile
    from pytest_xling.config.yaml import YamlFile


def read_thresholds(
    path: Path, *, benchmarks: Collection[str], elsewhere: Collection[str] = ()
) -> ThresholdFile:
    """Read and check the file at *path*.

    Args:
        path: the file.
        benchmarks: the names it may have.
        elsewhere: those of them whose metrics may be unknown here.

    Raises:
        ConfigError: names the file, the line and the fix.
    """
    return _check(read_yaml(path), benchmarks=benchmarks, elsewhere=elsewhere)


def read_run_thresholds(path: Path, benchmarks: Collection[str]) -> ThresholdFile:
    """Read and check the file at *path* for a stored run.

    Benchmarks that the run does not have, and unknown metrics of theirs, are allowed, unless their
    name is nearly that of one it has.

    Args:
        path: the file.
        benchmarks: those of the run.

    Raises:
        ConfigError: names the file, the line and the fix.
    """
    file = read_yaml(path)
    mapping = file.get("benchmarks")
    names = set(mapping) if isinstance(mapping, dict) else set()
    unmentioned = set(benchmarks) - names
    elsewhere = {name for name in names - set(benchmarks) if not did_you_mean(name, unmentioned)}
    return _check(file, benchmarks={*benchmarks, *elsewhere}, elsewhere=elsewhere)


def _check(
    file: YamlFile, *, benchmarks: Collection[str], elsewhere: Collection[str]
) -> ThresholdFile:
    return thresholds.read(
        file,
        benchmarks=benchmarks,
        metrics=_Metrics(),
        language_code=lambda name: find(name).code,
        levels=LEVELS,
        elsewhere=elsewhere,
    )


class _Metrics(Mapping[str, type[Metric[Any]]]):
    """All metrics of the registry by name, each loaded when looked up."""

    def __getitem__(self, name: str) -> type[Metric[Any]]:
        """Return its class."""
        metric: type[Metric[Any]] = registry.load("metric", name)
        return metric

    def __contains__(self, name: object) -> bool:
        """Tell whether there is one of that name, without loading it."""
        return name in registry.names("metric")

    def __iter__(self) -> Iterator[str]:
        """Go through the names."""
        return iter(registry.names("metric"))

    def __len__(self) -> int:
        """Return how many metrics there are."""
        return len(registry.names("metric"))
