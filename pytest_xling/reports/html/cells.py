"""The table of languages by metrics of one benchmark: values, gaps and changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_xling.errors import EvaluationError
from pytest_xling.gates.differences import gap_estimate
from pytest_xling.gates.estimate import Measure
from pytest_xling.gates.judge import reason_of
from pytest_xling.gates.reasons import limit_of
from pytest_xling.gates.spec import kind_of
from pytest_xling.records import ALL_LANGUAGES
from pytest_xling.reports.estimates import estimated
from pytest_xling.reports.gate_summary import named
from pytest_xling.reports.html.escaping import compact, estimate_json, visible
from pytest_xling.reports.matrix import language_name
from pytest_xling.stats.groups import group_by
from pytest_xling.text.numbers import Figures, amount, level, p_value

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pytest_xling.analysis.comparison import Change
    from pytest_xling.keys import JsonValue
    from pytest_xling.records import Estimate, Score, Verdict
    from pytest_xling.reports.estimates import MetricTraits
    from pytest_xling.store.scores import Place

_ALPHA = 0.05
"""Of intervals that no gate asked for."""
_LEAST_WIDE = 0.25, 0.2
"""How far apart values are at least whose worst is drawn warmest: of shares, and as a part of
other numbers."""


def label_of(code: str) -> str:
    """Return what a page calls a language: ``Hindi (hi)``."""
    if code == ALL_LANGUAGES:
        return "all languages"
    name = language_name(code)
    return code if name in {"", code} else f"{name} ({code})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """The scores, verdicts and changes that a page shows of one benchmark."""

    name: str
    metrics: Sequence[MetricTraits]
    languages: Sequence[str]
    """All of them, in order."""
    pivot: str
    scores: Mapping[Place, Sequence[Score]]
    """Of all benchmarks."""
    verdicts: Sequence[Verdict]
    """Of the benchmark's gates."""
    changes: Mapping[Place, Change]
    baseline: str
    """What these are since; empty without one."""

    def of(self, metric: str, language: str) -> Sequence[Score]:
        """Return the scores of a metric in a language."""
        return self.scores.get((self.name, metric, language), ())

    def row(self, metric: MetricTraits) -> tuple[dict[str, JsonValue], Figures]:
        """Return a metric's cells by language, and how its numbers are worded.

        Where a gate has judged a number, its estimate is shown: with the gate's own alpha.
        """
        gates = group_by(
            (verdict for verdict in self.verdicts if verdict.threshold.metric == metric.name),
            lambda verdict: verdict.threshold.language,
        )
        estimates: dict[str, Estimate] = {}
        for language in self.languages:
            here = self.of(metric.name, language)
            judged = _estimate_of("limit", gates.get(language, ()))
            if judged is not None or here:
                estimates[language] = judged or estimated(metric.name, here, language=language)
        ends = [number for each in estimates.values() for number in (each.value, each.high)]
        figures = Figures.fitting(ends, share=metric.share)
        row: dict[str, JsonValue] = {
            language: self._cell(metric, language, value, figures, gates.get(language, ()))
            | {"heat": _heat(metric, value, estimates.values())}
            for language, value in estimates.items()
        }
        return row, figures

    def _cell(
        self,
        metric: MetricTraits,
        language: str,
        value: Estimate,
        figures: Figures,
        gates: Sequence[Verdict],
    ) -> dict[str, JsonValue]:
        differing = _differing(figures)
        cell = estimate_json(value, figures)
        lines = _lines(metric, value, figures, gates)
        gap = _estimate_of("gap", gates) or self._gap(metric, language)
        if gap is not None:
            worse = None if gap.value is None else _worse(gap.value, figures)
            ends = differing.interval(gap.low, gap.high)
            cell["gap"] = estimate_json(gap, differing) | ({"s": worse} if worse else {})
            difference = _difference_text(worse, ends, gap.n, visible(gap.reason))
            lines.append(f"against {label_of(self.pivot)}: {difference}")
        change = self.changes.get((self.name, metric.name, language))
        if change is not None:
            words = ("more", "less") if metric.better is None else ("worse", "better")
            sign = -1 if metric.better == "higher" else 1
            worse = None
            if change.change is not None:
                worse = _worse(sign * change.change, figures, words=words)
            ends = differing.interval(change.low, change.high)
            cell["change"] = {
                "s": worse or "not compared",
                "lo": compact(change.low),
                "hi": compact(change.high),
                "v": compact(change.change),
                "n": change.n,
                "why": visible(change.reason),
            }
            ends = f"now minus then {ends}" if ends else ""
            difference = _difference_text(worse, ends, change.n, visible(change.reason))
            lines.append(f"against {self.baseline}: {difference}")
        return cell | {"lines": [*lines], "gates": [_gate(verdict) for verdict in gates]}

    def _gap(self, metric: MetricTraits, language: str) -> Estimate | None:
        """Estimate by how much a language is worse; None where metrics know no worse."""
        here, there = self.of(metric.name, language), self.of(metric.name, self.pivot)
        if language == self.pivot or not here or not there:
            return None
        if metric.better is None or metric.unit == "pivot":
            return None
        measure = Measure.of(metric.name, language, limits=(0.0,))
        try:
            return gap_estimate(here, there, measure, pivot=self.pivot)
        except EvaluationError as error:
            return measure.none(str(error), unscored=len(here))


