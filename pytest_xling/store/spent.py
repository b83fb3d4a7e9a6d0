"""What the answers of a run took, added up by the store."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, func, select

from pytest_xling.store.schema import cases, outputs

__all__ = ["Tokens", "tokens_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    """Tokens of a run's answers, whichever run paid for them."""

    prompt: int
    completion: int


def tokens_of(connection: Connection, run_id: str) -> Tokens:
    """Add up the tokens of all answers of a run."""
    read, written = (
        func.coalesce(func.sum(func.json_extract(outputs.c.output, f"$.usage[{place}]")), 0)
        for place in (0, 1)
    )
    query = (
        select(read, written)
        .select_from(cases)
        .join(
            outputs,
            (outputs.c.input_key == cases.c.response_key)
            & (outputs.c.step == cases.c.response_step),
        )
        .where(cases.c.run_id == run_id)
    )
    prompt, completion = connection.execute(query).one()
    return Tokens(prompt=prompt, completion=completion)
