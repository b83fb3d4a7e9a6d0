"""What reports ask of a run, answered in SQL so that a hundred thousand cases stay cheap."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from sqlalchemy import Connection, and_, bindparam, case, false, func, literal, or_, select

from pytest_xling.records import Score
from pytest_xling.store.json_fields import number_at, text_at
from pytest_xling.store.responses import read_response
from pytest_xling.store.runs import signature_of
from pytest_xling.store.schema import cases, outputs, run_steps, runs, steps
from pytest_xling.store.scored import LEVEL, level_of, scored_inputs

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from sqlalchemy import ColumnElement, Select

    from pytest_xling.keys import JsonValue

Direction: TypeAlias = Literal["lowest", "highest"]
Place: TypeAlias = tuple[str, str, str]
"""Benchmark, metric and language."""

# A score is kept as JSON: [value, reason].
_VALUE = number_at(outputs.c.output, "$[0]")
_SET = func.coalesce(text_at(cases.c.sample_metadata, "$.set"), "")

_ALL = 2**62
# What was scored in a run, by its key: the limit, which leaves nothing out, keeps SQLite from
# forgetting the order.
_c = (
    scored_inputs(
        bindparam("run_id"),
        cases.c.benchmark,
        cases.c.language,
        cases.c.case_id,
        cases.c.sample_id,
        cases.c.condition,
        cases.c.cluster,
        cases.c.position,
        cases.c.response_key,
        cases.c.response_step,
        _SET.label("set"),
        LEVEL,
    )
    .order_by("input_key")
    .limit(_ALL)
    .subquery("by_input")
)


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricStep:
    """A metric that a benchmark of a run was scored with."""

    benchmark: str
    metric: str
    step: int
    signature: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Average:
    """A mean, of a flag its rate, over the answers that have a value."""

    mean: float | None
    n: int
    unscored: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Worst:
    """Where to find an answer that scored badly."""

    benchmark: str
    metric: str
    language: str
    case_id: str
    value: float
    reason: str


def metric_steps(connection: Connection, run_id: str) -> list[MetricStep]:
    """Return what a run was scored with, by benchmark and metric."""
    query = (
        select(run_steps.c.benchmark, steps)
        .join(steps, steps.c.id == run_steps.c.step)
        .where(run_steps.c.run_id == run_id)
        .order_by(run_steps.c.benchmark, steps.c.name, steps.c.id)
    )
    return [
        MetricStep(
            benchmark=row.benchmark,
            metric=row.name,
            step=row.id,
            signature=signature_of(row.name, row.version, json.loads(row.parameters)),
        )
        for row in connection.execute(query)
    ]


def metric_signatures(connection: Connection, run_id: str) -> dict[str, dict[str, str]]:
    """Return the signatures of what a run was scored with, by benchmark and metric."""
    signatures: dict[str, dict[str, str]] = {}
    for step in metric_steps(connection, run_id):
        signatures.setdefault(step.benchmark, {})[step.metric] = step.signature
    return signatures


def last_scored(
    connection: Connection,
    run_id: str,
    *,
    benchmark: str,
    metric: str,
    languages: Collection[str],
) -> str:
    """Return when the last of a run's scores was made, by whichever run: UTC, ISO 8601; or ""."""
    of_metric = (
        select(run_steps.c.step)
        .join(steps, steps.c.id == run_steps.c.step)
        .where(
            run_steps.c.run_id == run_id,
            run_steps.c.benchmark == benchmark,
            steps.c.name == metric,
        )
    )
    scored = scored_inputs(run_id, cases.c.benchmark, cases.c.language).subquery("scored")
    query = (
        select(func.max(outputs.c.created_at))
        .join(scored, scored.c.input_key == outputs.c.input_key)
        .where(
            outputs.c.step.in_(of_metric),
            scored.c.benchmark == benchmark,
            scored.c.language.in_(languages),
        )
    )
    made = connection.execute(query).scalar()
    if made is None:
        return ""
    return datetime.fromtimestamp(made, UTC).isoformat(timespec="milliseconds")


