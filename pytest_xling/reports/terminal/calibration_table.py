"""How well annotators did on labelled answers, as a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from pytest_xling.gates.evidence import LEAST_LABELLED, LEAST_PER_LABEL, LEAST_QUESTIONS
from pytest_xling.reports.sheet import Sheet, once
from pytest_xling.stats.groups import group_by
from pytest_xling.text.numbers import measured, percent, with_ends

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_xling.stats.label_quality import Measure
    from pytest_xling.store.measurements import Calibration

Row: TypeAlias = "dict[str, str | float | int | None]"

ALL = "all"

_MEASURES = ("precision", "recall", "f1", "kappa", "accuracy")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    """What was measured of one label in one language, or of all labels."""

    calibration: Calibration
    label: str
    n: int
    precision: Measure | None = None
    recall: Measure | None = None
    f1: Measure
    kappa: Measure | None = None
    accuracy: Measure | None = None


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
        for line in _lines(calibration):
            row = of | {"label": line.label, "n": line.n}
            for name in _MEASURES:
                row |= with_ends(name, getattr(line, name))
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
            _Line(
                calibration=calibration,
                label=each.label,
                n=each.support,
                precision=each.precision,
                recall=each.recall,
                f1=each.f1,
            )
            for each in quality.labels
        ),
        _Line(
            calibration=calibration,
            label=ALL,
            n=quality.n,
            f1=quality.macro_f1,
            kappa=quality.kappa,
            accuracy=quality.accuracy,
        ),
    ]


def overview_sheet(calibrations: Sequence[Calibration]) -> Sheet:
    """Return one table of all annotators, with a line for each language."""
    rows: list[tuple[str, Calibration | None]] = []
    ordered = sorted(calibrations, key=lambda c: (c.annotator, c.aspect, c.language))
    for (annotator, aspect), group in group_by(ordered, lambda c: (c.annotator, c.aspect)).items():
        if aspect and not any(annotator == name for name, _ in rows):
            rows.append((annotator, None))
        rows += [("" if number else aspect or annotator, each) for number, each in enumerate(group)]

    def word(of: Callable[[Calibration], str]) -> Callable[[tuple[str, Calibration | None]], str]:
        return lambda row: "" if row[1] is None else of(row[1])

    return Sheet.of(
        "",
        rows,
        {
            "annotator": lambda row: row[0],
            "language": word(lambda each: each.language),
            "n": word(lambda each: str(each.quality.n)),
            "F1 (95%)": word(lambda each: measured(each.quality.macro_f1)),
            "κ": word(lambda each: measured(each.quality.kappa, interval=False)),
            "labels": word(lambda each: each.source.rpartition("@")[0]),
            "measured": word(lambda each: each.created_at[:10]),
        },
        left=2,
        notes=["F1: macro F1; κ: Cohen's. `xling calibrate WHAT` says more of each."],
    )


def calibration_sheets(calibrations: Sequence[Calibration]) -> list[Sheet]:
    """Return one table per annotator and set of labels."""
    groups = group_by(calibrations, lambda c: (c.annotator, c.aspect, c.signature, c.source))
    return [_sheet(group) for group in groups.values()]


def _sheet(group: Sequence[Calibration]) -> Sheet:
    lines = [line for calibration in group for line in _lines(calibration)]
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
            "language": once(lines, lambda line: line.calibration.language),
            "label": lambda line: line.label,
            "n": lambda line: str(line.n),
            "precision": lambda line: measured(line.precision, interval=False),
            "recall": lambda line: measured(line.recall, interval=False),
            "F1 (95%)": lambda line: measured(line.f1),
            "κ (95%)": lambda line: measured(line.kappa),
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
