"""Labels by people: the values that a metric should have given a run's answers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from sqlalchemy import and_, bindparam, delete, select

from pytest_xling.store.rows import columns_of, keep
from pytest_xling.store.schema import cases, run_steps, runs, steps
from pytest_xling.store.schema import human_labels as table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy import Connection


_any_label = (
    select(table.c.case_id)
    .where(table.c.benchmark == bindparam("benchmark"), table.c.metric == bindparam("metric"))
    .limit(1)
)
"""Looked up first: every gate asks, and nearly all have no labels."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HumanLabel:
    """The labels of an answer in the population that people labelled a sample of."""

    said: str
    """The judge's label: the sample is stratified by it, and by language."""
    value: float | None
    """The value of the metric by the label of the majority; None without labels or majority."""
    cannot_tell: bool = False
    """Whether people were asked and could not tell, or are divided: they are not asked again."""
    raters_agree: bool | None = None
    """Whether all who labelled it gave it one value; None where fewer than two did."""


def keep_human_labels(
    connection: Connection,
    run_id: str,
    labels: Mapping[str, HumanLabel],
    *,
    benchmark: str,
    metric: str,
) -> None:
    """Keep the labels of a run's answers, by case, in place of all earlier ones for the metric."""
    where = {"run_id": run_id, "benchmark": benchmark, "metric": metric}
    same = [table.c[column] == value for column, value in where.items()]
    connection.execute(delete(table).where(*same))
    rows = [{**where, "case_id": case, **columns_of(label)} for case, label in labels.items()]
    keep(connection, table, rows)


def human_values(
    connection: Connection, run_id: str, *, benchmark: str, metric: str
) -> dict[str, float | None]:
    """Return the values that people gave the answers they were asked about, by case.

    None where they could not tell, or are divided.
    """
    query = select(table.c.case_id, table.c.value).where(
        table.c.run_id == run_id,
        table.c.benchmark == benchmark,
        table.c.metric == metric,
        table.c.value.is_not(None) | (table.c.cannot_tell == 1),
    )
    return {row.case_id: row.value for row in connection.execute(query)}


def labelled_metrics(connection: Connection) -> set[tuple[str, str]]:
    """Return the pairs of benchmark and metric that have labels, in any run."""
    query = select(table.c.benchmark, table.c.metric).distinct()
    return {(row.benchmark, row.metric) for row in connection.execute(query)}


def human_labels_of(
    connection: Connection, run_id: str, *, benchmark: str, metric: str, language: str
) -> dict[tuple[str, str], HumanLabel]:
    """Return the labels of a run's answers in a language, by sample and condition.

    They are those of :func:`labelled_run`, which may be another run with the same answers.
    """
    if connection.execute(_any_label, {"benchmark": benchmark, "metric": metric}).first() is None:
        return {}
    source = labelled_run(connection, run_id, benchmark=benchmark, metric=metric, language=language)
    query = (
        select(
            cases.c.sample_id,
            cases.c.condition,
            table.c.said,
            table.c.value,
            table.c.cannot_tell,
            table.c.raters_agree,
        )
        .join(
            cases,
            and_(cases.c.benchmark == table.c.benchmark, cases.c.case_id == table.c.case_id),
        )
        .where(
            table.c.run_id == source,
            table.c.benchmark == benchmark,
            table.c.metric == metric,
            cases.c.run_id == run_id,
            cases.c.language == language,
        )
    )
    return {
        (row.sample_id, row.condition): HumanLabel(
            said=row.said,
            value=row.value,
            cannot_tell=bool(row.cannot_tell),
            raters_agree=None if row.raters_agree is None else bool(row.raters_agree),
        )
        for row in connection.execute(query)
    }


def label_counts(connection: Connection, run_id: str) -> dict[tuple[str, str, str], int]:
    """Return how many of a run's answers have a label, by benchmark, metric and language."""
    places = connection.execute(
        select(table.c.benchmark, table.c.metric, cases.c.language)
        .distinct()
        .join(cases, cases.c.benchmark == table.c.benchmark)
        .where(cases.c.run_id == run_id)
        .order_by(table.c.benchmark, table.c.metric, cases.c.language)
    )
    counts = {}
    for benchmark, metric, language in places.all():
        labels = human_labels_of(
            connection, run_id, benchmark=benchmark, metric=metric, language=language
        )
        if count := sum(label.value is not None for label in labels.values()):
            counts[benchmark, metric, language] = count
    return counts


def labelled_run(
    connection: Connection, run_id: str, *, benchmark: str, metric: str, language: str
) -> str:
    """Return the run whose labels count for a run's answers in a language.

    That is the run itself where it has labels. Else it is the latest with labels that has all of
    these answers, scored with the same version of the metric: its labels are a sample of no fewer.
    """
    place = table.c.benchmark == benchmark, table.c.metric == metric
    query = (
        select(runs.c.run_id)
        .where(
            select(table.c.case_id)
            .join(
                cases,
                and_(
                    cases.c.run_id == table.c.run_id,
                    cases.c.benchmark == table.c.benchmark,
                    cases.c.case_id == table.c.case_id,
                ),
            )
            .where(
                table.c.run_id == runs.c.run_id,
                *place,
                table.c.value.is_not(None),
                cases.c.language == language,
            )
            .exists()
        )
        .order_by(runs.c.created_at.desc(), runs.c.run_id)
    )
    labelled: list[str] = [row.run_id for row in connection.execute(query)]
    if run_id in labelled:
        return run_id
    versions = partial(_versions, connection, benchmark=benchmark, metric=metric)
    for other in labelled:
        if versions(run_id) != versions(other):
            continue
        other_cases = cases.alias()
        missing = (
            select(cases.c.case_id)
            .outerjoin(
                other_cases,
                and_(
                    other_cases.c.run_id == other,
                    other_cases.c.benchmark == cases.c.benchmark,
                    other_cases.c.case_id == cases.c.case_id,
                    other_cases.c.answer_key == cases.c.answer_key,
                ),
            )
            .where(
                cases.c.run_id == run_id,
                cases.c.benchmark == benchmark,
                cases.c.language == language,
                other_cases.c.case_id.is_(None),
            )
            .limit(1)
        )
        if connection.execute(missing).first() is None:
            return other
    return run_id


def _versions(connection: Connection, run_id: str, *, benchmark: str, metric: str) -> set[str]:
    query = (
        select(steps.c.version)
        .join(run_steps, run_steps.c.step == steps.c.id)
        .where(
            run_steps.c.run_id == run_id,
            run_steps.c.benchmark == benchmark,
            steps.c.name == metric,
        )
    )
    return set(connection.scalars(query))
