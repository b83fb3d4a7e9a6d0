"""Read thresholds.yaml: which gates there are, and how each is judged.

Most specific wins, key by key: defaults, then the benchmark's defaults, the metric, its language,
its model, and the model's language. Of several model patterns that match, the later one wins.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, cast

from pytest_xling.config.limits import (
    BOUNDS,
    GAP,
    POLICY,
    Limits,
    Place,
    expect_mapping,
    read_limits,
    unknown,
)
from pytest_xling.config.options import OPTIONS, Option
from pytest_xling.config.yaml import YamlFile, YamlValue, read_yaml
from pytest_xling.errors import ConfigError
from pytest_xling.records import Threshold

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping
    from pathlib import Path

    from pytest_xling.registry import MetricKind

__all__ = ["RunSetting", "ThresholdFile", "read"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSetting:
    """One line of the ``run:`` block, parsed."""

    value: Any
    origin: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Model:
    """What is said of the models whose name matches a pattern."""

    pattern: str
    own: Limits
    languages: Mapping[str, Limits]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Metric:
    """What is said of one metric of one benchmark."""

    base: Limits
    """Defaults, the benchmark's defaults and the metric's own, laid over each other."""
    languages: Mapping[str, Limits]
    models: tuple[_Model, ...]

    def resolve(self, language: str, model: str) -> Limits:
        """Return what holds for a language and a model."""
        return self.merged(language, [m for m in self.models if fnmatchcase(model, m.pattern)])

    def merged(self, language: str, models: list[_Model]) -> Limits:
        """Return what holds for a language and for models that match all of *models*."""
        limits = self.languages.get(language, Limits()).over(self.base)
        for model in models:
            limits = model.own.over(limits)
        for model in models:
            limits = model.languages.get(language, Limits()).over(limits)
        return limits

    def combinations(self) -> Iterator[Limits]:
        """Yield what holds for every language and every pattern that is named, and for others."""
        languages = {"", *self.languages, *(code for m in self.models for code in m.languages)}
        for language in sorted(languages):
            for models in ([], *([model] for model in self.models)):
                yield self.merged(language, models)


@dataclass(frozen=True, slots=True, kw_only=True)
class ThresholdFile:
    """A thresholds file, read and checked."""

    file: YamlFile
    run: Mapping[str, RunSetting] = field(default_factory=dict)
    """The ``run:`` block, by option key."""
    benchmarks: Mapping[str, Mapping[str, _Metric]] = field(default_factory=dict)

    def metrics(self, benchmark: str) -> tuple[str, ...]:
        """Return *benchmark*'s metrics with a gate for some language and model, sorted."""
        return tuple(sorted(self.benchmarks.get(benchmark, {})))

    def resolve(self, benchmark: str, metric: str, language: str, model: str) -> Threshold | None:
        """Return what *metric* is held to; None where nothing is said.

        Raises:
            ConfigError: what is said for this model and language contradicts itself.
        """
        said = self.benchmarks.get(benchmark, {}).get(metric)
        if said is None:
            return None
        limits = said.resolve(language, model)
        if not limits.bounded:
            return None
        _refuse_crossed(self.file, limits)
        values = cast("dict[str, Any]", limits.values)  # each was checked when it was read
        bounds = [place for key, place in limits.places.items() if key not in POLICY]
        line = max(self.file.line(*place) for place in bounds)
        return Threshold(
            benchmark=benchmark,
            metric=metric,
            language=language,
            origin=f"{self.file.path.name}:{line}",
            **values,
        )