def _gate_kind(verdict: Verdict) -> str:
    """Return which number of a cell a gate is about; empty where it is about none of them."""
    kind = kind_of(verdict.estimate)
    return kind if kind in {"limit", "gap", "drop"} and verdict.threshold.level is None else ""


def _estimate_of(place: str, gates: Sequence[Verdict]) -> Estimate | None:
    return next((v.estimate for v in gates if _gate_kind(v) == place), None)


def _gate(verdict: Verdict) -> dict[str, JsonValue]:
    estimate = verdict.estimate
    p = estimate.p if estimate.p_holm is None else estimate.p_holm
    name = named(verdict)
    origin = visible(verdict.threshold.origin)
    return {
        "place": _gate_kind(verdict),
        "outcome": verdict.outcome,
        "gate": name,
        "kind": name.removeprefix(verdict.threshold.metric).strip(),
        "limit": limit_of(verdict),
        "reason": visible(reason_of(verdict)),
        "origin": " · ".join(filter(None, ("" if p is None else f"p {p_value(p)}", origin))),
    }


def _lines(
    metric: MetricTraits, estimate: Estimate, figures: Figures, gates: Sequence[Verdict]
) -> list[str]:
    """Say what a cell is about: its value, of how many answers, and why there is none."""
    alpha = next((v.threshold.alpha for v in gates if _gate_kind(v) == "limit"), _ALPHA)
    ends = figures.interval(estimate.low, estimate.high)
    interval = f", {level(alpha)} interval {ends}" if ends else ""
    flagged = "flagged" if metric.kind == "flag" else "with 1"
    counts = [
        amount(estimate.n, "answer"),
        f"{estimate.flagged:,} {flagged}" if estimate.flagged else "",
        f"{estimate.unscored:,} unscored" if estimate.unscored else "",
        f"corrected by {estimate.labelled:,} labels of people" if estimate.labelled else "",
    ]
    parts = (f"{figures.value(estimate.value)}{interval}", ", ".join(filter(None, counts)))
    return [*parts, *filter(None, (visible(estimate.reason),))]


def _difference_text(worse: str | None, ends: str, n: int, why: str) -> str:
    if worse is None:
        return why
    return f"{worse}{f' ({ends})' if ends else ''} on {amount(n, 'question')}"


def _heat(metric: MetricTraits, estimate: Estimate, row: Iterable[Estimate]) -> float:
    """Return how much worse than the best language of the metric a value is, from 0 to 1."""
    values = [each.value for each in row if each.value is not None]
    if estimate.value is None or metric.better is None:
        return 0
    low, high = min(values), max(values)
    least = _LEAST_WIDE[0] if metric.share else _LEAST_WIDE[1] * max(abs(low), abs(high))
    away = estimate.value - low if metric.better == "lower" else high - estimate.value
    return round(min(away / max(high - low, least, 1e-9), 1), 3)


def _differing(figures: Figures) -> Figures:
    """Return the figures of differences of what *figures* words."""
    return Figures(share=figures.share, difference=True, digits=max(figures.digits, 1))


def _worse(
    difference: float, figures: Figures, *, words: tuple[str, str] = ("worse", "better")
) -> str:
    """Word a difference, which is above 0 where it is worse: ``3.1 pp worse``."""
    differing = _differing(figures)
    size = differing.value(abs(difference))
    if size == differing.value(0.0):
        return "no difference"
    return f"{size} {words[0] if difference > 0 else words[1]}"
