"""Runs: what was asked in one session of pytest, how it scored and what the gates said."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, cast, delete, func, select, update

from pytest_xling.errors import StoreError, did_you_mean
from pytest_xling.keys import canonical_json
from pytest_xling.records import Estimate, Expected, Finding, RunRecord, Score, Threshold, Verdict
from pytest_xling.registry import describe
from pytest_xling.store.clock import ahead_s, now
from pytest_xling.store.faults import put_faults
from pytest_xling.store.insertion import insert
from pytest_xling.store.responses import read_response
from pytest_xling.store.schema import (
    cases,
    outputs,
    progress,
    run_steps,
    runs,
    sets,
    steps,
    verdicts,
)
from pytest_xling.store.scored import LEVEL, level_of, scored_inputs

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from sqlalchemy import Connection

    from pytest_xling.store.faults import FaultRow

DESCRIBED = "metrics"
"""The key of a run's settings that describes its metrics, by name."""
BEFORE = "before"
"""Stands for the workers of a run's earlier sessions, in its progress."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseRow:
    """A case that has been answered and scored."""

    case_id: str
    benchmark: str
    sample_id: str
    language: str
    condition: str
    position: int
    question: str
    sample_metadata: str
    """JSON."""
    response_key: bytes
    response_step: int
    answer_key: bytes
    cluster: str = ""
    """What samples share that are about one question; empty: the sample's id."""
    reference: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class SetRow:
    """Answers that have been scored together, under the case of the first."""

    benchmark: str
    case_id: str
    key: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredAnswer:
    """A case with its response, as reports read them back."""

    case_id: str
    benchmark: str
    sample_id: str
    language: str
    condition: str
    question: str
    metadata: dict[str, str]
    response: dict[str, Any]
    as_kept: str
    """The response as JSON, perhaps with thoughts in its text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a run, or one worker's part of it, has come."""

    total: int = 0
    done: int = 0
    errors: int = 0
    cost_usd: float = 0.0
    waiting: str = ""
    """Which models answer nothing just now, and for how long."""


def add_run(connection: Connection, run: RunRecord) -> None:
    """Start a run.

    Raises:
        StoreError: the name is taken.
    """
    if find_run(connection, run.run_id) is not None:
        msg = f"the store has a run named {run.run_id!r} already; choose another --xling-run-name"
        raise StoreError(msg)
    connection.execute(
        insert(connection, runs).values(run_id=run.run_id, **_values(connection, run))
    )


def find_run(connection: Connection, run_id: str) -> RunRecord | None:
    """Return the run named *run_id*; None where there is none. The registry knows its metrics."""
    row = connection.execute(select(runs).where(runs.c.run_id == run_id)).first()
    if row is None:
        return None
    run = _run(row, ahead_s(connection))
    describe_metrics(run.settings, run_id=run_id)
    return run


def go_on(connection: Connection, run: RunRecord) -> None:
    """Begin another session of a run that did not come to its end.

    Its answers and what they cost stay. What was said of them all is for this session to say anew:
    verdicts, and which steps and sets of answers the run was scored with.

    Args:
        connection: in a transaction that writes.
        run: as it is from now on, but for when it was made.
    """
    names = list(run.whole)
    for table in (run_steps, sets, verdicts):
        connection.execute(
            delete(table).where(table.c.run_id == run.run_id, table.c.benchmark.in_(names))
        )
    spent = total_progress(connection, run.run_id).cost_usd
    connection.execute(delete(progress).where(progress.c.run_id == run.run_id))
    put_progress(connection, run.run_id, worker=BEFORE, state=Progress(cost_usd=spent))
    unchanged = {"created_at", "seconds"}
    values = {
        name: value for name, value in _values(connection, run).items() if name not in unchanged
    }
    connection.execute(
        update(runs).where(runs.c.run_id == run.run_id).values(**values, finished_at=None)
    )