def read(
    path: Path,
    *,
    benchmarks: Collection[str],
    metrics: Mapping[str, MetricKind],
    language_code: Callable[[str], str],
    directed: Callable[[str], bool] | None = None,
) -> ThresholdFile:
    """Read and check a thresholds file.

    Args:
        path: the file.
        benchmarks: the names there are.
        metrics: the names there are, with the kind of each.
        language_code: from a code or alias to the code; raises ConfigError.
        directed: tells of a metric whether one of its ends is better, so that a language can be
            worse than another; by default only flags are so.

    Raises:
        ConfigError: names the file, the line and the fix.
    """
    file = read_yaml(path)
    for key in file.data:
        if key not in {"benchmarks", "defaults", "run"}:
            raise unknown(file, (key,), "key", ("benchmarks", "defaults", "run"))
    run = _run(file, language_code) if "run" in file.data else {}
    defaults = Limits()
    if "defaults" in file.data:
        defaults = read_limits(file, ("defaults",), kind=None)
    reader = _Reader(
        file=file,
        metrics=metrics,
        language_code=language_code,
        directed=directed or (lambda name: metrics[name] == "flag"),
    )
    said: dict[str, Mapping[str, _Metric]] = {}
    if "benchmarks" in file.data:
        for name in expect_mapping(file, ("benchmarks",)):
            if name not in benchmarks:
                raise unknown(file, ("benchmarks", name), "benchmark", benchmarks)
            said[name] = reader.benchmark(("benchmarks", name), defaults)
    return ThresholdFile(file=file, run=run, benchmarks=said)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reader:
    """Reads what is said below ``benchmarks:``."""

    file: YamlFile
    metrics: Mapping[str, MetricKind]
    language_code: Callable[[str], str]
    directed: Callable[[str], bool]

    def benchmark(self, place: Place, defaults: Limits) -> dict[str, _Metric]:
        names = expect_mapping(self.file, place)
        if "defaults" in names:
            defaults = read_limits(self.file, (*place, "defaults"), kind=None).over(defaults)
        said = {}
        for name in names:
            if name == "defaults":
                continue
            if name not in self.metrics:
                raise unknown(self.file, (*place, name), "metric", self.metrics)
            said[name] = self.metric((*place, name), defaults)
        return said

    def metric(self, place: Place, defaults: Limits) -> _Metric:
        file, name = self.file, place[-1]
        own = self.limits(place, name, nested=("languages", "models"))
        patterns: Collection[str] = ()
        if "models" in expect_mapping(file, place):
            patterns = expect_mapping(file, (*place, "models"))
        metric = _Metric(
            base=own.over(defaults),
            languages=self.languages(place, name),
            models=tuple(self.model((*place, "models", p), name) for p in patterns),
        )
        combinations = list(metric.combinations())
        if not any(limits.bounded for limits in combinations):
            gap = (GAP,) if self.directed(name) else ()
            bounds = " or ".join((*BOUNDS[self.metrics[name]], *gap))
            raise file.error(*place, what=f"says no limit; add {bounds}")
        for limits in combinations:
            _refuse_crossed(file, limits)
        return metric

    def model(self, place: Place, metric: str) -> _Model:
        own = self.limits(place, metric, nested=("languages",))
        return _Model(pattern=place[-1], own=own, languages=self.languages(place, metric))

    def limits(self, place: Place, metric: str, *, nested: Collection[str] = ()) -> Limits:
        return read_limits(
            self.file,
            place,
            kind=self.metrics[metric],
            directed=lambda: self.directed(metric),
            nested=nested,
        )

    def languages(self, parent: Place, metric: str) -> dict[str, Limits]:
        if "languages" not in expect_mapping(self.file, parent):
            return {}
        place = (*parent, "languages")
        said: dict[str, Limits] = {}
        names: dict[str, str] = {}
        for name in expect_mapping(self.file, place):
            try:
                code = self.language_code(name)
            except ConfigError as error:
                raise self.file.error(*place, name, what=str(error)) from error
            if code in said:
                what = f"the same language as {names[code]!r}; keep one of them"
                raise self.file.error(*place, name, what=what)
            names[code] = name
            said[code] = self.limits((*place, name), metric)
        return said


def _refuse_crossed(file: YamlFile, limits: Limits) -> None:
    floor, ceiling = limits.values.get("floor"), limits.values.get("ceiling")
    if isinstance(floor, int | float) and isinstance(ceiling, int | float) and floor > ceiling:
        place = max(limits.places["floor"], limits.places["ceiling"], key=lambda p: file.line(*p))
        raise file.error(*place, what=f"floor {floor:g} is above ceiling {ceiling:g}; swap them")


def _run(file: YamlFile, language_code: Callable[[str], str]) -> dict[str, RunSetting]:
    options = {entry.key: entry for entry in OPTIONS if entry.in_file}
    settings = {}
    for key, value in expect_mapping(file, ("run",)).items():
        place = ("run", key)
        if key not in options:
            elsewhere = next((entry for entry in OPTIONS if entry.key == key), None)
            if elsewhere is None:
                raise unknown(file, place, "key", options)
            what = f"cannot be set in this file; use {elsewhere.flag} or {elsewhere.env}"
            raise file.error(*place, what=what)
        parsed = _run_value(file, options[key], value, language_code)
        origin = f"{file.name}:{file.line(*place)}"
        settings[key] = RunSetting(value=parsed, origin=origin)
    return settings


def _run_value(
    file: YamlFile, entry: Option, value: YamlValue, language_code: Callable[[str], str]
) -> Any:  # noqa: ANN401  what the option's parser gives
    place = ("run", entry.key)
    parts = value if isinstance(value, list) and entry.ini == "string" else [value]
    wanted, called = _WANTED[entry.ini] if entry.key != "langs" else (str, "text or a list of it")
    if not all(isinstance(part, wanted) and not isinstance(part, bool) for part in parts):
        raise file.error(*place, what=f"expected {called}, not {value!r}")
    try:
        parsed = entry.parse(",".join(str(part) for part in parts))
        if entry.key == "langs" and parsed != ("all",):
            for name in cast("tuple[str, ...]", parsed):
                language_code(name)
    except (ConfigError, ValueError) as error:
        raise file.error(*place, what=str(error)) from error
    return parsed


_WANTED: Mapping[str, tuple[type | tuple[type, ...], str]] = {
    "int": (int, "a whole number"),
    "float": ((int, float), "a number"),
    "string": ((int, float, str), "a number or a list of numbers"),
}