def step_parameters(
    connection: Connection, run_id: str, *, benchmark: str, metric: str
) -> list[dict[str, JsonValue]]:
    """Return what a metric of a run was made with, by parameter; one mapping for each version.

    Of the annotators it rests on the signatures stand there, by their name.
    """
    query = (
        select(steps.c.parameters)
        .join(run_steps, steps.c.id == run_steps.c.step)
        .where(
            run_steps.c.run_id == run_id,
            run_steps.c.benchmark == benchmark,
            steps.c.name == metric,
        )
        .order_by(steps.c.id)
    )
    return [json.loads(parameters) for parameters in connection.execute(query).scalars()]


def case_counts(connection: Connection, run_id: str) -> dict[tuple[str, str], int]:
    """Return how many answers a run has, by benchmark and language, sorted."""
    query = (
        select(cases.c.benchmark, cases.c.language, func.count())
        .where(cases.c.run_id == run_id)
        .group_by(cases.c.benchmark, cases.c.language)
        .order_by(cases.c.benchmark, cases.c.language)
    )
    return {(bench, language): count for bench, language, count in connection.execute(query)}


def answered_cases(connection: Connection, run_id: str) -> set[tuple[str, str]]:
    """Return benchmark and id of all cases of a run that have been answered."""
    query = select(cases.c.benchmark, cases.c.case_id).where(cases.c.run_id == run_id)
    return {(benchmark, case_id) for benchmark, case_id in connection.execute(query)}


def case_languages(connection: Connection, run_id: str, *, benchmark: str) -> dict[str, str]:
    """Return the languages of a run's answered cases in a benchmark, by the cases' ids."""
    query = select(cases.c.case_id, cases.c.language)
    rows = connection.execute(query.where(cases.c.run_id == run_id, cases.c.benchmark == benchmark))
    return {row.case_id: row.language for row in rows}


def response_keys(connection: Connection, run_id: str) -> dict[tuple[str, str], bytes]:
    """Return what the answers of a run are kept under, by benchmark and id of their cases."""
    query = select(cases.c.benchmark, cases.c.case_id, cases.c.response_key)
    rows = connection.execute(query.where(cases.c.run_id == run_id))
    return {(benchmark, case_id): key for benchmark, case_id, key in rows}


def answer_keys(connection: Connection, run_id: str, *, benchmark: str) -> dict[str, bytes]:
    """Return what scores of a benchmark's answers are kept under, by the ids of their cases."""
    query = select(cases.c.case_id, cases.c.answer_key).where(
        cases.c.run_id == run_id, cases.c.benchmark == benchmark
    )
    return {row.case_id: row.answer_key for row in connection.execute(query)}


def averages(
    connection: Connection, run_id: str, scored: Sequence[MetricStep]
) -> dict[Place, Average]:
    """Return the averages of *scored* by benchmark, metric and language."""
    query = (
        _scored(run_id, scored, _c.c.benchmark, outputs.c.step, _c.c.language)
        .add_columns(func.avg(_VALUE), func.count(_VALUE), func.count())
        .group_by(_c.c.benchmark, outputs.c.step, _c.c.language)
    )
    names = {step.step: step.metric for step in scored}
    return {
        (bench, names[step], language): Average(mean=mean, n=n, unscored=asked - n)
        for bench, step, language, mean, n, asked in connection.execute(query)
    }


