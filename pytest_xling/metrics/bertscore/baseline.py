"""Baselines that BERTScore is rescaled with: what unrelated texts score (Zhang et al. 2020, §3).

The package bert-score ships some, each for a language, a model and its layers. Own ones are files
in its format: a line ``LAYER,P,R,F`` and a line with the numbers of each layer.
"""

from __future__ import annotations

import csv
import glob
import hashlib
import math
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_xling.errors import ConfigError, DataError

if TYPE_CHECKING:
    from collections.abc import Mapping

ANY = ""
"""Stands for all languages, where there is one file."""
PLACEHOLDER = "{language}"
COLUMNS = ["LAYER", "P", "R", "F"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """What unrelated texts of one language score."""

    precision: float
    recall: float
    f1: float
    sha256: str
    """Of the file."""


def given_baselines(file: str, *, layer: int | None) -> Mapping[str, Baseline]:
    """Return the baselines in a user's file, or files, by language.

    Args:
        file: a path; ``{language}`` in it stands for the code of a language.
        layer: of the encoder; None is the last one in the file.

    Raises:
        ConfigError: there is no such file.
        DataError: it cannot be read, or lacks the layer.
    """
    baselines = _read_all(file, layer)
    if not baselines:
        msg = f"bertscore: there is no file {file!r} to take a baseline from"
        raise ConfigError(msg)
    return baselines


def published_baselines(model: str, *, layer: int | None) -> Mapping[str, Baseline]:
    """Return the baselines that bert-score ships for *model*, by language; there may be none.

    Args:
        model: exactly as bert-score calls it, such as ``bert-base-uncased``.
        layer: None is the last one.

    Raises:
        ConfigError: bert-score is not installed.
        DataError: the file lacks the layer.
    """
    name = Path(model)
    if name.is_absolute() or ".." in name.parts or PLACEHOLDER in model:
        return {}
    return _read_all(published_file(model), layer)


def published_file(model: str) -> str:
    """Return where bert-score keeps its baselines for *model*, if it has some.

    Raises:
        ConfigError: bert-score is not installed.
    """
    package = find_spec("bert_score")
    if package is None or package.submodule_search_locations is None:
        msg = (
            "bertscore: rescale=true takes its baselines from the package bert-score, which is not "
            "installed: pip install 'pytest-xling[torch]'"
        )
        raise ConfigError(msg)
    folder = Path(package.submodule_search_locations[0], "rescale_baseline")
    return str(folder / PLACEHOLDER / f"{model}.tsv")


@cache
def _read_all(pattern: str, layer: int | None) -> Mapping[str, Baseline]:
    before, placeholder, after = pattern.partition(PLACEHOLDER)
    if not placeholder:
        return {ANY: _read(Path(pattern), layer)} if Path(pattern).is_file() else {}
    paths = sorted(glob.glob(f"{glob.escape(before)}*{glob.escape(after)}"))  # noqa: PTH207  no base
    return {
        path.removeprefix(before).removesuffix(after): _read(Path(path), layer) for path in paths
    }


def _read(path: Path, layer: int | None) -> Baseline:
    try:
        content = path.read_bytes()
        lines = content.decode().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        msg = f"{path}: cannot be read as a baseline of bertscore: {error}"
        raise DataError(msg) from error
    header, *rows = csv.reader(lines) if lines else [[]]
    if header != COLUMNS:
        msg = f"{path}:1: a baseline of bertscore begins with LAYER,P,R,F, not {','.join(header)!r}"
        raise DataError(msg)
    by_layer: dict[int, tuple[float, float, float]] = {}
    for number, row in enumerate(rows, start=2):
        try:
            layer_cell, precision, recall, f1 = row
            values = (float(precision), float(recall), float(f1))
            by_layer[int(layer_cell)] = values
        except ValueError as error:
            msg = f"{path}:{number}: not a layer and three numbers: {','.join(row)!r}"
            raise DataError(msg) from error
        if not all(math.isfinite(value) and value < 1 for value in values):
            msg = f"{path}:{number}: a baseline must be below 1, not {','.join(row)!r}"
            raise DataError(msg)
    read_layer = max(by_layer, default=None) if layer is None else layer
    if read_layer not in by_layer:
        known = ", ".join(map(str, sorted(by_layer))) or "none"
        msg = f"{path}: has no baseline for layer {read_layer}; it has: {known}"
        raise DataError(msg)
    precision_, recall_, f1_ = by_layer[read_layer]
    return Baseline(
        precision=precision_,
        recall=recall_,
        f1=f1_,
        sha256=hashlib.sha256(content).hexdigest(),
    )
