"""Make runs in a store out of scores, for tables and gates whose metrics would take a GPU."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pytest_xling.engine.answering import encode_response
from pytest_xling.keys import content_key
from pytest_xling.records import Response, RunRecord
from pytest_xling.store.cases import CaseRow, add_cases
from pytest_xling.store.database import Database
from pytest_xling.store.outputs import Output, put, step_id
from pytest_xling.store.runs import add_run, finish_run
from pytest_xling.store.scores import add_run_steps

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from pytest_xling.keys import JsonValue

__all__ = ["Scored", "made_up", "put_run"]


@dataclass(frozen=True, kw_only=True)
class Scored:
    """An answer, or the first of several, with what metrics say of it."""

    id: str
    language: str
    readings: Mapping[str, float | None]
    """By metric; None is unscored."""
    condition: str = ""
    benchmark: str = "health-consistency"
    metadata: Mapping[str, str] = field(default_factory=dict)
    cluster: str = ""
    reasons: Mapping[str, str] = field(default_factory=dict)
    """By metric, why there is no reading."""
    text: str | None = None
    """Of the answer; None keeps none."""
    question: str = ""


def put_run(
    path: Path,
    scored: Sequence[Scored],
    *,
    run_id: str = "run-1",
    model: str = "model-1",
    settings: Mapping[str, JsonValue] | None = None,
    version: str = "1",
    whole: Mapping[str, Mapping[str, int]] | None = None,
) -> Path:
    """Keep *scored* in the store at *path* as a complete run."""
    database = Database(path)
    record = RunRecord(
        run_id=run_id,
        model=model,
        created_at="2026-11-21T10:00:00.000+00:00",
        status="running",
        settings=settings or {},
        versions={},
        git="",
        seed=0,
        whole=whole or {},
    )
    rows: list[CaseRow] = []
    with database.write() as connection:
        add_run(connection, record)
        answering = step_id(connection, kind="provider", name="known", version="1", parameters={})
        step_of = {
            metric: step_id(connection, kind="metric", name=metric, version=version, parameters={})
            for metric in sorted({metric for one in scored for metric in one.readings})
        }
        used: dict[str, set[int]] = {}
        outputs: list[Output] = []
        for position, one in enumerate(scored):
            case = "-".join(filter(None, (one.id, one.language, one.condition)))
            key = content_key([run_id, one.benchmark, case])
            for metric, value in one.readings.items():
                used.setdefault(one.benchmark, set()).add(step_of[metric])
                why = one.reasons.get(metric, "too few answers")
                output = json.dumps([value, "" if value is not None else why])
                outputs.append(Output(key=(key, step_of[metric]), output=output))
            if one.text is not None:
                response = encode_response(Response(text=one.text, stop_reason="stop"))
                outputs.append(Output(key=(key, answering), output=response))
            rows.append(
                CaseRow(
                    case_id=case,
                    benchmark=one.benchmark,
                    sample_id=one.id,
                    language=one.language,
                    condition=one.condition,
                    position=position,
                    question=one.question,
                    sample_metadata=json.dumps(dict(one.metadata)),
                    response_key=key,
                    response_step=answering,
                    answer_key=key,
                    cluster=one.cluster,
                )
            )
        put(connection, outputs)
        add_cases(connection, run_id, rows)
        add_run_steps(connection, run_id, {name: sorted(steps) for name, steps in used.items()})
        finish_run(connection, run_id, status="complete")
    database.close()
    return path


def made_up(
    means: Mapping[str, Mapping[str, float]],
    *,
    conditions: Sequence[str] = ("", "t1"),
    questions: int = 24,
    spread: float = 0.02,
    seed: int = 5,
) -> list[Scored]:
    """Return scores scattered around a mean for each language and metric.

    Args:
        means: by language, then metric.
        conditions: the answers' conditions; each later one scores a tenth lower.
        questions: how many.
        spread: standard deviation, as a part of the mean.
        seed: of the scatter.
    """
    rng = random.Random(seed)  # noqa: S311  made-up numbers, the same every time
    return [
        Scored(
            id=f"q{number:02}",
            language=language,
            condition=condition,
            readings={
                metric: mean * (1 - 0.1 * later) * rng.gauss(1, spread)
                for metric, mean in metrics.items()
            },
        )
        for later, condition in enumerate(conditions)
        for language, metrics in means.items()
        for number in range(questions)
    ]
