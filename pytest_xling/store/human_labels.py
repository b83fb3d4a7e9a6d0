"""What people say a metric should have said of a run's answers, as the store keeps it."""

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
"""Asked first: nearly all gates have none, and a gate asks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HumanLabel:
    """What is said of an answer that people were drawn a sample from."""

    said: str
    """The judge's label: answers were drawn by that and by language."""
    value: float | None
    """What most people's labels stand for, as the metric would give it; None where there is no
    label, or no majority."""
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
    """Keep the labels of a run's answers, by case; earlier ones for the metric are forgotten."""
    where = {"run_id": run_id, "benchmark": benchmark, "metric": metric}
    same = [table.c[column] == value for column, value in where.items()]
    connection.execute(delete(table).where(*same))
    rows = [{**where, "case_id": case, **columns_of(label)} for case, label in labels.items()]
    keep(connection, table, rows)


def human_values(
    connection: Connection, run_id: str, *, benchmark: str, metric: str
) -> dict[str, float | None]:
    """Return what people say of the answers they were asked about, by case.

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
    """Return the benchmarks and metrics that there are labels of, in any run."""
    query = select(table.c.benchmark, table.c.metric).distinct()
    return {(row.benchmark, row.metric) for row in connection.execute(query)}


def human_labels_of(
    connection: Connection, run_id: str, *, benchmark: str, metric: str, language: str
) -> dict[tuple[str, str], HumanLabel]:
    """Return the labels of a run's answers in a language, by sample and condition.

    They are of :func:`labelled_run`: labels are about answers, whichever run they were drawn from.
    """
    if connection.execute(_any_label, {"benchmark": benchmark, "metric": metric}).first() is None:
        return {}
    of = labelled_run(connection, run_id, benchmark=benchmark, metric=metric, language=language)
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
            table.c.run_id == of,
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
    kept = connection.execute(
        select(table.c.benchmark, table.c.metric, cases.c.language)
        .distinct()
        .join(cases, cases.c.benchmark == table.c.benchmark)
        .where(cases.c.run_id == run_id)
        .order_by(table.c.benchmark, table.c.metric, cases.c.language)
    )
    counts = {}
    for benchmark, metric, language in kept.all():
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

    That is the run itself where it has labels. Else it is the latest that has some and all of these
    answers, scored with the same version of the metric: of fewer answers its labels are no sample.
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
    of_place = partial(_versions, connection, benchmark=benchmark, metric=metric)
    for other in labelled:
        if of_place(run_id) != of_place(other):
            continue
        there = cases.alias()
        missing = (
            select(cases.c.case_id)
            .outerjoin(
                there,
                and_(
                    there.c.run_id == other,
                    there.c.benchmark == cases.c.benchmark,
                    there.c.case_id == cases.c.case_id,
                    there.c.answer_key == cases.c.answer_key,
                ),
            )
            .where(
                cases.c.run_id == run_id,
                cases.c.benchmark == benchmark,
                cases.c.language == language,
                there.c.case_id.is_(None),
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
