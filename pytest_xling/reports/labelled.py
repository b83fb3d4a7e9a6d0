"""Figures that people's labels are not in: which verdicts, and what to say of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_xling.gates.corrected import LEAST_LABELS
from pytest_xling.gates.spec import kind_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pytest_xling.records import Verdict

    Counts = Mapping[tuple[str, str, str], int]


def before_labels(verdicts: Iterable[Verdict], counts: Counts) -> list[Verdict]:
    """Return the verdicts that would count the labels people have given by now, and do not.

    Those of gaps, drops and trends depend on what else is labelled, and are left out. *counts* say
    how many labels the run has, by benchmark, metric and language.
    """
    stale = []
    for verdict in verdicts:
        estimate, limits = verdict.estimate, verdict.threshold
        count = counts.get((limits.benchmark, limits.metric, limits.language), 0)
        takes_none = limits.max_rate == 0 or limits.estimate == "judge"
        compares = kind_of(estimate) != "limit"
        has_them = estimate.labelled == count if limits.level is None else estimate.labelled > 0
        if count >= LEAST_LABELS and not (takes_none or compares or has_them):
            stale.append(verdict)
    return stale


def before_labels_text(verdicts: Sequence[Verdict], run_id: str) -> str:
    """Word which gates were judged before people labelled answers; empty without any."""
    if not verdicts:
        return ""
    were = "was" if len(verdicts) == 1 else "were"
    names = ", ".join(verdict.case for verdict in verdicts)
    return (
        f"{names} {were} judged before people's labels, which count now: "
        f"xling gate {run_id} --thresholds thresholds.yaml"
    )


def by_judge_alone(counts: Counts) -> str:
    """Word that figures are the judge's although people labelled answers; empty where none did."""
    by_metric: dict[str, list[str]] = {}
    for (_, metric, language), count in counts.items():
        by_metric.setdefault(metric, []).append(f"{language} {count}")
    if not by_metric:
        return ""
    metrics = "; ".join(f"{metric}: {', '.join(of)}" for metric, of in by_metric.items())
    return f"People labelled answers ({metrics}). Only `xling gate` counts them, not these figures."
