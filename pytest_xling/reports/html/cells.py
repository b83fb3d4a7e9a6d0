"""The table of languages by metrics of one benchmark: values, gaps and changes."""

from __future__ import annotations

import inspect
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_xling import registry
from pytest_xling.errors import ConfigError, EvaluationError
from pytest_xling.gates.differences import gap_estimate
from pytest_xling.gates.estimate import Measure, estimate
from pytest_xling.gates.judge import blocks, reason_of
from pytest_xling.gates.reasons import limit_of
from pytest_xling.gates.spec import kind_of
from pytest_xling.records import ALL_LANGUAGES, Estimate
from pytest_xling.reports.html.escaping import as_json, compact, visible
from pytest_xling.reports.judges import measured_day
from pytest_xling.reports.terminal.closing import gate_headline, state_of
from pytest_xling.reports.terminal.matrix import ALPHA
from pytest_xling.text.numbers import Figures, measured, p_value

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_xling.analysis.comparison import Change
    from pytest_xling.gates.evidence import Behind
    from pytest_xling.interfaces.metric import Better, Bounds, MetricKind
    from pytest_xling.keys import JsonValue
    from pytest_xling.records import Score, Verdict
    from pytest_xling.store.runs import Progress
    from pytest_xling.store.scores import Place


def verdict_model(
    verdicts: Sequence[Verdict],
    progress: Progress,
    faults: Sequence[str],
    *,
    behind: Sequence[Behind] = (),
    complete: bool,
    stopped: bool = False,
    unjudged: int = 0,
    before_labels: str = "",
) -> dict[str, JsonValue]:
    """Return the decision, the numbers behind it, all gates, and what these rest on.

    Args:
        verdicts: of all gates.
        progress: how many cases were planned, done and met a fault.
        faults: what they met.
        behind: the annotators whose labels gates rest on.
        complete: whether the run has all its answers.
        stopped: whether a gate that failed ended it early.
        unjudged: how many gates there should be besides.
        before_labels: which gates were judged before people labelled answers, in words.
    """
    counts = Counter(verdict.outcome for verdict in verdicts)
    return {
        "state": state_of(verdicts, complete=complete, unjudged=unjudged),
        "headline": gate_headline(
            verdicts, complete=complete, stopped=stopped, unjudged=unjudged
        ).plain,
        "complete": complete,
        "planned": progress.total,
        "faults": progress.errors,
        "met": [visible(fault) for fault in faults],
        "before_labels": visible(before_labels),
        "counts": dict(sorted(counts.items())),
        "gates": [_gate(verdict) for verdict in verdicts],
        "judges": [_judge(each) for each in behind],
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
        "day": measured_day(behind),
    }


def _p(made: Estimate) -> str | None:
    p = made.p if made.p_holm is None else made.p_holm
    return None if p is None else f"p {p_value(p)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricTraits:
    """What a page has to know of a metric; of one that is not installed here any more, little."""

    name: str
    kind: MetricKind = "number"
    better: Better | None = None
    bounds: Bounds = (None, None)
    unit: str = "answer"
    share: bool = False
    about: str = ""
    """The first line of its documentation."""

    def measure(self, language: str, *limits: float) -> Measure:
        """Return what is measured of it in a language; its mean may be a share."""
        return Measure(
            metric=self.name,
            language=language,
            share=self.share or self.kind == "flag",
            better=self.better or "higher",
            bounds=self.bounds,
            alpha=ALPHA,
            limits=limits,
        )


def traits_of(metric: str) -> MetricTraits:
    """Return the traits of the metric called *metric*."""
    try:
        made: Any = registry.load("metric", metric)
    except ConfigError:
        return MetricTraits(name=metric)
    return MetricTraits(
        name=metric,
        kind=made.kind,
        better=made.better,
        bounds=made.bounds,
        unit=made.unit,
        share=made.share,
        about=(inspect.getdoc(made) or "").partition("\n")[0].replace("``", "'"),
    )


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
                value = estimated(metric, here, language=language)
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


def estimated(
    metric: MetricTraits, scores: Sequence[Score], *, language: str = ALL_LANGUAGES
) -> Estimate:
    """Estimate a metric; where its scores cannot be put together, without a value."""
    try:
        return estimate(scores, metric.measure(language))
    except EvaluationError as error:
        return Estimate.none(
            str(error), metric=metric.name, language=language, unscored=len(scores)
        )


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
        return gap_estimate(scores, pivot_scores, metric.measure(language, 0.0), pivot=pivot)
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
