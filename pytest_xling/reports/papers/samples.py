"""The values of a run as tests of means want them: by sample, for each language."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from pytest_xling.errors import ConfigError, EvaluationError
from pytest_xling.gates.estimate import check_scores, why_none
from pytest_xling.gates.pairing import sample_means, temperature_of
from pytest_xling.planning.subset import benchmark_meant
from pytest_xling.reports.pivot import pivot_of
from pytest_xling.stats.clusters import listwise
from pytest_xling.store.runs import get_run
from pytest_xling.store.scores import metric_steps, scores_by_place

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from sqlalchemy import Connection

    from pytest_xling.records import RunRecord, Score
    from pytest_xling.store.scores import MetricStep

Groups: TypeAlias = "dict[str, dict[str, float]]"
"""By language: the value of each sample, the mean of its repeats."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSamples:
    """What a run has of some metrics."""

    run: RunRecord
    benchmark: str
    pivot: str
    metrics: tuple[str, ...]
    temperatures: tuple[float, ...]
    """Those some answer was asked for at, rising."""
    languages: tuple[str, ...]
    """The pivot first, the others by their codes."""
    values: dict[tuple[str, float], Groups]
    """By metric and temperature: what each language has. A language without any value there is
    left out."""
    reasons: dict[str, str]
    """Why metrics have no value in some language, by their names."""

    @property
    def left_to_model(self) -> bool:
        """Whether the model chose the temperature itself; it then reads as 0."""
        return self.run.settings.get("temperatures") == [None]

    def expected(self, metric: str) -> list[str]:
        """Return the languages that a metric should have values in.

        All of them; but for the pivot where that has none at any temperature, since a metric that
        compares with the pivot says nothing of it.
        """
        has_values = any(
            self.pivot in groups for (name, _), groups in self.values.items() if name == metric
        )
        return [code for code in self.languages if has_values or code != self.pivot]

    def left_out(self, metric: str, temperature: float) -> int:
        """Return how many samples listwise deletion leaves out."""
        by_language = list(self.values.get((metric, temperature), {}).values())
        every = {sample for values in by_language for sample in values}
        return sum(not all(sample in values for values in by_language) for sample in every)

    def groups(self, metric: str, temperature: float, *, pairwise: bool) -> Groups:
        """Return the values to be compared.

        Args:
            metric: one of the metrics.
            temperature: one of the temperatures.
            pairwise: whether to keep samples that one of the languages lacks.
        """
        by_language = self.values.get((metric, temperature), {})
        return by_language if pairwise else listwise(by_language)


def choose_benchmark(
    connection: Connection, run_id: str, metrics: Collection[str], *, benchmark: str | None
) -> list[MetricStep]:
    """Return the steps that scored one benchmark of a run with some of *metrics*, in that order.

    Args:
        connection: to the store.
        run_id: the run.
        metrics: those of which it should have at least one.
        benchmark: needed where several benchmarks have.

    Raises:
        ConfigError: none has, or *benchmark* is needed or unknown.
        EvaluationError: one of the metrics is there in two versions.
    """
    by_benchmark: dict[str, dict[str, MetricStep]] = {}
    every = {step.benchmark: step for step in metric_steps(connection, run_id)}
    for step in metric_steps(connection, run_id):
        if step.metric not in metrics:
            continue
        versions = by_benchmark.setdefault(step.benchmark, {})
        if step.metric in versions:
            msg = (
                f"run {run_id!r} was scored with {step.metric!r} in different ways, which cannot "
                f"be put together: {versions[step.metric].signature!r} and {step.signature!r}"
            )
            raise EvaluationError(msg)
        versions[step.metric] = step
    chosen = benchmark_meant(f"run {run_id!r}", every, benchmark, having=by_benchmark)
    if chosen is None:
        msg = (
            f"{f'benchmark {benchmark!r} of ' if benchmark else ''}run {run_id!r} was not scored "
            f"for this table, which needs some of {', '.join(metrics)}. Name them in the test "
            "file's xling marker and run again: answers are kept, so nothing is asked twice"
        )
        raise ConfigError(msg)
    versions = by_benchmark[chosen]
    return [versions[metric] for metric in metrics if metric in versions]


def read_samples(
    connection: Connection, run_id: str, metrics: Sequence[str], *, benchmark: str | None
) -> RunSamples:
    """Read what a run has of *metrics*.

    Args:
        connection: to the store.
        run_id: the run, or ``latest``.
        metrics: in the order of the table.
        benchmark: needed where several benchmarks of the run have some of them.

    Raises:
        ConfigError: the run has none of them, or *benchmark* is needed or unknown.
        EvaluationError: scores of one metric were made in different ways.
        StoreError: no such run.
    """
    run = get_run(connection, run_id)
    steps = choose_benchmark(connection, run.run_id, metrics, benchmark=benchmark)
    name = steps[0].benchmark
    values: dict[tuple[str, float], Groups] = {}
    temperatures: set[float] = set()
    languages: set[str] = set()
    reasons: dict[str, str] = {}
    for (_, metric, language), scores in scores_by_place(connection, run.run_id, steps).items():
        check_scores(scores, metric=metric, language=language)
        languages.add(language)
        temperatures.update({temperature_of(score.condition) for score in scores})
        if all(score.value is None for score in scores):
            reasons.setdefault(metric, why_none(scores))
        for temperature, means in _means(scores).items():
            values.setdefault((metric, temperature), {})[language] = means
    pivot = pivot_of(run, name)
    order = sorted(languages, key=lambda code: (code != pivot, code))
    return RunSamples(
        run=run,
        benchmark=name,
        pivot=pivot,
        metrics=tuple(step.metric for step in steps),
        temperatures=tuple(sorted(temperatures)),
        languages=tuple(order),
        values={
            key: {code: groups[code] for code in order if code in groups}
            for key, groups in values.items()
        },
        reasons=reasons,
    )


def _means(scores: Sequence[Score]) -> dict[float, dict[str, float]]:
    """Return by temperature and sample, in the order of its id, the mean of the repeats."""
    means: dict[float, dict[str, float]] = {}
    for (_, sample), by_temperature in sample_means(scores).items():
        for temperature, mean in by_temperature.items():
            means.setdefault(temperature, {})[sample] = mean
    return means
