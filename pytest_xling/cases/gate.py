"""Judge one gate by a run's scores, whether the run has just been made or was stored long ago."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_xling.gates.estimate import estimate
from pytest_xling.gates.gap import gap_estimate, judge_gap
from pytest_xling.gates.judge import judge
from pytest_xling.metrics import bounds_of, direction_of, is_share
from pytest_xling.registry import load

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_xling.records import Score, Threshold, Verdict
    from pytest_xling.registry import MetricKind

__all__ = ["gate_id", "judge_gate"]


def gate_id(metric: str, language: str, *, gap: bool) -> str:
    """Return the case id of a gate: ``sim_sent-hi``, of a gap ``sim_sent-gap-hi``."""
    return f"{metric}-gap-{language}" if gap else f"{metric}-{language}"


def judge_gate(
    scores: Sequence[Score],
    threshold: Threshold,
    *,
    pivot: str | None = None,
    pivot_scores: Sequence[Score] = (),
) -> Verdict:
    """Judge a metric in one language by what *threshold* says of its level, or of its gap.

    Args:
        scores: of the threshold's benchmark, metric and language.
        threshold: the limits.
        pivot: the language to compare with, where the gap is to be judged.
        pivot_scores: the metric's scores in that language.
    """
    metric = load("metric", threshold.metric)
    kind: MetricKind = "flag" if is_share(metric) else "number"
    case = gate_id(threshold.metric, threshold.language, gap=pivot is not None)
    if pivot is None:
        made = estimate(
            scores,
            metric=threshold.metric,
            language=threshold.language,
            kind=kind,
            alpha=threshold.alpha,
            bounds=bounds_of(metric),
        )
        return judge(made, threshold, case=case)
    made = gap_estimate(
        scores,
        pivot_scores,
        metric=threshold.metric,
        language=threshold.language,
        pivot=pivot,
        better=direction_of(metric) or "higher",
        alpha=threshold.alpha,
        kind=kind,
    )
    return judge_gap(made, threshold, case=case)