def finish_run(
    connection: Connection, run_id: str, *, status: str, seconds: float | None = None
) -> None:
    """Say how a run ended: complete, incomplete or interrupted; and how long this session took."""
    ended: dict[str, Any] = {
        "status": status,
        "finished_at": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    if seconds is not None:
        ended["seconds"] = func.coalesce(runs.c.seconds, 0.0) + seconds
    connection.execute(update(runs).where(runs.c.run_id == run_id).values(**ended))


def list_runs(connection: Connection) -> list[RunRecord]:
    """Return all runs, oldest first."""
    query = select(runs).order_by(runs.c.created_at, runs.c.run_id)
    ahead = ahead_s(connection)
    return [_run(row, ahead) for row in connection.execute(query)]


def get_run(connection: Connection, run_id: str) -> RunRecord:
    """Return the run named *run_id*; ``latest`` stands for the newest.

    Raises:
        StoreError: there is no such run; says what is close.
    """
    name = latest_run_id(connection) if run_id == "latest" else run_id
    run = None if name is None else find_run(connection, name)
    if run is None:
        known = connection.execute(select(runs.c.run_id)).scalars().all()
        msg = (
            f"the store has no run {run_id!r}.{did_you_mean(run_id, known)} `xling runs` lists them"
            if known
            else "the store has no runs yet; pytest --model=… makes one"
        )
        raise StoreError(msg)
    return run


def latest_run_id(connection: Connection) -> str | None:
    """Return the name of the newest run, or None."""
    query = select(runs.c.run_id).order_by(runs.c.created_at.desc(), runs.c.run_id.desc()).limit(1)
    run_id: str | None = connection.execute(query).scalar()
    return run_id


def add_run_steps(
    connection: Connection,
    run_id: str,
    steps_of: Mapping[str, Sequence[int]],
    described: Mapping[str, Mapping[str, Any]] | None = None,
) -> None:
    """Say which metric steps score each benchmark of a run.

    Args:
        connection: in a transaction that writes.
        run_id: the run.
        steps_of: numbers of steps by benchmark.
        described: of metrics that are not built in, what judging and showing their scores needs.
    """
    rows = [
        {"run_id": run_id, "benchmark": benchmark, "step": step}
        for benchmark, numbers in steps_of.items()
        for step in numbers
    ]
    if rows:
        connection.execute(insert(connection, run_steps).on_conflict_do_nothing(), rows)
    if described:
        mine = runs.c.run_id == run_id
        settings = json.loads(connection.execute(select(runs.c.settings).where(mine)).scalar_one())
        settings[DESCRIBED] = {**settings.get(DESCRIBED, {}), **described}
        connection.execute(update(runs).where(mine).values(settings=canonical_json(settings)))


def rescored(
    connection: Connection,
    run_id: str,
    steps_of: Mapping[str, Sequence[int]],
    *,
    answer_keys: Mapping[tuple[str, str], bytes],
    sets: Sequence[SetRow],
    described: Mapping[str, Mapping[str, Any]],
) -> None:
    """Say that a run was scored anew by metrics, in place of others of the same names.

    Args:
        connection: in a transaction that writes.
        run_id: the run.
        steps_of: numbers of steps by benchmark.
        answer_keys: what scores are kept under, by benchmark and case; where one is another than
            before, the metrics are all that the run has.
        sets: the answers scored together.
        described: as for :func:`add_run_steps`.
    """
    _take_answer_keys(connection, run_id, answer_keys)
    for benchmark, numbers in steps_of.items():
        names = select(steps.c.name).where(steps.c.id.in_(numbers))
        before = select(steps.c.id).where(steps.c.kind == "score", steps.c.name.in_(names))
        connection.execute(
            delete(run_steps).where(
                run_steps.c.run_id == run_id,
                run_steps.c.benchmark == benchmark,
                run_steps.c.step.in_(before),
            )
        )
    add_run_steps(connection, run_id, steps_of, described)
    add_sets(connection, run_id, sets)


def _take_answer_keys(
    connection: Connection, run_id: str, answer_keys: Mapping[tuple[str, str], bytes]
) -> None:
    """Keep other keys of answers; sets of answers with the earlier ones are none of the run's."""
    c, s = cases.c, sets.c
    there = connection.execute(
        select(c.benchmark, c.case_id, c.answer_key).where(c.run_id == run_id)
    )
    changed = {
        (benchmark, case_id): answer_keys[benchmark, case_id]
        for benchmark, case_id, key in there
        if answer_keys.get((benchmark, case_id), key) != key
    }
    for (benchmark, case_id), key in changed.items():
        of_case = (c.run_id == run_id) & (c.benchmark == benchmark) & (c.case_id == case_id)
        connection.execute(update(cases).where(of_case).values(answer_key=key))
    for benchmark in {benchmark for benchmark, _ in changed}:
        connection.execute(delete(sets).where(s.run_id == run_id, s.benchmark == benchmark))


def describe_metrics(settings: Mapping[str, Any], *, run_id: str) -> None:
    """Let the registry know the metrics that a run's settings describe."""
    described = settings.get(DESCRIBED)
    for name, said in described.items() if isinstance(described, dict) else ():
        describe(name, said, origin=f"the project that run {run_id} was made in")


def add_results(
    connection: Connection,
    run_id: str,
    *,
    cases: Sequence[CaseRow],
    sets: Sequence[SetRow],
    faults: Sequence[FaultRow],
    mended: Iterable[tuple[str, str]],
) -> None:
    """Keep what came of a run's cases.

    Args:
        connection: in a transaction that writes.
        run_id: the run.
        cases: those answered.
        sets: the answers scored together.
        faults: of cases that met one.
        mended: benchmark and id of cases that met none; an earlier one's is forgotten.
    """
    put_faults(connection, run_id, faults, mended=mended)
    add_cases(connection, run_id, cases)
    add_sets(connection, run_id, sets)


def add_cases(connection: Connection, run_id: str, rows: Sequence[CaseRow]) -> None:
    """Keep answered cases, each as it was evaluated last."""
    if not rows:
        return
    statement, key = insert(connection, cases), [column.name for column in cases.primary_key]
    changed = {name: statement.excluded[name] for name in CaseRow.__slots__ if name not in key}
    connection.execute(
        statement.on_conflict_do_update(index_elements=key, set_=changed),
        [{"run_id": run_id} | {f: getattr(row, f) for f in CaseRow.__slots__} for row in rows],
    )


def forget_cases(connection: Connection, run_id: str) -> None:
    """Take the cases out of a run, and what they were scored with; answers and scores stay."""
    for table in (cases, sets, run_steps):
        connection.execute(delete(table).where(table.c.run_id == run_id))


def leave_out_cases(
    connection: Connection, run_id: str, *, but: Collection[tuple[str, str]]
) -> None:
    """Take cases out of a run that is gone on with by a part of them; answers and scores stay.

    Args:
        connection: in a transaction that writes.
        run_id: of the run.
        but: benchmark and id of those that stay.
    """
    there = connection.execute(
        select(cases.c.benchmark, cases.c.case_id).where(cases.c.run_id == run_id)
    )
    gone = [{"b": name, "c": case_id} for name, case_id in there if (name, case_id) not in but]
    if gone:
        of = (cases.c.benchmark == bindparam("b")) & (cases.c.case_id == bindparam("c"))
        connection.execute(delete(cases).where(cases.c.run_id == run_id, of), gone)


def add_sets(connection: Connection, run_id: str, rows: Sequence[SetRow]) -> None:
    """Keep which answers were scored together; what is there already stays."""
    if rows:
        connection.execute(
            insert(connection, sets).on_conflict_do_nothing(),
            [
                {
                    "run_id": run_id,
                    "benchmark": row.benchmark,
                    "case_id": row.case_id,
                    "set_key": row.key,
                }
                for row in rows
            ],
        )


def scores(
    connection: Connection,
    run_id: str,
    *,
    benchmark: str | None = None,
    metric: str | None = None,
    language: str | None = None,
) -> list[Score]:
    """Return a run's scores in case order, narrowed as asked."""
    c = cases.c
    scored = scored_inputs(
        run_id, c.benchmark, c.sample_id, c.cluster, c.language, c.condition, c.position, LEVEL
    ).subquery("scored")
    query = (
        select(
            steps.c.name,
            steps.c.version,
            steps.c.parameters,
            scored.c.benchmark,
            scored.c.sample_id,
            scored.c.language,
            scored.c.condition,
            scored.c.cluster,
            scored.c.level,
            outputs.c.output,
        )
        .select_from(scored)
        .join(
            run_steps,
            (run_steps.c.run_id == run_id) & (run_steps.c.benchmark == scored.c.benchmark),
        )
        .join(steps, steps.c.id == run_steps.c.step)
        .join(
            outputs,
            (outputs.c.input_key == scored.c.input_key) & (outputs.c.step == run_steps.c.step),
        )
        .order_by(scored.c.benchmark, scored.c.position, steps.c.name)
    )
    for column, wanted in (
        (scored.c.benchmark, benchmark),
        (steps.c.name, metric),
        (scored.c.language, language),
    ):
        if wanted is not None:
            query = query.where(column == wanted)
    signatures: dict[tuple[str, str, str], str] = {}
    read: list[Score] = []
    for row in connection.execute(query):
        name, version, parameters, bench, sample_id, lang, condition, cluster, level, output = row
        made = (name, version, parameters)
        if made not in signatures:
            signatures[made] = signature_of(name, version, json.loads(parameters))
        value, reason = json.loads(output)
        read.append(
            Score(
                metric=name,
                benchmark=bench,
                sample_id=sample_id,
                language=lang,
                condition=condition,
                value=value,
                reason=reason,
                signature=signatures[made],
                cluster=cluster,
                level=level_of(level),
            )
        )
    return read


def signature_of(name: str, version: str, parameters: dict[str, Any]) -> str:
    """Return how a number was made, in one line: ``repetition|v1|length:20|times:4|…``."""
    parts = [name, f"v{version}"]
    for key, value in sorted(parameters.items()):
        parts.append(f"{key}:{value if isinstance(value, str) else canonical_json(value)}")
    return "|".join(parts)


def answers(
    connection: Connection, run_id: str, *, benchmark: str | None = None
) -> list[StoredAnswer]:
    """Return a run's cases with their responses, in case order."""
    query = (
        select(cases, outputs.c.output)
        .join(
            outputs,
            (outputs.c.input_key == cases.c.response_key)
            & (outputs.c.step == cases.c.response_step),
        )
        .where(cases.c.run_id == run_id)
        .order_by(cases.c.benchmark, cases.c.position)
    )
    if benchmark is not None:
        query = query.where(cases.c.benchmark == benchmark)
    return [
        StoredAnswer(
            case_id=row.case_id,
            benchmark=row.benchmark,
            sample_id=row.sample_id,
            language=row.language,
            condition=row.condition,
            question=row.question,
            metadata=json.loads(row.sample_metadata),
            response=read_response(row.output),
            as_kept=row.output,
        )
        for row in connection.execute(query)
    ]


def put_verdict(
    connection: Connection,
    run_id: str,
    *,
    benchmark: str,
    verdict: Verdict,
    expected: Expected | None = None,
) -> None:
    """Keep what a gate decided and which scores it expected; a later decision replaces it."""
    row = asdict(verdict)
    if expected is not None:
        counts = [[*place, count] for place, count in expected.scores.items()]
        row["expected"] = {**asdict(expected), "scores": counts}
    statement = insert(connection, verdicts).values(
        run_id=run_id, benchmark=benchmark, gate=verdict.case, verdict=canonical_json(row)
    )
    connection.execute(
        statement.on_conflict_do_update(
            index_elements=["run_id", "benchmark", "gate"],
            set_={"verdict": statement.excluded.verdict},
        )
    )


def read_verdicts(connection: Connection, run_id: str) -> list[Verdict]:
    """Return what the gates of a run decided, by benchmark and gate."""
    query = (
        select(verdicts.c.verdict)
        .where(verdicts.c.run_id == run_id)
        .order_by(verdicts.c.benchmark, verdicts.c.gate)
    )
    return [verdict_of(json.loads(text)) for text in connection.execute(query).scalars()]


def expected_scores(connection: Connection, run_id: str) -> dict[tuple[str, str], Expected]:
    """Return which scores the gates of a run expected, by benchmark and metric.

    Of gates that early versions judged it is not known.
    """
    query = select(verdicts.c.benchmark, verdicts.c.verdict).where(verdicts.c.run_id == run_id)
    expected: dict[tuple[str, str], Expected] = {}
    for benchmark, text in connection.execute(query.order_by(verdicts.c.gate)):
        row = json.loads(text)
        if (kept := row.get("expected")) is not None:
            counts = {(language, level): count for language, level, count in kept.pop("scores")}
            expected[benchmark, row["threshold"]["metric"]] = Expected(scores=counts, **kept)
    return expected


def put_progress(connection: Connection, run_id: str, *, worker: str, state: Progress) -> None:
    """Say how far *worker* has come, and so that the run is still being made."""
    values = {name: getattr(state, name) for name in Progress.__slots__}
    statement = insert(connection, progress).values(run_id=run_id, worker=worker, **values)
    connection.execute(
        statement.on_conflict_do_update(index_elements=["run_id", "worker"], set_=values)
    )
    connection.execute(update(runs).where(runs.c.run_id == run_id).values(seen_at=now(connection)))


def total_progress(connection: Connection, run_id: str) -> Progress:
    """Return how far a run has come, all workers together."""
    c, sums = progress.c, ("total", "done", "errors", "cost_usd")
    query = select(
        # PostgreSQL's sums of whole numbers are decimals.
        *(cast(func.coalesce(func.sum(c[name]), 0), c[name].type).label(name) for name in sums),
        func.coalesce(func.max(progress.c.waiting), "").label("waiting"),
    ).where(progress.c.run_id == run_id)
    return Progress(**connection.execute(query).mappings().one())


def _values(connection: Connection, run: RunRecord) -> dict[str, Any]:
    """Return what the table says of a run beside its name."""
    return {
        "model": run.model,
        "created_at": run.created_at,
        "status": run.status,
        "settings": canonical_json(dict(run.settings)),
        "versions": canonical_json(dict(run.versions)),
        "git": run.git,
        "seed": run.seed,
        "owner": run.owner,
        "seen_at": run.seen_at - ahead_s(connection),
        "seconds": run.seconds,
        "whole": canonical_json({name: dict(counts) for name, counts in run.whole.items()}),
    }


def _seconds(row: Any) -> float | None:  # noqa: ANN401  likewise
    """Return how long a run took; early versions kept when it began and ended."""
    if row.seconds is not None or row.finished_at is None:
        return None if row.seconds is None else float(row.seconds)
    begun, ended = (
        datetime.fromisoformat(text).replace(tzinfo=UTC)
        for text in (row.created_at, row.finished_at)
    )
    return (ended - begun).total_seconds()


def _run(row: Any, ahead_s: float) -> RunRecord:  # noqa: ANN401  SQLAlchemy's rows are untyped
    """Return a run; when it was last heard of by this machine's clock, which is *ahead_s*."""
    return RunRecord(
        run_id=row.run_id,
        model=row.model,
        created_at=row.created_at,
        status=row.status,
        settings=json.loads(row.settings),
        versions=json.loads(row.versions),
        git=row.git,
        seed=row.seed,
        owner=row.owner,
        seen_at=row.seen_at + ahead_s,
        seconds=_seconds(row),
        whole=json.loads(row.whole),
    )


def _judged_by_rate(read: dict[str, Any]) -> bool:
    """Tell whether a verdict is of a rate; for those kept when estimates did not say so."""
    made = read["estimate"]
    compared = made["pivot"] or made.get("baseline") or made.get("trend")
    return read["threshold"]["max_rate"] is not None and not compared


def verdict_of(read: dict[str, Any]) -> Verdict:
    """Return the verdict that was kept, or exported, as *read*."""
    return Verdict(
        case=read["case"],
        outcome=read["outcome"],
        estimate=Estimate(**{"share": _judged_by_rate(read), **read["estimate"]}),
        threshold=Threshold(
            **{
                **read["threshold"],
                "weights": tuple((code, w) for code, w in read["threshold"].get("weights", ())),
            }
        ),
        reason=read["reason"],
        held=read.get("held", ""),
        findings=tuple(Finding(**finding) for finding in read["findings"]),
    )
