"""Measure annotators on answers people have labelled: none is trusted unseen."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from pytest_xling.errors import ConfigError
from pytest_xling.keys import canonical_json
from pytest_xling.stats.labelling import Labelling, LabelQuality, Measure, labelling
from pytest_xling.store.calibrations import add_calibration, read_calibrations
from pytest_xling.text.stance import STANCES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection

    from pytest_xling.analysis.labelled import Labelled, LabelledSet
    from pytest_xling.engine.run import Run
    from pytest_xling.keys import JsonValue
    from pytest_xling.store.database import Database

__all__ = ["Calibration", "calibrate", "calibration_of", "calibrations"]


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
    created_at: str
    """UTC, ISO 8601."""
    quality: Labelling


async def calibrate(
    run: Run,
    database: Database,
    *,
    annotator: str,
    labelled: LabelledSet,
    languages: Sequence[str],
) -> list[Calibration]:
    """Measure *annotator* in *languages*, and keep what comes of it in the store.

    What it has said of an answer before is not asked again.

    Args:
        run: annotates.
        database: the store.
        annotator: its name.
        labelled: answers to measure it on.
        languages: those without labelled answers are left out.

    Raises:
        XlingError: the annotator failed.
    """
    wanted = [language for language in languages if language in labelled.languages]
    items = [item for language in wanted for item in labelled.of(language)]
    signature, values = await run.annotated(annotator, [item.answer for item in items])
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    made = []
    for language in wanted:
        own = [
            (item, value)
            for item, value in zip(items, values, strict=True)
            if item.language == language
        ]
        calibration = Calibration(
            annotator=annotator,
            signature=signature,
            language=language,
            source=labelled.source,
            human=labelled.human,
            created_at=now,
            quality=_measured(own),
        )
        made.append(calibration)
    with database.write() as connection:
        for one in made:
            add_calibration(
                connection,
                signature=one.signature,
                language=one.language,
                source=one.source,
                created_at=one.created_at,
                result=canonical_json(asdict(one)),
            )
    return made


def calibration_of(connection: Connection, *, signature: str, language: str) -> Calibration | None:
    """Return how well the annotator of *signature* does in *language*.

    The user's own labels go before those that come along, and later ones before earlier ones; None
    where it has not been measured.
    """
    found = calibrations(connection, signature=signature, language=language)
    return max(found, key=lambda one: (one.human, one.created_at), default=None)


def calibrations(
    connection: Connection, *, signature: str | None = None, language: str | None = None
) -> list[Calibration]:
    """Return all calibrations in the store, narrowed as asked, the latest last."""
    return [
        _read(json.loads(text))
        for text in read_calibrations(connection, signature=signature, language=language)
    ]


def _measured(own: Sequence[tuple[Labelled, JsonValue]]) -> Labelling:
    stances: list[str | None] = []
    for _, value in own:
        if not isinstance(value, dict):
            msg = "what is calibrated must give the values of a stance annotator"
            raise ConfigError(msg)
        said: Any = value["stance"]
        stances.append(said)
    return labelling(
        [item.label for item, _ in own],
        stances,
        labels=STANCES,
        clusters=[item.cluster for item, _ in own],
    )


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
    return Calibration(**saved, quality=Labelling(**quality, **measures, labels=labels))
