"""How well annotators did on labelled answers, as a table."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, TypeAlias

from pytest_xling.gates.evidence import LEAST_LABELLED, LEAST_PER_LABEL, LEAST_QUESTIONS
from pytest_xling.reports.sheet import Sheet
from pytest_xling.text.numbers import measured, percent, with_ends

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_xling.stats.label_quality import Measure
    from pytest_xling.store.measurements import Calibration

Row: TypeAlias = "dict[str, str | float | int | None]"

ALL = "all"

_M: TypeAlias = "Measure | None"
_Line: TypeAlias = "tuple[str, int, _M, _M, _M, _M, _M]"
_MEASURES = ("precision", "recall", "f1", "kappa", "accuracy")


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
        for label, n, *measures in _lines(calibration):
            row = of | {"label": label, "n": n}
            for name, measure in zip(_MEASURES, measures, strict=True):
                row |= with_ends(name, measure)
            row |= {"unlabelled": None, "unanimous": None}
            rows.append(row)
        rows[-1] |= {
            "unlabelled": calibration.quality.missing,
            "unanimous": calibration.unanimous,
        }
    return rows


def _lines(calibration: Calibration) -> list[_Line]:
    """Return the measures of each label, and last what holds for all labels."""
    quality = calibration.quality
    return [
        *(
            (label.label, label.support, label.precision, label.recall, label.f1, None, None)
            for label in quality.labels
        ),
        (ALL, quality.n, None, None, quality.macro_f1, quality.kappa, quality.accuracy),
    ]


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
    note = "F1: macro F1; κ: Cohen's. `xling calibrate WHAT` says more of each."
    return Sheet.of("", heads, rows, left=2, notes=[note])


def calibration_sheets(calibrations: Sequence[Calibration]) -> list[Sheet]:
    """Return one table per annotator and set of labels."""
    together: dict[tuple[str, ...], list[Calibration]] = {}
    for each in calibrations:
        of = (each.annotator, each.aspect, each.signature, each.source)
        together.setdefault(of, []).append(each)
    return [_sheet(group) for group in together.values()]


def _sheet(group: Sequence[Calibration]) -> Sheet:
    rows = [
        (
            "" if number else calibration.language,
            label,
            str(n),
            measured(precision, interval=False),
            measured(recall, interval=False),
            measured(f1),
            measured(kappa),
        )
        for calibration in group
        for number, (label, n, precision, recall, f1, kappa, _) in enumerate(_lines(calibration))
    ]
    missing = sum(calibration.quality.missing for calibration in group)
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
    for few, which in (
        (
            f"Fewer than {LEAST_LABELLED} labelled answers",
            ", ".join(each.language for each in group if each.quality.n < LEAST_LABELLED),
        ),
        (
            f"Answers about fewer than {LEAST_QUESTIONS} questions",
            ", ".join(
                each.language
                for each in group
                if each.quality.questions is not None and each.quality.questions < LEAST_QUESTIONS
            ),
        ),
        (
            f"Fewer than {LEAST_PER_LABEL} answers with a label",
            "; ".join(sorted({text for each in group for text in _rare(each)})),
        ),
    ):
        if which:
            notes.append(f"{few} ({which}): gates trust nothing that rests on so few.")
    notes.append(f"Signature: {group[0].signature}")
    title = ": ".join(filter(None, (group[0].annotator, group[0].aspect)))
    heads = ("language", "label", "n", "precision", "recall", "F1 (95%)", "κ (95%)")
    return Sheet.of(title, heads, rows, left=2, notes=notes)


def _rare(calibration: Calibration) -> list[str]:
    """Return the labels of which there are too few to trust, or all at once."""
    labels = calibration.quality.labels
    rare = [label.label for label in labels if label.support < LEAST_PER_LABEL]
    listed = ["any label"] if len(rare) == len(labels) else rare
    return [f"{label} in {calibration.language}" for label in listed]
