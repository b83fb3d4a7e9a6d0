"""How far the judges and classifiers whose labels gates rest on agree with people."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from pytest_xling.gates.evidence import annotators_behind
from pytest_xling.registry import names
from pytest_xling.reports.matrix import Cell, Column
from pytest_xling.reports.pivot import named_pivot
from pytest_xling.text.numbers import Figures

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sqlalchemy import Connection

    from pytest_xling.gates.evidence import Behind
    from pytest_xling.keys import JsonValue
    from pytest_xling.records import RunRecord, Verdict

AGREEMENT: Final = "macro F1 and its 95% interval"


def judges_behind(
    connection: Connection, run: RunRecord, verdicts: Iterable[Verdict]
) -> list[Behind]:
    """Return what the gates of a run rest on, sorted by annotator, aspect and language.

    Gates of metrics that are not known here are left out.

    Args:
        connection: to the store.
        run: the run.
        verdicts: of its gates.
    """
    known = names("metric")
    gates = [
        (verdict.threshold, bool(verdict.estimate.pivot))
        for verdict in verdicts
        if verdict.threshold.metric in known
    ]
    behind = annotators_behind(connection, run.run_id, gates, pivot=partial(named_pivot, run))
    return sorted(behind, key=lambda each: (each.annotator, each.aspect, each.language))


def agreement(behind: Sequence[Behind]) -> list[Column]:
    """Return how far each annotator agrees with people, by language: macro F1 with its interval."""
    columns: dict[tuple[str, str], dict[str, Cell]] = {}
    for each in behind:
        quality = each.measured and each.measured.quality
        cell = Cell(value="not measured", interval="")
        if quality:
            f1 = quality.macro_f1
            figures = Figures(share=False, digits=2)
            cell = Cell(value=figures.value(f1.value), interval=figures.interval(f1.low, f1.high))
        columns.setdefault((each.annotator, each.aspect), {})[each.language] = cell
    return [
        Column(name=annotator, demands=(aspect,) if aspect else (), cells=cells)
        for (annotator, aspect), cells in columns.items()
    ]


def notes(behind: Sequence[Behind]) -> list[str]:
    """Say on which labels annotators were measured, and what has become of them since."""
    sources: dict[str, dict[str, dict[str, None]]] = {}
    for each in behind:
        if each.measured is not None:
            whose = "your raters' " if each.measured.human else ""
            name = each.measured.source.rpartition("@")[0]
            labels = f"{whose}{name} of {each.measured.created_at[:10]}"
            of_annotator = sources.setdefault(each.annotator, {})
            of_annotator.setdefault(labels, {})[each.language] = None
    listed = []
    for annotator, of_annotator in sources.items():
        parts = (f"{labels} in {' '.join(codes)}" for labels, codes in of_annotator.items())
        listed.append(f"{annotator}: {', '.join(parts)}")
    asked = [
        f"{each.aspect} {each.language} {check.right_now} of {check.n}".strip()
        + ("" if check.right_now == check.right_then else f" (was {check.right_then})")
        for each in behind
        if (check := each.checked) is not None
    ]
    return [
        *([f"Labels: {'; '.join(listed)}."] if listed else []),
        *([f"Asked again before the gates, and right about: {', '.join(asked)}."] if asked else []),
        *(
            f"{each.annotator} in {each.language}: {each.changed}."
            for each in behind
            if each.changed
        ),
    ]


def as_row(behind: Behind) -> dict[str, JsonValue]:
    """Return how far an annotator agrees with people, as numbers; None where nobody knows."""
    who: dict[str, JsonValue] = {
        "annotator": behind.annotator,
        "aspect": behind.aspect,
        "language": behind.language,
        "changed": behind.changed,
    }
    if behind.measured is None:
        numbers = ("n", "f1", "f1_low", "f1_high", "kappa", "labels", "human", "measured")
        return who | dict.fromkeys(numbers)
    quality = behind.measured.quality
    return who | {
        "n": quality.n,
        "f1": quality.macro_f1.value,
        "f1_low": quality.macro_f1.low,
        "f1_high": quality.macro_f1.high,
        "kappa": quality.kappa.value,
        "labels": behind.measured.source,
        "human": behind.measured.human,
        "measured": behind.measured.created_at,
    }
