"""What translation alone does to metrics, as the store keeps it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import select

from pytest_xling.keys import canonical_json
from pytest_xling.store.insertion import insert
from pytest_xling.store.schema import translation_noise as table

if TYPE_CHECKING:
    from sqlalchemy import Connection


@dataclass(frozen=True, slots=True, kw_only=True)
class Mean:
    """A mean of readings with its 95 % interval over questions; None where it is not known."""

    value: float | None
    low: float | None
    high: float | None
    n: int
    """Readings with a value."""
    unscored: int = 0
    reason: str = ""
    """Why the others have none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TranslationNoise:
    """What a metric says of English answers that were translated into a language, and back."""

    metric: str
    signature: str
    """Of the metric."""
    translator: str
    """Signature of what translates into English."""
    text_in: str
    """``english``: the metric read the translation back; ``native``: the one into the language."""
    language: str
    source: str
    """Which answers."""
    created_at: str
    """UTC, ISO 8601."""
    matched: Mean
    """Of an answer's own round trip: the most that a model may be expected to reach."""
    mismatched: Mean | None
    """Beside another question's answer: what answers with nothing in common reach. None where the
    metric does not compare with the pivot language."""
    cost: Mean
    """By how much translation alone makes it worse."""


def add_noise(connection: Connection, made: TranslationNoise) -> None:
    """Keep what was measured; a later measurement on the same answers replaces it."""
    row = {"created_at": made.created_at, "result": canonical_json(asdict(made))}
    keys = {name: getattr(made, name) for name in ("signature", "translator", "language", "source")}
    statement = insert(connection, table).values(**keys, **row)
    connection.execute(statement.on_conflict_do_update(index_elements=list(keys), set_=row))


def noise_of(connection: Connection, *, signature: str, language: str) -> TranslationNoise | None:
    """Return what was measured last of the metric of *signature*; None where nothing was."""
    query = (
        select(table.c.result)
        .where(table.c.signature == signature, table.c.language == language)
        .order_by(table.c.created_at.desc(), table.c.source)
        .limit(1)
    )
    result = connection.execute(query).scalar()
    return None if result is None else _read(json.loads(result))


def _read(saved: dict[str, Any]) -> TranslationNoise:
    means = {
        name: None if saved[name] is None else Mean(**saved.pop(name))
        for name in ("matched", "mismatched", "cost")
    }
    return TranslationNoise(**{**saved, **means})
