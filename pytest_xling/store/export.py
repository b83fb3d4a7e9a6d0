"""Export a run, case by case, and restore it into a store."""

from __future__ import annotations

import json
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from sqlalchemy import and_, null, select

from pytest_xling.records import RunRecord
from pytest_xling.store.cases import (
    CaseRow,
    SetRow,
    add_cases,
    add_run_steps,
    add_sets,
    read_response,
)
from pytest_xling.store.human_labels import human_labels_of, label_counts
from pytest_xling.store.outputs import Output, put, step_id
from pytest_xling.store.questions import digest_of
from pytest_xling.store.runs import Progress, add_run, put_progress
from pytest_xling.store.schema import cases, outputs, run_steps, steps
from pytest_xling.store.scores import scored_inputs

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sqlalchemy import Connection, Row

    from pytest_xling.store.human_labels import HumanLabel

    Labels = Mapping[tuple[str, str, str], Mapping[tuple[str, str], HumanLabel]]


_ALWAYS = ("benchmark", "sample_id", "language", "condition", "cluster")
_WITH_TEXTS = ("question", "reference")
_COLUMNS = (*_ALWAYS, *_WITH_TEXTS)
"""Columns of a case that are exported by their names."""


def exported(connection: Connection, run_id: str, *, texts: bool) -> Iterator[dict[str, Any]]:
    """Yield a run's cases with their scores, as JSON objects, in case order.

    A score is ``{"value": …}``, with the ``reason`` where there is no value. The reason of a value
    may quote the answer, so it is there only with *texts*. Of the question there is a digest, by
    which a later run knows whether it asked the same. Where people labelled some of the answers, a
    score has what the judge ``said``, by which they were sampled, and the value that ``people``
    gave: None where they were not asked, or ``cannot_tell``. With *texts* :func:`restore` can put
    the run into another store.

    Args:
        connection: to the store.
        run_id: the run.
        texts: whether to include questions and responses.
    """
    response = outputs.alias("response")
    # Of a question asked several times, the first case also has the scores of all repeats.
    scored = scored_inputs(run_id, cases.c.benchmark, cases.c.case_id).subquery("scored")
    source = (
        cases.join(
            scored,
            and_(scored.c.benchmark == cases.c.benchmark, scored.c.case_id == cases.c.case_id),
        )
        .outerjoin(
            run_steps,
            and_(run_steps.c.run_id == cases.c.run_id, run_steps.c.benchmark == cases.c.benchmark),
        )
        .outerjoin(steps, steps.c.id == run_steps.c.step)
        .outerjoin(
            outputs,
            and_(outputs.c.input_key == scored.c.input_key, outputs.c.step == run_steps.c.step),
        )
    )
    if texts:
        source = source.outerjoin(
            response,
            and_(
                response.c.input_key == cases.c.response_key,
                response.c.step == cases.c.response_step,
            ),
        )
    response_text = response.c.output if texts else null()
    query = (
        select(
            cases,
            steps.c.name,
            outputs.c.step,
            outputs.c.output,
            scored.c.input_key,
            response_text.label("response"),
        )
        .select_from(source)
        .where(cases.c.run_id == run_id)
        .order_by(cases.c.benchmark, cases.c.position, cases.c.case_id, steps.c.name)
        .execution_options(yield_per=1000)
    )
    labels = {
        place: human_labels_of(
            connection, run_id, benchmark=place[0], metric=place[1], language=place[2]
        )
        for place in label_counts(connection, run_id)
    }
    for _, rows in groupby(connection.execute(query), key=attrgetter("benchmark", "case_id")):
        yield _case(list(rows), labels, texts=texts)


def _case(rows: list[Any], labels: Labels, *, texts: bool) -> dict[str, Any]:
    first = rows[0]
    case: dict[str, Any] = {
        "case": first.case_id,
        **{name: getattr(first, name) for name in _ALWAYS},
        "digest": digest_of(first.question, first.reference),
        "metadata": json.loads(first.sample_metadata),
        "key": first.response_key.hex(),
        "scores": {
            row.name: _score(row, texts=texts) | _human_label(row, labels)
            for row in rows
            if row.output
        },
    }
    if texts:
        case |= {
            **{name: getattr(first, name) for name in _WITH_TEXTS},
            "response": first.response and read_response(first.response),
            "position": first.position,
            "answer": first.answer_key.hex(),
            "step": first.response_step,
        }
    return case


