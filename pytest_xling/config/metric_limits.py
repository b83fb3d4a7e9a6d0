"""What a thresholds file says of a benchmark's metrics: in each language, for models, at levels."""

from __future__ import annotations

from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from pytest_xling.config.limits import TREND, Limits, expect_mapping, read_limits, unknown
from pytest_xling.errors import ConfigError
from pytest_xling.registry import OWN_METRIC

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from pytest_xling.config.limits import About, Place
    from pytest_xling.config.yaml import YamlFile

__all__ = ["MetricLimits", "MetricReader", "refuse_crossed"]

LANGUAGES, LEVELS, MODELS = "languages", "levels", "models"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelLimits:
    """What is said of the models whose name matches a pattern."""

    pattern: str
    own: Limits
    languages: Mapping[str, Limits]


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricLimits:
    """What is said of one metric of one benchmark, or of one level of it."""

    base: Limits
    """Defaults, the benchmark's defaults and the metric's own, laid over each other; of a level,
    only its own."""
    languages: Mapping[str, Limits]
    models: tuple[ModelLimits, ...]
    levels: Mapping[int, MetricLimits] = field(default_factory=dict)
    """By the number of the level."""

    def resolve(self, language: str, model: str, *, level: int | None = None) -> Limits:
        """Return what holds for a language and a model, at a level or at all together."""
        models = [entry for entry in self.models if fnmatchcase(model, entry.pattern)]
        limits = self._merged(language, models)
        if level is None:
            return limits
        if level not in self.levels:
            return Limits()
        return self.levels[level].resolve(language, model).over(limits.policy())

    def combinations(self) -> Iterator[Limits]:
        """Yield what holds for every language and every pattern that is named, and for others."""
        languages = {"", *self.languages, *(code for m in self.models for code in m.languages)}
        for language in sorted(languages):
            for models in ([], *([model] for model in self.models)):
                yield self._merged(language, models)

    def _merged(self, language: str, models: list[ModelLimits]) -> Limits:
        """Return what holds for a language and for models that match all of *models*."""
        limits = self.languages.get(language, Limits()).over(self.base)
        for model in models:
            limits = model.own.over(limits)
        for model in models:
            limits = model.languages.get(language, Limits()).over(limits)
        return limits


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricReader:
    """Reads what is said below ``benchmarks:``."""

    file: YamlFile
    metrics: Collection[str]
    about: Callable[[str], About]
    language_code: Callable[[str], str]
    levels: Sequence[str]
    """Names of the levels of presupposition, from the first."""
    elsewhere: Collection[str] = ()
    """Benchmarks whose metrics need not be known here."""

    def benchmark(self, place: Place, defaults: Limits) -> dict[str, MetricLimits]:
        """Read a benchmark's metrics, by name.

        Args:
            place: key path of the benchmark.
            defaults: what holds where nothing else is said.

        Raises:
            ConfigError: names the file, the line and the fix.
        """
        names = expect_mapping(self.file, place)
        if "defaults" in names:
            own = read_limits(self.file, (*place, "defaults"), about=None)
            defaults = own.over(defaults)
        said = {}
        for name in names:
            if name == "defaults":
                continue
            if name not in self.metrics:
                if place[-1] in self.elsewhere:
                    continue
                at = (*place, name)
                raise unknown(self.file, at, "metric", self.metrics, fix=OWN_METRIC)
            said[name] = self._metric((*place, name), self.about(name), defaults)
        return said

    def _metric(
        self, place: Place, about: About, defaults: Limits, *, one_level: bool = False
    ) -> MetricLimits:
        nested = (LANGUAGES, MODELS) if one_level else (LANGUAGES, LEVELS, MODELS)
        own = read_limits(self.file, place, about=about, nested=nested, one_level=one_level)
        given = expect_mapping(self.file, place)
        patterns: Collection[str] = ()
        if MODELS in given:
            patterns = expect_mapping(self.file, (*place, MODELS))
        metric = MetricLimits(
            base=own.over(defaults),
            languages=self._languages(place, about, one_level=one_level),
            models=tuple(
                self._model((*place, MODELS, pattern), about, one_level=one_level)
                for pattern in patterns
            ),
            levels=self._levels(place, about) if LEVELS in given and not one_level else {},
        )
        combinations = list(metric.combinations())
        if not metric.levels and not any(limits.bounded for limits in combinations):
            bounds = " or ".join(key for key in about.bounds if key != TREND or not one_level)
            raise self.file.error(*place, what=f"says no limit; add {bounds}")
        for limits in combinations:
            refuse_crossed(self.file, limits)
        return metric

    def _levels(self, parent: Place, about: About) -> dict[int, MetricLimits]:
        place = (*parent, LEVELS)
        unit = about.unit()
        if unit == "levels":
            what = "one reading of this metric is of all levels together; remove `levels:`"
            raise self.file.error(*place, what=what)
        said = {}
        for name in expect_mapping(self.file, place):
            if name not in self.levels:
                raise unknown(self.file, (*place, name), "level", self.levels)
            number = self.levels.index(name)
            if unit == "neutral" and not number:
                what = "this metric compares with this level, and says nothing of it; remove it"
                raise self.file.error(*place, name, what=what)
            said[number] = self._metric((*place, name), about, Limits(), one_level=True)
        return said

    def _model(self, place: Place, about: About, *, one_level: bool) -> ModelLimits:
        return ModelLimits(
            pattern=place[-1],
            own=read_limits(
                self.file, place, about=about, nested=(LANGUAGES,), one_level=one_level
            ),
            languages=self._languages(place, about, one_level=one_level),
        )

    def _languages(self, parent: Place, about: About, *, one_level: bool) -> dict[str, Limits]:
        if LANGUAGES not in expect_mapping(self.file, parent):
            return {}
        place = (*parent, LANGUAGES)
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
            said[code] = read_limits(self.file, (*place, name), about=about, one_level=one_level)
        return said


def refuse_crossed(file: YamlFile, limits: Limits) -> None:
    """Refuse a floor above the ceiling.

    Raises:
        ConfigError: names the one of the two that is written later.
    """
    floor, ceiling = limits.values.get("floor"), limits.values.get("ceiling")
    if isinstance(floor, int | float) and isinstance(ceiling, int | float) and floor > ceiling:
        place = max(limits.places["floor"], limits.places["ceiling"], key=lambda p: file.line(*p))
        raise file.error(*place, what=f"floor {floor:g} is above ceiling {ceiling:g}; swap them")
