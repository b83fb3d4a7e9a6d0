"""How well annotators did on labelled answers, as a table."""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, Any, TypeAlias

from pytest_xling.gates.evidence import LEAST_LABELLED, LEAST_PER_LABEL, LEAST_QUESTIONS
from pytest_xling.reports.sheet import Sheet, once
from pytest_xling.stats.groups import group_by
from pytest_xling.text.numbers import measured, percent, with_ends

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_xling.store.measurements import Calibration

Row: TypeAlias = "dict[str, str | float | int | None]"

ALL = "all"

_MEASURES = ("precision", "recall", "f1", "kappa", "accuracy")


def calibration_rows(calibrations: Sequence[Calibration]) -> list[Row]:
    """Return one row per language and label, and one per language with what holds for all labels.

    There ``f1`` is the macro F1.
    """
    rows: list[Row] = []
    for calibration in calibrations:
        measured_on: Row = {
            "annotator": calibration.annotator,
            "signature": calibration.signature,
            "labels": calibration.source,
            "measured": calibration.created_at,
            "language": calibration.language,
        }
        if calibration.aspect:
            measured_on["aspect"] = calibration.aspect
        for line in _lines(calibration):
            row = measured_on | {"label": line["label"], "n": line["n"]}
            for name in _MEASURES:
                row |= with_ends(name, line.get(name))
            row |= {"unlabelled": None, "unanimous": None}
            rows.append(row)
        rows[-1] |= {
            "unlabelled": calibration.quality.missing,
            "unanimous": calibration.unanimous,
        }
    return rows


def _lines(calibration: Calibration) -> list[dict[str, Any]]:
    """Return the measures of each label, and last what holds for all labels."""
    quality = calibration.quality
    lines: list[dict[str, Any]] = [
        {"label": q.label, "n": q.support, "precision": q.precision, "recall": q.recall, "f1": q.f1}
        for q in quality.labels
    ]
    every = {"f1": quality.macro_f1, "kappa": quality.kappa, "accuracy": quality.accuracy}
    return [*lines, {"label": ALL, "n": quality.n, **every}]


def overview_sheet(calibrations: Sequence[Calibration]) -> Sheet:
    """Return one table of all annotators, with a line for each language."""
    rows: list[dict[str, str]] = []
    ordered = sorted(calibrations, key=lambda c: (c.annotator, c.aspect, c.language))
    for (annotator, aspect), group in group_by(ordered, lambda c: (c.annotator, c.aspect)).items():
        if aspect and annotator not in {row["annotator"] for row in rows}:
            rows.append({"annotator": annotator})
        rows += [
            {
                "annotator": "" if number else aspect or annotator,
                "language": each.language,
                "n": str(each.quality.n),
                "F1 (95%)": measured(each.quality.macro_f1),
                "κ": measured(each.quality.kappa, interval=False),
                "labels": each.source.rpartition("@")[0],
                "measured": each.created_at[:10],
            }
            for number, each in enumerate(group)
        ]
    heads = ("annotator", "language", "n", "F1 (95%)", "κ", "labels", "measured")
    return Sheet(
        title="",
        columns={head: [row.get(head, "") for row in rows] for head in heads},
        left=2,
        notes=("F1: macro F1; κ: Cohen's. `xling calibrate WHAT` says more of each.",),
    )


def calibration_sheets(calibrations: Sequence[Calibration]) -> list[Sheet]:
    """Return one table per annotator and set of labels."""
    groups = group_by(calibrations, lambda c: (c.annotator, c.aspect, c.signature, c.source))
    return [_sheet(group) for group in groups.values()]


def _sheet(group: Sequence[Calibration]) -> Sheet:
    lines = [{"language": each.language, **line} for each in group for line in _lines(each)]
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
    return Sheet.of(
        title,
        lines,
        {
            "language": once(lines, itemgetter("language")),
            "label": itemgetter("label"),
            "n": lambda line: str(line["n"]),
            "precision": lambda line: measured(line.get("precision"), interval=False),
            "recall": lambda line: measured(line.get("recall"), interval=False),
            "F1 (95%)": lambda line: measured(line.get("f1")),
            "κ (95%)": lambda line: measured(line.get("kappa")),
        },
        left=2,
        notes=notes,
    )


def _rare(calibration: Calibration) -> list[str]:
    """Return the labels of which there are too few to trust, or all at once."""
    labels = calibration.quality.labels
    rare = [label.label for label in labels if label.support < LEAST_PER_LABEL]
    listed = ["any label"] if len(rare) == len(labels) else rare
    return [f"{label} in {calibration.language}" for label in listed]