def _score(row: Row[Any], *, texts: bool) -> dict[str, Any]:
    value, reason = json.loads(row.output)
    score: dict[str, Any] = {"value": value}
    if value is None or texts:
        score["reason"] = reason
    if texts:
        score["step"] = row.step
        if row.input_key != row.answer_key:
            score["set"] = row.input_key.hex()
    return score


def _human_label(row: Row[Any], labels: Labels) -> dict[str, Any]:
    of_language = labels.get((row.benchmark, row.name, row.language), {})
    label = of_language.get((row.sample_id, row.condition))
    if label is None:
        return {}
    undecided = {"cannot_tell": True} if label.cannot_tell else {}
    return {"said": label.said, "people": label.value} | undecided


def exported_steps(connection: Connection, run_id: str) -> dict[str, Any]:
    """Return the steps that answered and scored a run, and by benchmark the ids of its metrics."""
    answering = select(cases.c.response_step).where(cases.c.run_id == run_id)
    scoring = select(run_steps.c.step).where(run_steps.c.run_id == run_id)
    rows = connection.execute(select(steps).where(steps.c.id.in_(answering.union(scoring))))
    own = select(run_steps.c.benchmark, run_steps.c.step).where(run_steps.c.run_id == run_id)
    by_benchmark: dict[str, list[int]] = {}
    for benchmark, step in connection.execute(own):
        by_benchmark.setdefault(benchmark, []).append(step)
    return {
        "steps": [
            {
                "id": row.id,
                "kind": row.kind,
                "name": row.name,
                "version": row.version,
                "parameters": json.loads(row.parameters),
            }
            for row in rows
        ],
        "scored_by": by_benchmark,
    }


def restore(connection: Connection, exported: Mapping[str, Any]) -> None:
    """Put an exported run into a store: its answers, its scores, and its cost.

    Annotations are not exported: nothing needs them where there are scores.

    Args:
        connection: in a transaction that writes.
        exported: the object in the file.

    Raises:
        KeyError, TypeError, ValueError: *exported* is no such object.
    """
    run = RunRecord(**exported["run"])
    add_run(connection, run)
    numbers = {
        step["id"]: step_id(
            connection, **{name: step[name] for name in ("kind", "name", "version", "parameters")}
        )
        for step in exported["steps"]
    }
    scored_by = exported["scored_by"].items()
    steps_of = {benchmark: [numbers[step] for step in named] for benchmark, named in scored_by}
    add_run_steps(connection, run.run_id, steps_of)
    for case in exported["cases"]:
        put(connection, list(_outputs(case, numbers)))
    add_cases(connection, run.run_id, [_case_row(case, numbers) for case in exported["cases"]])
    sets = {
        SetRow(
            benchmark=case["benchmark"], case_id=case["case"], set_key=bytes.fromhex(score["set"])
        )
        for case in exported["cases"]
        for score in case["scores"].values()
        if "set" in score
    }
    add_sets(connection, run.run_id, sorted(sets))
    state = Progress(cost_usd=exported["cost_usd"])
    put_progress(connection, run.run_id, worker="exported", state=state)


def _outputs(case: Mapping[str, Any], numbers: Mapping[int, int]) -> Iterator[Output]:
    """Yield a case's answer, if there is one, and its scores."""
    if response := case["response"]:
        key = bytes.fromhex(case["key"])
        yield Output(key=(key, numbers[case["step"]]), output=_json(response))
    for score in case["scores"].values():
        key = bytes.fromhex(score.get("set", case["answer"]))
        reading = [score["value"], score["reason"]]
        yield Output(key=(key, numbers[score["step"]]), output=_json(reading))


def _case_row(case: Mapping[str, Any], numbers: Mapping[int, int]) -> CaseRow:
    return CaseRow(
        **{name: case[name] for name in _COLUMNS},
        case_id=case["case"],
        position=case["position"],
        sample_metadata=_json(case["metadata"]),
        response_key=bytes.fromhex(case["key"]),
        response_step=numbers[case["step"]],
        answer_key=bytes.fromhex(case["answer"]),
    )


def _json(value: Any) -> str:  # noqa: ANN401  whatever the file has
    return json.dumps(value, ensure_ascii=False)
