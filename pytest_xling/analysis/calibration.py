"""Measure annotators on answers people have labelled: none is trusted unseen."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from pytest_xling.errors import ConfigError
from pytest_xling.registry import load
from pytest_xling.stats.labelling import labelling
from pytest_xling.store.calibrations import Calibration, add_calibration

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_xling.analysis.labelled import LabelledAnswer, LabelledSet
    from pytest_xling.engine.run import Run
    from pytest_xling.keys import JsonValue
    from pytest_xling.stats.labelling import Labelling
    from pytest_xling.store.database import Database

__all__ = ["calibrate"]


async def calibrate(
    run: Run,
    database: Database,
    *,
    annotator: str,
    labelled: LabelledSet[LabelledAnswer],
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
    calibrations = []
    for language in wanted:
        own = [
            (item, value)
            for item, value in zip(items, values, strict=True)
            if item.language == language
        ]
        calibrations += [
            Calibration(
                annotator=annotator,
                aspect=aspect,
                signature=signature,
                language=language,
                source=labelled.source,
                human=labelled.human,
                created_at=now,
                quality=_measured(own, aspect, labels=labelled.labels),
            )
            for aspect in load("annotator", annotator).aspects
        ]
    with database.write() as connection:
        for calibration in calibrations:
            add_calibration(connection, calibration)
    return calibrations


def _measured(
    own: Sequence[tuple[LabelledAnswer, JsonValue]], aspect: str, *, labels: Sequence[str]
) -> Labelling:
    known, given, clusters = [], [], []
    for item, value in own:
        if not isinstance(value, dict) or (aspect or "stance") not in value:
            msg = f"what is calibrated must give values with {aspect or 'stance'!r}"
            raise ConfigError(msg)
        if aspect in item.known:
            label: Any = value[aspect or "stance"]
            known.append(item.known[aspect])
            given.append(label)
            clusters.append(item.cluster)
    return labelling(known, given, labels=labels, clusters=clusters)