def scores_by_place(
    connection: Connection, run_id: str, scored: Sequence[MetricStep]
) -> dict[Place, list[Score]]:
    """Return the scores of *scored*, in no order, in one pass over the run."""
    query = _scored(
        run_id,
        scored,
        outputs.c.step,
        _c.c.benchmark,
        _c.c.language,
        _c.c.sample_id,
        _c.c.condition,
        _c.c.cluster,
        _c.c.level,
        outputs.c.output,
    )
    made = {step.step: (step.metric, step.signature) for step in scored}
    read = lru_cache(maxsize=10_000)(json.loads)  # most scores are [0.0, ""]
    by_place: dict[Place, list[Score]] = {}
    for row in connection.execute(query):
        step, bench, language, sample_id, condition, cluster, level, output = row
        metric, signature = made[step]
        value, reason = read(output)
        score = Score(
            metric=metric,
            benchmark=bench,
            sample_id=sample_id,
            language=language,
            condition=condition,
            value=value,
            reason=reason,
            signature=signature,
            cluster=cluster,
            level=level_of(level),
        )
        by_place.setdefault((bench, metric, language), []).append(score)
    return by_place


def worst(
    connection: Connection,
    run_id: str,
    *,
    flagged: Sequence[MetricStep],
    numbers: Mapping[Place, Direction],
    each: int,
) -> dict[Place, list[Worst]]:
    """Return the worst answers for each benchmark, metric and language, in one pass over the run.

    Args:
        connection: to the store.
        run_id: the run.
        flagged: flag metrics; their flagged answers come in case order.
        numbers: which end of a number metric's values is bad, worst first.
        each: answers of one benchmark, metric and language at most.
    """
    scored = metric_steps(connection, run_id)
    by_place: dict[Place, list[Worst]] = {}
    steps_of = {(step.benchmark, step.metric): step for step in scored}
    wanted = [and_(_any_of(flagged), _VALUE == 1)] if flagged else []
    distance: list[tuple[ColumnElement[bool], Any]] = []
    for (benchmark, metric, language), direction in numbers.items():
        if (benchmark, metric) in steps_of:
            here = and_(_any_of([steps_of[benchmark, metric]]), _c.c.language == language)
            wanted.append(and_(here, _VALUE.is_not(None)))
            distance.append((here, _VALUE if direction == "lowest" else -_VALUE))
    if not wanted:
        return by_place
    rank = func.row_number().over(
        partition_by=(_c.c.benchmark, outputs.c.step, _c.c.language),
        order_by=(case(*distance, else_=0) if distance else literal(0), _c.c.position),
    )
    ranked = (
        _scored(
            run_id,
            [step for step in scored if step in flagged or _is_in(step, numbers)],
            outputs.c.step,
            _c.c.benchmark,
            _c.c.language,
            _c.c.case_id,
            outputs.c.output,
        )
        .add_columns(rank.label("rank"))
        .where(or_(*wanted))
        .subquery()
    )
    query = select(ranked).where(ranked.c.rank <= each).order_by(ranked.c.rank)
    names = {step.step: step.metric for step in scored}
    for row in connection.execute(query):
        value, reason = json.loads(row.output)
        place = (row.benchmark, names[row.step], row.language)
        by_place.setdefault(place, []).append(
            Worst(
                benchmark=row.benchmark,
                metric=names[row.step],
                language=row.language,
                case_id=row.case_id,
                value=value,
                reason=reason,
            )
        )
    return by_place


def _is_in(step: MetricStep, numbers: Mapping[Place, Direction]) -> bool:
    return any((step.benchmark, step.metric) == place[:2] for place in numbers)


def case_texts(connection: Connection, run_id: str, flagged: Worst) -> tuple[str, dict[str, Any]]:
    """Return the question of one case and its response."""
    query = (
        select(cases.c.question, outputs.c.output)
        .join(outputs, outputs.c.input_key == cases.c.response_key)
        .where(
            cases.c.run_id == run_id,
            cases.c.case_id == flagged.case_id,
            cases.c.benchmark == flagged.benchmark,
            outputs.c.step == cases.c.response_step,
        )
    )
    question, output = connection.execute(query).one()
    return question, read_response(output)


