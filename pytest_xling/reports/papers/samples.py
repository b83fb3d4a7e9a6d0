"""Which benchmark of a run a table is of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_xling.errors import ConfigError, EvaluationError
from pytest_xling.planning.subset import benchmark_meant
from pytest_xling.store.scores import metric_steps

if TYPE_CHECKING:
    from collections.abc import Collection

    from sqlalchemy import Connection

    from pytest_xling.store.scores import MetricStep


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
