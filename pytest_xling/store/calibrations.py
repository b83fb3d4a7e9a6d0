"""How well annotators did on labelled answers, as the store keeps it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import select

from pytest_xling.keys import canonical_json
from pytest_xling.stats.labelling import Labelling, LabelQuality, Measure
from pytest_xling.store.insertion import insert
from pytest_xling.store.schema import calibrations as table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy import Connection


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchor:
    """A labelled answer that a judge is asked about again, before its labels decide anything."""

    item: Mapping[str, str | None]
    """Its texts, its language and its known label, as ``Labelled`` has them."""
    given: str | None
    """The label the judge gave when it was measured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """How well an annotator did on labelled answers in one language."""

    annotator: str
    signature: str
    """Of the annotator: another version, model or prompt is another annotator."""
    language: str
    source: str
    """Which labelled answers."""
    human: bool
    """Whether they are the user's own."""
    aspect: str = ""
    """Of the annotator's values, where they have several: such as one mechanism of empathy."""
    created_at: str
    """UTC, ISO 8601."""
    quality: Labelling
    anchors: tuple[Anchor, ...] = ()
    """Some of the answers it was measured on; none of an annotator that asks no judge."""
    versions: tuple[str, ...] = ()
    """Which versions of its model a judge's servers named."""
    unanimous: float | None = None
    """On which share of the answers all votes of a panel were the same; None without a panel."""


def add_calibration(connection: Connection, made: Calibration) -> None:
    """Keep a calibration; a later one on the same labels replaces it."""
    row = {
        "source": f"{made.source} {made.aspect}".strip(),
        "created_at": made.created_at,
        "result": canonical_json(asdict(made)),
    }
    statement = insert(connection, table).values(
        signature=made.signature, language=made.language, **row
    )
    connection.execute(
        statement.on_conflict_do_update(
            index_elements=["signature", "language", "source"], set_=row
        )
    )


def calibration_of(
    connection: Connection, *, signature: str, language: str, aspect: str = ""
) -> Calibration | None:
    """Return how well the annotator of *signature* does in *language*.

    The user's own labels go before those that come along, and later ones before earlier ones; None
    where it has not been measured.
    """
    made = [
        calibration
        for calibration in calibrations(connection, signature=signature, language=language)
        if calibration.aspect == aspect
    ]
    return max(made, key=lambda result: (result.human, result.created_at), default=None)


def calibrations(
    connection: Connection, *, signature: str | None = None, language: str | None = None
) -> list[Calibration]:
    """Return all calibrations in the store, narrowed as asked, the latest last."""
    query = select(table.c.result).order_by(table.c.created_at, table.c.source, table.c.language)
    for column, wanted in ((table.c.signature, signature), (table.c.language, language)):
        if wanted is not None:
            query = query.where(column == wanted)
    return [_read(json.loads(text)) for text in connection.execute(query).scalars()]


def _read(saved: dict[str, Any]) -> Calibration:
    quality = saved.pop("quality")
    labels = tuple(
        LabelQuality(
            label=label["label"],
            support=label["support"],
            **{name: Measure(**label[name]) for name in ("precision", "recall", "f1")},
        )
        for label in quality.pop("labels")
    )
    measures: dict[str, Any] = {
        name: Measure(**quality.pop(name)) for name in ("accuracy", "macro_f1", "kappa")
    }
    saved["anchors"] = tuple(Anchor(**anchor) for anchor in saved.get("anchors", ()))
    saved["versions"] = tuple(saved.get("versions", ()))
    return Calibration(**saved, quality=Labelling(**quality, **measures, labels=labels))