def _scored(run_id: str, scored: Collection[MetricStep], *columns: Any) -> Select[Any]:
    """Select *columns* of a run's cases beside their scores by the metrics *scored*.

    Cases come in the order of their scores in the file, and all scores of an answer are read
    together: a third of the time it takes to look each up.
    """
    return (
        select(*columns)
        .select_from(_c)
        .join(outputs, outputs.c.input_key == _c.c.input_key)
        .where(_any_of(scored))
        .params(run_id=run_id)
    )


def _any_of(scored: Collection[MetricStep]) -> ColumnElement[bool]:
    by_benchmark: dict[str, list[int]] = {}
    for step in scored:
        by_benchmark.setdefault(step.benchmark, []).append(step.step)
    # The sum keeps SQLite from seeking every step by itself.
    return or_(
        false(),
        *(
            and_(_c.c.benchmark == benchmark, (outputs.c.step + 0).in_(numbers))
            for benchmark, numbers in by_benchmark.items()
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    """Tokens of a run's answers, whichever run paid for them."""

    prompt: int
    completion: int
    estimated: int = 0
    """Answers whose tokens we counted ourselves, as their server gave no usable count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Answers of a run that replies call the same version of the model."""

    asked: bool
    """Whether they were asked for in this run; else they were in the store before it began."""
    version: str
    """As replies name it: the model, and a fingerprint of the server where it gives one."""
    answers: int
    oldest: float
    """When the first of them was made, in seconds since 1970."""


def origins(connection: Connection, run_id: str, *, began: float) -> list[Origin]:
    """Return where the answers of a run are from, those from the store first.

    Args:
        connection: to read.
        run_id: the run.
        began: when it began, in seconds since 1970.
    """
    asked = (outputs.c.created_at >= began).label("asked")
    version = func.coalesce(text_at(outputs.c.output, "$.model_version"), "").label("version")
    query = (
        select(asked, version, func.count(), func.min(outputs.c.created_at))
        .select_from(cases)
        .join(
            outputs,
            (outputs.c.input_key == cases.c.response_key)
            & (outputs.c.step == cases.c.response_step),
        )
        .where(cases.c.run_id == run_id)
        .group_by(asked, version)
        .order_by(asked, version)
    )
    return [
        Origin(asked=bool(now), version=named, answers=count, oldest=oldest)
        for now, named, count, oldest in connection.execute(query)
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Length:
    """How long answers are, in the tokens their server counted."""

    answers: int
    mean: float


def answer_lengths(connection: Connection) -> dict[tuple[str, str, str], Length]:
    """Return how long the answers of all runs are, by model, benchmark and language.

    Answers whose tokens nobody counted are left out.
    """
    tokens = number_at(outputs.c.output, "$.usage[1]")
    place = (runs.c.model, cases.c.benchmark, cases.c.language)
    query = (
        select(*place, func.count(cases.c.response_key.distinct()), func.avg(tokens))
        .select_from(cases)
        .join(runs, runs.c.run_id == cases.c.run_id)
        .join(
            outputs,
            (outputs.c.input_key == cases.c.response_key)
            & (outputs.c.step == cases.c.response_step),
        )
        .where(tokens > 0)
        .group_by(*place)
    )
    return {
        (model, benchmark, language): Length(answers=answers, mean=mean)
        for model, benchmark, language, answers, mean in connection.execute(query)
    }


def tokens_of(connection: Connection, run_id: str) -> Tokens:
    """Add up the tokens of all answers of a run."""
    read, written = (
        func.coalesce(func.sum(number_at(outputs.c.output, f"$.usage[{place}]")), 0)
        for place in (0, 1)
    )
    estimated = func.count(text_at(outputs.c.output, "$.usage_estimated"))
    query = (
        select(read, written, estimated)
        .select_from(cases)
        .join(
            outputs,
            (outputs.c.input_key == cases.c.response_key)
            & (outputs.c.step == cases.c.response_step),
        )
        .where(cases.c.run_id == run_id)
    )
    prompt, completion, ours = connection.execute(query).one()
    return Tokens(prompt=int(prompt), completion=int(completion), estimated=ours)
