"""A benchmark: a folder with prompts.yaml, data and a test file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_xling import registry
from pytest_xling.cases.prompts import Prompts
from pytest_xling.errors import ConfigError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from pytest_xling.datasets import DatasetReader
    from pytest_xling.records import Sample

__all__ = ["PROMPTS", "Benchmark", "check_data_names", "discover", "open_benchmark"]

PROMPTS = "prompts.yaml"
"""The file that makes a folder a benchmark."""

_SKIPPED = {"node_modules", "build", "dist", "venv", "__pycache__"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Benchmark:
    """One benchmark, its data not yet read."""

    name: str
    folder: Path
    data: Path
    prompts: Prompts
    reader: DatasetReader

    def languages(self) -> tuple[str, ...]:
        """Return the codes of the languages there is data for, sorted."""
        return self.reader.languages(self.data)

    def samples(self, languages: Sequence[str]) -> list[Sample]:
        """Read the samples of *languages*, in data order.

        Raises:
            ConfigError: there is no data for one of them.
            DataError: a file is wrong; names file, line and fix.
        """
        known = self.languages()
        for language in languages:
            if language not in known:
                msg = (
                    f"benchmark {self.name!r} has no data for language {language!r} in "
                    f"{self.data}.{did_you_mean(language, known)} It has: {', '.join(known)}"
                )
                raise ConfigError(msg)
        return self.reader.read(self.data, benchmark=self.name, languages=languages)


def open_benchmark(folder: Path, *, data: Mapping[str, Path]) -> Benchmark:
    """Open the benchmark in *folder*, named as the folder.

    Args:
        folder: holds prompts.yaml and, unless *data* names another place, ``data/``.
        data: benchmark names to where their data is (``--xling-data``).

    Raises:
        ConfigError: prompts.yaml is wrong, or the data has no layout we know.
    """
    name = folder.name
    place = data.get(name, folder / "data")
    if not place.exists():
        msg = f"benchmark {name!r} has no data: {place} does not exist"
        raise ConfigError(msg)
    for layout in registry.names("dataset"):
        reader: DatasetReader = registry.load("dataset", layout)
        if reader.recognises(place):
            prompts = Prompts.read(folder / PROMPTS)
            return Benchmark(name=name, folder=folder, data=place, prompts=prompts, reader=reader)
    msg = (
        f"benchmark {name!r}: {place} has no layout we know; "
        f"we read: {', '.join(registry.names('dataset'))}"
    )
    raise ConfigError(msg)


def discover(paths: Iterable[Path]) -> list[Path]:
    """Return the folders at or below *paths* that are benchmarks, sorted."""
    found: set[Path] = set()
    for path in paths:
        start = path if path.is_dir() else path.parent
        if not path.is_dir() and not (start / PROMPTS).exists():
            continue
        found.update(_below(start.resolve()))
    return sorted(found)


def _below(folder: Path) -> Iterable[Path]:
    if (folder / PROMPTS).is_file():
        yield folder
        return
    for child in sorted(folder.iterdir()):
        hidden = child.name.startswith((".", "_")) or child.name in _SKIPPED
        if child.is_dir() and not child.is_symlink() and not hidden:
            yield from _below(child)


def check_data_names(data: Mapping[str, Path], benchmarks: Iterable[str]) -> None:
    """Check that every ``--xling-data NAME=…`` names a benchmark of this session.

    Raises:
        ConfigError: one does not; says what is close.
    """
    known = sorted(benchmarks)
    for name in data:
        if name not in known:
            msg = (
                f"--xling-data: no benchmark named {name!r} is collected here."
                f"{did_you_mean(name, known)} Collected: {', '.join(known) or 'none'}"
            )
            raise ConfigError(msg)
