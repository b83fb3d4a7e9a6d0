"""What some metrics said of each answer of a run, and the texts of chosen answers."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import and_, func, select

from pytest_xling.store.schema import cases, outputs

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from sqlalchemy import Connection

    from pytest_xling.store.queries import MetricStep

__all__ = ["JudgedCase", "judged_cases", "texts_of"]

_CHUNK = 500
_BLANK = " \t\n\r"


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedCase:
    """A case with the readings of its answer; of no others, such as those of several answers."""

    case_id: str
    sample_id: str
    language: str
    condition: str
    cluster: str
    """What cases share that are about one question or claim; never empty."""
    metadata: Mapping[str, str]
    answered: bool
    """Whether there is a text to look at."""
    readings: Mapping[str, tuple[float | None, str]]
    """By metric: the value, or None, and the reason. A metric that was not applied is missing."""


def judged_cases(
    connection: Connection, run_id: str, scored: Sequence[MetricStep]
) -> Iterator[JudgedCase]:
    """Yield the cases of one benchmark in case order, with what *scored* said of each.

    Args:
        connection: to the store.
        run_id: the run.
        scored: metrics of one benchmark, each in one version.
    """
    response = outputs.alias("response")
    source: Any = cases.join(
        response,
        and_(
            response.c.input_key == cases.c.response_key,
            response.c.step == cases.c.response_step,
        ),
    )
    columns: list[Any] = []
    for number, step in enumerate(scored):
        score = outputs.alias(f"score_{number}")
        source = source.outerjoin(
            score, and_(score.c.input_key == cases.c.answer_key, score.c.step == step.step)
        )
        columns.append(score.c.output)
    text = func.coalesce(func.json_extract(response.c.output, "$.text"), "")
    query = (
        select(
            cases.c.case_id,
            cases.c.sample_id,
            cases.c.language,
            cases.c.condition,
            cases.c.cluster,
            cases.c.sample_metadata,
            func.trim(text, _BLANK) != "",
            *columns,
        )
        .select_from(source)
        .where(cases.c.run_id == run_id, cases.c.benchmark == scored[0].benchmark)
        .order_by(cases.c.position)
    )
    names = [step.metric for step in scored]
    for (
        case_id,
        sample,
        language,
        condition,
        cluster,
        metadata,
        answered,
        *said,
    ) in connection.execute(query):
        yield JudgedCase(
            case_id=case_id,
            sample_id=sample,
            language=language,
            condition=condition,
            cluster=cluster or sample,
            metadata=json.loads(metadata),
            answered=bool(answered),
            readings={
                name: _reading(output)
                for name, output in zip(names, said, strict=True)
                if output is not None
            },
        )


def _reading(output: str) -> tuple[float | None, str]:
    value, reason = json.loads(output)
    return value, reason


def texts_of(
    connection: Connection, run_id: str, *, benchmark: str, case_ids: Collection[str]
) -> dict[str, tuple[str, str, str]]:
    """Return question, reference and answer of some cases by their ids; "" where there is none."""
    found: dict[str, tuple[str, str, str]] = {}
    wanted = sorted(case_ids)
    for start in range(0, len(wanted), _CHUNK):
        query = (
            select(cases.c.case_id, cases.c.question, cases.c.reference, outputs.c.output)
            .join(
                outputs,
                and_(
                    outputs.c.input_key == cases.c.response_key,
                    outputs.c.step == cases.c.response_step,
                ),
            )
            .where(
                cases.c.run_id == run_id,
                cases.c.benchmark == benchmark,
                cases.c.case_id.in_(wanted[start : start + _CHUNK]),
            )
        )
        for case_id, question, reference, output in connection.execute(query):
            found[case_id] = (question, reference or "", json.loads(output)["text"] or "")
    return found
