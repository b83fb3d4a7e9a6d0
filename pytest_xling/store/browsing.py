"""The cases of a run with all that is kept of them, for people to look through."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import and_, select

from pytest_xling.keys import content_key
from pytest_xling.records import TURNS
from pytest_xling.store.explain import payload_of
from pytest_xling.store.outputs import find
from pytest_xling.store.responses import read_response
from pytest_xling.store.runs import signature_of
from pytest_xling.store.schema import cases, outputs, runs, steps

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from sqlalchemy import Connection

    from pytest_xling.store.queries import MetricStep

_CHUNK = 500


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
    connection: Connection, run_id: str, *, benchmark: str, scored: Sequence[MetricStep] = ()
) -> Iterator[JudgedCase]:
    """Yield the cases of one benchmark in case order, with what *scored* said of each.

    Args:
        connection: to the store.
        run_id: the run.
        benchmark: one of the run's.
        scored: metrics of it, each in one version.
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
    query = (
        select(
            cases.c.case_id,
            cases.c.sample_id,
            cases.c.language,
            cases.c.condition,
            cases.c.cluster,
            cases.c.sample_metadata,
            response.c.output,
            *columns,
        )
        .select_from(source)
        .where(cases.c.run_id == run_id, cases.c.benchmark == benchmark)
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
        answer,
        *readings,
    ) in connection.execute(query):
        yield JudgedCase(
            case_id=case_id,
            sample_id=sample,
            language=language,
            condition=condition,
            cluster=cluster or sample,
            metadata=json.loads(metadata),
            answered=bool((read_response(answer)["text"] or "").strip()),
            readings={
                name: _reading(output)
                for name, output in zip(names, readings, strict=True)
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
    texts: dict[str, tuple[str, str, str]] = {}
    wanted = sorted(case_ids)
    for start in range(0, len(wanted), _CHUNK):
        query = (
            select(cases, outputs.c.output)
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
        for row in connection.execute(query):
            asked = _asked(connection, row, json.loads(row.sample_metadata))
            answer = read_response(row.output)["text"] or ""
            texts[row.case_id] = (asked, row.reference or "", answer)
    return texts


def _asked(connection: Connection, row: Any, metadata: Mapping[str, str]) -> str:  # noqa: ANN401
    """Return what was asked; of a conversation all that was said before the answer."""
    payload = payload_of(connection, row.response_key) if TURNS in metadata else None
    said = payload and (payload.get("messages") or payload.get("prompt"))
    if not isinstance(said, list):
        return str(row.question)
    turns = []
    for role, content, *rest in said:
        calls = [f"[{name}({arguments})]" for name, arguments, _ in rest[0]] if rest else []
        turns.append(f"{role}: {' '.join(filter(None, [content, *calls]))}")
    return "\n\n".join(turns)


_TRANSLATE = "translate"


@dataclass(frozen=True, slots=True, kw_only=True)
class BrowsedCase:
    """A case with its response."""

    case_id: str
    benchmark: str
    sample_id: str
    language: str
    condition: str
    question: str
    asked: str
    """The question; of a conversation all that was said before the answer."""
    metadata: dict[str, str]
    response: dict[str, Any]
    cost_usd: float
    """Of the response, whichever run paid for it."""
    reference: str | None = None
    """What a right answer says, where the data have one."""

    @property
    def text(self) -> str:
        """The answer; empty where there is none."""
        return self.response["text"] or ""

    @property
    def thoughts(self) -> str:
        """What the model thought before it answered; empty where it does not show that."""
        thoughts: str = self.response.get("thoughts", "")
        return thoughts

    @property
    def translation_key(self) -> bytes:
        """What a translation of the answer is kept under."""
        return content_key({"text": self.text, "language": self.language})


@dataclass(frozen=True, slots=True, kw_only=True)
class Translation:
    """An answer in English, or the reason why there is none."""

    text: str | None
    reason: str


def browsed_cases(connection: Connection, run_id: str) -> Iterator[BrowsedCase]:
    """Yield a run's cases with their responses, by benchmark and in case order."""
    query = (
        select(cases, outputs.c.output, outputs.c.cost_usd)
        .join(
            outputs,
            (outputs.c.input_key == cases.c.response_key)
            & (outputs.c.step == cases.c.response_step),
        )
        .where(cases.c.run_id == run_id)
        .order_by(cases.c.benchmark, cases.c.position, cases.c.case_id)
        .execution_options(yield_per=200)
    )
    for row in connection.execute(query):
        metadata = json.loads(row.sample_metadata)
        yield BrowsedCase(
            case_id=row.case_id,
            benchmark=row.benchmark,
            sample_id=row.sample_id,
            language=row.language,
            condition=row.condition,
            question=row.question,
            asked=_asked(connection, row, metadata),
            metadata=metadata,
            response=read_response(row.output),
            cost_usd=row.cost_usd,
            reference=row.reference,
        )


def translations(
    connection: Connection, keys: Collection[bytes], *, signatures: Sequence[str]
) -> dict[bytes, Translation]:
    """Return the translations there are of answers, by :attr:`BrowsedCase.translation_key`.

    Args:
        connection: to the store.
        keys: of the answers.
        signatures: of the run's metrics. Where the store has several translators' work, that which
            one of these rests on is taken before that of others, and newer before older.
    """
    query = select(steps).where(steps.c.kind == "annotation", steps.c.name == _TRANSLATE)
    made = {
        row.id: signature_of(row.name, row.version, json.loads(row.parameters))
        for row in connection.execute(query)
    }
    best_last = sorted(made, key=lambda step: (any(made[step] in s for s in signatures), step))
    translated: dict[bytes, Translation] = {}
    for step in best_last:
        for (key, _), output in find(connection, [(key, step) for key in keys]).items():
            value = json.loads(output)
            translated[key] = Translation(text=value["text"], reason=value["reason"])
    return translated


def finished_at(connection: Connection, run_id: str) -> str | None:
    """Return when a run ended, UTC in ISO 8601; None while it runs or where it was cut off."""
    query = select(runs.c.finished_at).where(runs.c.run_id == run_id)
    ended: str | None = connection.execute(query).scalar()
    return ended
