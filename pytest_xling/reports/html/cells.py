"""The table of languages by metrics of one benchmark: values, gaps and changes."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from pytest_xling.errors import EvaluationError
from pytest_xling.gates.differences import gap_estimate
from pytest_xling.gates.estimate import Measure
from pytest_xling.gates.judge import blocks, reason_of
from pytest_xling.gates.reasons import limit_of
from pytest_xling.gates.spec import kind_of
from pytest_xling.records import Estimate
from pytest_xling.reports.estimates import estimated
from pytest_xling.reports.html.escaping import as_json, compact, visible
from pytest_xling.reports.labelled import before_labels_text
from pytest_xling.text.numbers import Figures, measured, p_value

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_xling.analysis.comparison import Change
    from pytest_xling.gates.evidence import Behind
    from pytest_xling.keys import JsonValue
    from pytest_xling.records import Score, Verdict
    from pytest_xling.reports.estimates import MetricTraits
    from pytest_xling.reports.run_summary import RunSummary
    from pytest_xling.store.scores import Place


def verdict_model(came_to: RunSummary) -> dict[str, JsonValue]:
    """Return the decision, the numbers behind it, all gates, and what these rest on."""
    gates = came_to.gates
    counts = Counter(verdict.outcome for verdict in gates.verdicts)
    return {
        "state": gates.state,
        "headline": gates.headline,
        "complete": gates.complete,
        "planned": came_to.progress.total,
        "faults": came_to.progress.errors,
        "met": [visible(fault) for fault in came_to.faults],
        "before_labels": visible(before_labels_text(came_to.stale, came_to.run.run_id)),
        "counts": dict(sorted(counts.items())),
        "gates": [_gate(verdict) for verdict in gates.verdicts],
        "judges": [_judge(each) for each in came_to.judges],
    }


def _gate(verdict: Verdict) -> dict[str, JsonValue]:
    limits, kind = verdict.threshold, kind_of(verdict.estimate)
    return {
        "case": verdict.case,
        "benchmark": limits.benchmark,
        "metric": limits.metric,
        "language": limits.language,
        "about": kind,
        "level": limits.level,
        "outcome": verdict.outcome,
        "blocks": blocks(verdict),
        "limit": limit_of(verdict),
        "reason": visible(reason_of(verdict)),
        "origin": visible(limits.origin),
        "alpha": limits.alpha,
        "estimate": as_json(verdict.estimate),
        "p": _p(verdict.estimate),
    }


def _judge(behind: Behind) -> dict[str, JsonValue]:
    """Return how good an annotator is; without numbers where nobody has measured it."""
    of: dict[str, JsonValue] = {
        "annotator": ": ".join(filter(None, (behind.annotator, behind.aspect))),
        "language": behind.language,
    }
    if behind.measured is None:
        return of
    quality = behind.measured.quality
    return of | {
        "n": quality.n,
        "f1": measured(quality.macro_f1),
        "kappa": measured(quality.kappa, interval=False),
        "labels": visible(behind.measured.source),
        "human": behind.measured.human,
        "day": behind.measured.created_at[:10],
    }


def _p(made: Estimate) -> str | None:
    p = made.p if made.p_holm is None else made.p_holm
    return None if p is None else f"p {p_value(p)}"


def table_of(
    benchmark: str,
    metrics: Sequence[MetricTraits],
    scores: Mapping[Place, Sequence[Score]],
    *,
    languages: Sequence[str],
    pivot: str,
    verdicts: Sequence[Verdict],
    changes: Mapping[Place, Change],
) -> dict[str, JsonValue]:
    """Return the metrics, and by metric and language what there is to say.

    Where a gate has judged a number, its estimate is shown: with the gate's own alpha.
    """
    gated = {
        (v.threshold.metric, v.threshold.language, kind_of(v.estimate)): v.estimate
        for v in verdicts
        if v.threshold.benchmark == benchmark and v.threshold.level is None
    }
    cells: dict[str, dict[str, JsonValue]] = {}
    gates: list[JsonValue] = []
    for metric in metrics:
        row: dict[str, JsonValue] = {}
        made: dict[str, Estimate] = {}
        for language in languages:
            here = scores.get((benchmark, metric.name, language), ())
            value = gated.get((metric.name, language, "limit"))
            if value is None and here:
                value = estimated(metric.name, here, language=language)
            if value is not None:
                made[language] = value
        ends = [number for each in made.values() for number in (each.value, each.high)]
        figures = Figures.fitting(ends, share=metric.share)
        for language, value in made.items():
            key = (metric.name, language)
            here = scores.get((benchmark, *key), ())
            cell = as_json(value, figures)
            there = scores.get((benchmark, metric.name, pivot), ())
            gap = gated.get((*key, "gap"))
            if gap is None and language != pivot and here and there:
                gap = _gap(metric, here, there, language=language, pivot=pivot)
            if gap is not None:
                worse = {} if gap.value is None else {"s": _worse(gap.value, figures)}
                cell["gap"] = as_json(gap, _differing(figures)) | worse
            if (grown := changes.get((benchmark, *key))) is not None:
                cell["change"] = _change(grown, metric, figures)
            row[language] = cell
        cells[metric.name] = row
        gates.append(
            {
                "name": metric.name,
                "kind": metric.kind,
                "better": metric.better,
                "share": metric.share,
                "unit": metric.unit,
                "about": metric.about,
                "digits": figures.digits,
            }
        )
    return {"metrics": gates, "cells": cells}


def figures_of(table: Mapping[str, JsonValue]) -> dict[str, Figures]:
    """Return how the numbers of each metric of a table are worded, by its name."""
    metrics: Any = table["metrics"]
    return {m["name"]: Figures(share=m["share"], digits=m["digits"]) for m in metrics}


def _differing(figures: Figures) -> Figures:
    """Return the figures of differences of what *figures* words."""
    return Figures(share=figures.share, difference=True, digits=max(figures.digits, 1))


def _worse(amount: float, figures: Figures, *, words: tuple[str, str] = ("worse", "better")) -> str:
    """Word a difference, which is above 0 where it is worse: ``3.1 pp worse``."""
    differing = _differing(figures)
    size = differing.value(abs(amount))
    if size == differing.value(0.0):
        return "no difference"
    return f"{size} {words[0] if amount > 0 else words[1]}"


def _gap(
    metric: MetricTraits,
    scores: Sequence[Score],
    pivot_scores: Sequence[Score],
    *,
    language: str,
    pivot: str,
) -> Estimate | None:
    """Estimate by how much a language is worse; None where metrics know no worse."""
    if metric.better is None or metric.unit == "pivot":
        return None
    try:
        return gap_estimate(
            scores, pivot_scores, Measure.of(metric.name, language, limits=(0.0,)), pivot=pivot
        )
    except EvaluationError as error:
        return Estimate.none(
            str(error), metric=metric.name, language=language, unscored=len(scores)
        )


def _change(grown: Change, metric: MetricTraits, figures: Figures) -> dict[str, JsonValue]:
    """Return by how much a metric has grown since the baseline, on the questions both have."""
    worded = None
    if grown.change is not None:
        words = ("more", "less") if metric.better is None else ("worse", "better")
        amount = -grown.change if metric.better == "higher" else grown.change
        worded = _worse(amount, figures, words=words)
    values: dict[str, JsonValue] = {
        "s": worded,
        "i": _differing(figures).interval(grown.low, grown.high) or None,
        "v": compact(grown.change),
        "lo": compact(grown.low),
        "hi": compact(grown.high),
        "n": grown.n,
        "why": visible(grown.reason) or None,
    }
    return {key: value for key, value in values.items() if value is not None}
