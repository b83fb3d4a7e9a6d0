"""How well annotators did on labelled answers, as a table."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, TypeAlias

from pytest_xling.gates.evidence import LEAST_LABELLED, LEAST_PER_LABEL, LEAST_QUESTIONS
from pytest_xling.reports.sheet import Sheet
from pytest_xling.text.numbers import measured, percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_xling.stats.label_quality import Measure
    from pytest_xling.store.measurements import Calibration

Row: TypeAlias = "dict[str, str | float | int | None]"

ALL = "all"

_Line: TypeAlias = "tuple[str, int, Measure | None, Measure | None, Measure | None, Measure | None]"


def calibration_rows(calibrations: Sequence[Calibration]) -> list[Row]:
    """Return one row per language and label, and one per language with what holds for all labels.

    There ``f1`` is the macro F1.
    """
    rows: list[Row] = []
    for calibration in calibrations:
        of: Row = {
            "annotator": calibration.annotator,
            "signature": calibration.signature,
            "labels": calibration.source,
            "measured": calibration.created_at,
            "language": calibration.language,
        }
        if calibration.aspect:
            of["aspect"] = calibration.aspect
        quality = calibration.quality
        rows += [
            {
                **of,
                "label": label.label,
                "n": label.support,
                **_ends("precision", label.precision),
                **_ends("recall", label.recall),
                **_ends("f1", label.f1),
                **_ends("kappa", None),
                **_ends("accuracy", None),
                "unlabelled": None,
                "unanimous": None,
            }
            for label in quality.labels
        ]
        rows.append(
            {
                **of,
                "label": ALL,
                "n": quality.n,
                **_ends("precision", None),
                **_ends("recall", None),
                **_ends("f1", quality.macro_f1),
                **_ends("kappa", quality.kappa),
                **_ends("accuracy", quality.accuracy),
                "unlabelled": quality.missing,
                "unanimous": calibration.unanimous,
            }
        )
    return rows


def overview_sheet(calibrations: Sequence[Calibration]) -> Sheet:
    """Return one table of all annotators, with a line for each language."""
    heads = ("annotator", "language", "n", "F1 (95%)", "κ", "labels", "measured")
    rows: list[tuple[str, ...]] = []
    ordered = sorted(calibrations, key=lambda c: (c.annotator, c.aspect, c.language))
    for (annotator, aspect), group in groupby(ordered, key=lambda c: (c.annotator, c.aspect)):
        if aspect and not any(annotator == row[0] for row in rows):
            rows.append((annotator, *[""] * (len(heads) - 1)))
        for number, each in enumerate(group):
            quality = each.quality
            rows.append(
                (
                    "" if number else aspect or annotator,
                    each.language,
                    str(quality.n),
                    measured(quality.macro_f1),
                    measured(quality.kappa, interval=False),
                    each.source.rpartition("@")[0],
                    each.created_at[:10],
                )
            )
    columns = dict(zip(heads, map(list, zip(*rows, strict=True)), strict=True))
    note = "F1: macro F1; κ: Cohen's. `xling calibrate WHAT` says more of each."
    return Sheet(title="", columns=columns, left=2, notes=(note,))


def calibration_sheets(calibrations: Sequence[Calibration]) -> list[Sheet]:
    """Return one table per annotator and set of labels."""
    together: dict[tuple[str, str, str, str], list[Calibration]] = {}
    for calibration in calibrations:
        together.setdefault(
            (
                calibration.annotator,
                calibration.aspect,
                calibration.signature,
                calibration.source,
            ),
            [],
        ).append(calibration)
    return [_sheet(group) for group in together.values()]


def _sheet(group: Sequence[Calibration]) -> Sheet:
    columns: dict[str, list[str]] = {
        name: []
        for name in ("language", "label", "n", "precision", "recall", "F1 (95%)", "κ (95%)")
    }
    for calibration in group:
        quality = calibration.quality
        lines: list[_Line] = [
            (label.label, label.support, label.precision, label.recall, label.f1, None)
            for label in quality.labels
        ]
        lines.append((ALL, quality.n, None, None, quality.macro_f1, quality.kappa))
        for number, (label, n, precision, recall, f1, kappa) in enumerate(lines):
            cells = (
                "" if number else calibration.language,
                label,
                str(n),
                measured(precision, interval=False),
                measured(recall, interval=False),
                measured(f1),
                measured(kappa),
            )
            for column, cell in zip(columns.values(), cells, strict=True):
                column.append(cell)
    missing = sum(calibration.quality.missing for calibration in group)
    rare = sorted({text for calibration in group for text in _rare(calibration)})
    whose = "your own raters' labels" if group[0].human else "labels that come along"
    notes = [
        "all: macro F1 and Cohen's κ. Intervals: bootstrap over what was asked.",
        f"Labels: {group[0].source} ({whose}).",
    ]
    if missing:
        notes.append(f"{missing} answers were given no label: misses of the one they have.")
    shares = [
        f"{calibration.language} {percent(calibration.unanimous)}"
        for calibration in group
        if calibration.unanimous is not None
    ]
    if shares:
        notes.append(f"Answers on which all votes were the same: {', '.join(shares)}.")
    short = [
        calibration.language for calibration in group if calibration.quality.n < LEAST_LABELLED
    ]
    narrow = [
        calibration.language
        for calibration in group
        if calibration.quality.questions is not None
        and calibration.quality.questions < LEAST_QUESTIONS
    ]
    for few, which in (
        (f"Fewer than {LEAST_LABELLED} labelled answers", ", ".join(short)),
        (f"Answers about fewer than {LEAST_QUESTIONS} questions", ", ".join(narrow)),
        (f"Fewer than {LEAST_PER_LABEL} answers with a label", "; ".join(rare)),
    ):
        if which:
            notes.append(f"{few} ({which}): gates trust nothing that rests on so few.")
    notes.append(f"Signature: {group[0].signature}")
    title = ": ".join(filter(None, (group[0].annotator, group[0].aspect)))
    return Sheet(title=title, columns=columns, left=2, notes=tuple(notes))


def _rare(calibration: Calibration) -> list[str]:
    """Return the labels of which there are too few to trust, or all at once."""
    labels = calibration.quality.labels
    rare = [label.label for label in labels if label.support < LEAST_PER_LABEL]
    listed = ["any label"] if len(rare) == len(labels) else rare
    return [f"{label} in {calibration.language}" for label in listed]


def _ends(name: str, measure: Measure | None) -> dict[str, float | None]:
    made = (None, None, None) if measure is None else (measure.value, measure.low, measure.high)
    return dict(zip((name, f"{name}_low", f"{name}_high"), made, strict=True))
