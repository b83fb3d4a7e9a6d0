"""Put a run into a store, as a file has it that ``xling export --texts`` wrote."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pytest_xling.records import RunRecord
from pytest_xling.store.outputs import Output, put, step_id
from pytest_xling.store.runs import (
    CaseRow,
    Progress,
    SetRow,
    add_cases,
    add_run,
    add_run_steps,
    add_sets,
    put_progress,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sqlalchemy import Connection


def restore(connection: Connection, exported: Mapping[str, Any]) -> None:
    """Put a run into a store: its answers, its scores, and what it cost.

    Annotations are not in the file: nobody asks for them where the scores are there.

    Args:
        connection: in a transaction that writes.
        exported: the object in the file.

    Raises:
        KeyError, TypeError, ValueError: the file is none of that kind.
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
    add_cases(connection, run.run_id, [_case(case, numbers) for case in exported["cases"]])
    sets = {
        SetRow(benchmark=case["benchmark"], case_id=case["case"], key=bytes.fromhex(score["set"]))
        for case in exported["cases"]
        for score in case["scores"].values()
        if "set" in score
    }
    add_sets(connection, run.run_id, sorted(sets))
    state = Progress(cost_usd=exported["cost_usd"])
    put_progress(connection, run.run_id, worker="exported", state=state)


def _outputs(case: Mapping[str, Any], numbers: Mapping[int, int]) -> Iterator[Output]:
    """Yield a case's answer and its scores."""
    yield Output(
        key=(bytes.fromhex(case["key"]), numbers[case["step"]]), output=_json(case["response"])
    )
    for score in case["scores"].values():
        key = bytes.fromhex(score.get("set", case["answer"]))
        reading = [score["value"], score["reason"]]
        yield Output(key=(key, numbers[score["step"]]), output=_json(reading))


def _case(case: Mapping[str, Any], numbers: Mapping[int, int]) -> CaseRow:
    return CaseRow(
        case_id=case["case"],
        benchmark=case["benchmark"],
        sample_id=case["sample_id"],
        language=case["language"],
        condition=case["condition"],
        position=case["position"],
        question=case["question"],
        sample_metadata=_json(case["metadata"]),
        response_key=bytes.fromhex(case["key"]),
        response_step=numbers[case["step"]],
        answer_key=bytes.fromhex(case["answer"]),
        cluster=case["cluster"],
        reference=case["reference"],
    )


def _json(value: Any) -> str:  # noqa: ANN401  whatever the file has
    return json.dumps(value, ensure_ascii=False)
