"""Measured quality of judges and metrics: calibrations, anchor checks, translation noise."""

from __future__ import annotations

import json
from collections.abc import Mapping  # noqa: TC003  the codec reads annotations
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import select

from pytest_xling.keys import canonical_json
from pytest_xling.stats.label_quality import Labelling  # noqa: TC001  likewise
from pytest_xling.store.rows import keep, plain, record_of
from pytest_xling.store.schema import anchor_checks, translation_noise
from pytest_xling.store.schema import calibrations as calibrations_table

if TYPE_CHECKING:
    from sqlalchemy import Connection, Table

LEVEL = 0.05
"""With a smaller p a judge has changed: chance does not explain its labels of the anchors."""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class AnchorCheck:
    """How a judge did on its anchors, answers with a known label, when it was asked again."""

    run_id: str
    """The run whose gates it was asked for."""
    signature: str
    """Of the judge."""
    language: str
    aspect: str = ""
    created_at: str
    """UTC, ISO 8601."""
    n: int
    """How many anchors there are."""
    right_then: int
    """Of how many it gave the known label when it was measured."""
    right_now: int
    p: float
    """How likely it is that as many change for no reason; two-sided (McNemar)."""
    versions_then: tuple[str, ...] = ()
    """Which versions of its model its servers named; none where they named none."""
    versions_now: tuple[str, ...] = ()

    @property
    def changed(self) -> str:
        """Say how the judge has changed; "" where nothing shows that it has."""
        then, now = set(self.versions_then), set(self.versions_now)
        if then and now and not now <= then:
            named = f"{', '.join(sorted(then))} then and {', '.join(sorted(now))} now"
            return f"its server names {named}"
        if self.p < LEVEL:
            return (
                f"of {self.n} labelled answers judged again it is right about {self.right_now}, and"
                f" was about {self.right_then} (p {self.p:.2g})"
            )
        return ""


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
    """The scores of English answers that were translated into a language, and back."""

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


def add_calibration(connection: Connection, calibration: Calibration) -> None:
    """Keep a calibration; a later one on the same labels replaces it."""
    source = f"{calibration.source} {calibration.aspect}".strip()
    _keep(connection, calibrations_table, calibration, source=source)


def calibration_of(
    connection: Connection, *, signature: str, language: str, aspect: str = ""
) -> Calibration | None:
    """Return how well the annotator of *signature* does in *language*.

    The user's own labels go before bundled ones, and later calibrations before earlier ones; None
    where it has not been measured.
    """
    measured = [
        calibration
        for calibration in calibrations(connection, signature=signature, language=language)
        if calibration.aspect == aspect
    ]
    return max(measured, key=lambda result: (result.human, result.created_at), default=None)


def calibrations(
    connection: Connection, *, signature: str | None = None, language: str | None = None
) -> list[Calibration]:
    """Return all calibrations in the store, narrowed as asked, the latest last."""
    saved = _read(connection, calibrations_table, signature=signature, language=language)
    return [record_of(Calibration, each) for each in saved]


def add_check(connection: Connection, check: AnchorCheck) -> None:
    """Keep a check; the first of a run stays."""
    _keep(connection, anchor_checks, check, replacing=False)


def checks(
    connection: Connection, *, signature: str, language: str | None = None
) -> list[AnchorCheck]:
    """Return all checks of the judge of *signature*, in a language or in all, the latest last."""
    saved = _read(connection, anchor_checks, signature=signature, language=language)
    return [record_of(AnchorCheck, each) for each in saved]


def add_noise(connection: Connection, noise: TranslationNoise) -> None:
    """Keep a measurement; a later one on the same answers replaces it."""
    _keep(connection, translation_noise, noise)


def noise_of(connection: Connection, *, signature: str, language: str) -> TranslationNoise | None:
    """Return the latest measurement of the metric of *signature*; None where there is none."""
    saved = _read(connection, translation_noise, signature=signature, language=language)
    latest = max(saved, key=lambda each: each["created_at"], default=None)
    return None if latest is None else record_of(TranslationNoise, latest)


def noise_floors(connection: Connection) -> dict[tuple[str, str], float | None]:
    """Return the latest mean of round trips, by a metric's signature and language."""
    saved = _read(connection, translation_noise, signature=None, language=None)
    return {(noise["signature"], noise["language"]): noise["matched"]["value"] for noise in saved}


def _keep(
    connection: Connection,
    table: Table,
    record: Calibration | AnchorCheck | TranslationNoise,
    *,
    replacing: bool = True,
    **values: str,
) -> None:
    """Keep a record as JSON, beside those of its fields that the table has columns for."""
    saved = canonical_json(plain(record))
    names = [column.name for column in table.columns if column.name != "result"]
    row = {name: getattr(record, name) for name in names}
    keep(connection, table, [{**row, **values, "result": saved}], replacing=replacing)


def _read(
    connection: Connection, table: Table, *, signature: str | None, language: str | None
) -> list[dict[str, Any]]:
    """Return the records in a table, narrowed as asked, the latest last."""
    order = [table.c[name] for name in ("created_at", "source", "language") if name in table.c]
    query = select(table.c.result).order_by(*order)
    for column, value in ((table.c.signature, signature), (table.c.language, language)):
        if value is not None:
            query = query.where(column == value)
    return [json.loads(text) for text in connection.execute(query).scalars()]
