"""How well annotators did on labelled answers, as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from pytest_xling.gates.trust import LEAST_LABELLED, LEAST_PER_LABEL
from pytest_xling.reports.sheet import Sheet

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_xling.stats.labelling import Measure
    from pytest_xling.store.calibrations import Calibration

__all__ = ["calibration_rows", "calibration_sheets", "measure_text", "measure_with_interval"]

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
            }
        )
    return rows


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
                measure_text(precision),
                measure_text(recall),
                measure_with_interval(f1),
                measure_with_interval(kappa),
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
    short = [
        calibration.language for calibration in group if calibration.quality.n < LEAST_LABELLED
    ]
    if short:
        few = f"Fewer than {LEAST_LABELLED} labelled answers ({', '.join(short)})"
        notes.append(f"{few}: gates trust nothing that rests on so few.")
    if rare:
        few = f"Fewer than {LEAST_PER_LABEL} answers with a label ({'; '.join(rare)})"
        notes.append(f"{few}: gates trust nothing that rests on so few.")
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


def measure_text(measure: Measure | None) -> str:
    """Return a measure with two digits; empty for none."""
    if measure is None:
        return ""
    return "–" if measure.value is None else f"{measure.value:.2f}"


def measure_with_interval(measure: Measure | None) -> str:
    """Return a measure with its interval, where it has one."""
    if measure is None or measure.low is None or measure.high is None:
        return measure_text(measure)
    return f"{measure.value:.2f} ({measure.low:.2f}–{measure.high:.2f})"
