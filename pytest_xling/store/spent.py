"""What the answers of a run took, added up by the store."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, func, select

from pytest_xling.store.schema import cases, outputs, runs

__all__ = ["Length", "Tokens", "answer_lengths", "tokens_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    """Tokens of a run's answers, whichever run paid for them."""

    prompt: int
    completion: int
    estimated: int = 0
    """Answers whose tokens we counted ourselves, as their server gave no usable count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Length:
    """How long answers are, in the tokens their server counted."""

    answers: int
    mean: float


def answer_lengths(connection: Connection) -> dict[tuple[str, str, str], Length]:
    """Return how long the answers of all runs are, by model, benchmark and language.

    Answers whose tokens nobody counted are left out.
    """
    tokens = func.json_extract(outputs.c.output, "$.usage[1]")
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
        func.coalesce(func.sum(func.json_extract(outputs.c.output, f"$.usage[{place}]")), 0)
        for place in (0, 1)
    )
    estimated = func.count(func.json_extract(outputs.c.output, "$.usage_estimated"))
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
    return Tokens(prompt=prompt, completion=completion, estimated=ours)
