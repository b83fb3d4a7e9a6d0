"""Decide on all languages together: a rate, a mean, a gap, a drop or a trend, weighted by language.

Each language has its own estimate, and these are averaged: each counts the same, or as
``weights:`` says. Languages are asked the same questions, so what is independent are questions,
not answers (ADR 40).
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

from pytest_xling.gates.corrected import (
    corrected_sum,
    labels_at,
    level_name,
    wants_labels,
    with_labels_told,
)
from pytest_xling.gates.drop import LEAST_SHARED, undecided
from pytest_xling.gates.estimate import (
    NO_SPREAD,
    ONE_QUESTION,
    check_scores,
    check_values,
    why_none,
)
from pytest_xling.gates.gap import most_lost, skewed_low
from pytest_xling.gates.judge import judge
from pytest_xling.gates.pairing import at_level, cluster_of, paired_questions
from pytest_xling.gates.trend import claim_slopes
from pytest_xling.records import Estimate
from pytest_xling.registry import load
from pytest_xling.stats.contrast import Interval, difference
from pytest_xling.stats.mean import mean_interval, per_cluster
from pytest_xling.stats.paired_means import paired_mean
from pytest_xling.stats.trend import slope_weights, steepest

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping, Sequence

    from pytest_xling.gates.drop import BaselineSide
    from pytest_xling.gates.spec import GateSpec
    from pytest_xling.interfaces.metric import Bounds, MetricKind
    from pytest_xling.records import Score, Verdict
    from pytest_xling.store.human_labels import HumanLabel

    Labels = Mapping[tuple[str, str], HumanLabel]
    Question: TypeAlias = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Language:
    """What a language adds: its values by question, and what they are made of."""

    values: Sequence[tuple[Question, float]]
    lacking: int = 0
    """Answers, or questions, without a value."""
    sides: Sequence[tuple[str, Sequence[Score], Labels, float]] = ()
    """Of what labels may correct: name, scores, labels, and the factor it is taken by."""
    note: str = ""
    refused: str = ""
    """Why it cannot be compared; empty where it can."""
    beside: float = 0.0
    """Of gaps and drops: the mean of the pivot's, or the baseline's, values."""
    lost: bool = False
    """Whether the baseline has values of more than twice as many questions."""
    most: float = 1.0
    """Of slopes: the steepest there can be."""
    scores: Sequence[Score] = field(default=(), repr=False)
    """Those whose way of being made must be one."""


def judge_overall(
    gate: GateSpec,
    scores: Mapping[str, Sequence[Score]],
    *,
    baseline: BaselineSide | None = None,
    labels: Mapping[str, Labels],
    at_look: bool = False,
) -> Verdict:
    """Judge a gate over all languages together.

    Languages without any value are left out, and the others weigh the more; where those left out
    had half of the weight or more, nothing passes.

    Args:
        gate: with the share of each language.
        scores: of the metric by language, at all levels; of the pivot, too, for a gap.
        baseline: for a drop, its side.
        labels: people's labels of the answers in each language, by sample and condition.
        at_look: whether the run has interim looks, at which labels do not count.

    Raises:
        EvaluationError: scores cannot be put together.
    """
    limits = gate.threshold
    if gate.kind == "drop" and baseline is None:
        return undecided(limits, gate.id, "baseline", "no baseline is named")
    by_language = {
        code: _of_language(gate, code, scores, baseline=baseline, labels=labels)
        for code, _ in limits.weights
    }
    for code, one in by_language.items():
        if one.refused and baseline is not None:
            return undecided(limits, gate.id, baseline.name, f"{code}: {one.refused}")
    beside = () if gate.pivot is None else at_level(scores[gate.pivot], limits.level)
    check_scores(
        [*beside, *(score for one in by_language.values() for score in one.scores)],
        metric=limits.metric,
        language=limits.language,
    )
    weights = {code: weight for code, weight in limits.weights if by_language[code].values}
    there = math.fsum(weights.values())
    weights = {code: weight / there for code, weight in weights.items()}
    made = _estimate(gate, by_language, weights, baseline=baseline)
    # The pivot of a gap stands beside each language, and is labelled once.
    named: dict[str, tuple[Sequence[Score], Labels, float]] = {}
    for code, weight in weights.items():
        for name, of, said, factor in by_language[code].sides:
            before = named[name][2] if name in named else 0.0
            named[name] = (of, said, before + weight * factor)
    labelled = {name: said for name, (_, said, _) in named.items()}
    if limits.estimate == "judge":
        labelled = {}
    elif not at_look and made.value is not None and wants_labels(limits, labelled):
        metric = load("metric", limits.metric)
        made = corrected_sum(
            made,
            named,
            kind="flag" if metric.share else "number",
            alpha=limits.alpha,
            bounds=metric.bounds,
            within=_bounds(gate, by_language.values()),
        )
    verdict = judge(made, limits, case=gate.id, kind=gate.kind)
    verdict = with_labels_told(verdict, labelled, at_look=at_look)
    return _told(verdict, by_language, there)


def _told(verdict: Verdict, by_language: Mapping[str, _Language], there: float) -> Verdict:
    """Return a verdict that says what it is of, and does not pass where too much is missing."""
    limits = verdict.threshold
    used = [code for code, one in by_language.items() if one.values]
    alike = len({weight for _, weight in limits.weights}) == 1
    said = f"{len(used)} languages, {'each the same' if alike else 'weighed as given'}"
    reason = f"{said}: {verdict.reason}"
    if left := [code for code, one in by_language.items() if not one.values]:
        reason += f"; without {', '.join(left)}, where none has a value"
    notes = [f"{code}: {one.note}" for code, one in by_language.items() if one.note]
    reason += f"; {'; '.join(notes)}" if notes else ""
    why = ""
    if there <= 1 / 2:
        why = "those have half of the weight or more"
    elif lost := [code for code, one in by_language.items() if one.lost]:
        why = f"fewer than half of the baseline's questions are paired in {', '.join(lost)}"
    elif sum(one.lacking for one in by_language.values()) > sum(
        len(one.values) for one in by_language.values()
    ):
        why = "fewer than half have a value"
    if verdict.outcome == "pass" and why:
        return replace(verdict, outcome="inconclusive", reason=f"{reason}; {why}")
    return replace(verdict, reason=reason)


def _of_language(
    gate: GateSpec,
    code: str,
    scores: Mapping[str, Sequence[Score]],
    *,
    baseline: BaselineSide | None,
    labels: Mapping[str, Labels],
) -> _Language:
    """Return what a language adds to a gate of its kind."""
    limits = gate.threshold
    own = at_level(scores[code], limits.level)
    said = labels_at(own, labels[code])
    sign = 1.0 if (load("metric", limits.metric).better or "higher") == "higher" else -1.0
    if gate.kind == "limit":
        values = [(cluster_of(score), score.value) for score in own if score.value is not None]
        return _Language(
            values=values,
            lacking=len(own) - len(values),
            sides=[(code, own, said, 1.0)],
            scores=own,
        )
    asked = len({cluster_of(score) for score in own})
    if gate.kind == "trend":
        rises = claim_slopes(own)
        levels = sorted({s.level for s in own if s.level is not None and s.value is not None})
        sides = []
        if len(levels) > 1:
            for level, factor in zip(levels, slope_weights(levels), strict=True):
                at = at_level(own, level)
                name = f"{code}, {level_name(level)}"
                sides.append((name, at, labels_at(at, labels[code]), -sign * factor))
        return _Language(
            values=[(claim, -sign * rise) for claim, rise in rises.items()],
            lacking=asked - len(rises),
            sides=sides,
            most=steepest(levels) if len(levels) > 1 else 1.0,
            scores=own,
        )
    note, refused, lost = "", "", False
    if gate.kind == "gap":
        pivot = gate.pivot or ""
        others = at_level(scores[pivot], limits.level)
        there = (pivot, others, labels_at(others, labels[pivot]), sign)
    else:
        assert baseline is not None  # noqa: S101  without one nothing is judged
        shared = baseline.shared(own)
        own, others, refused = shared.scores, shared.others, shared.refused
        there = (f"{code} in {baseline.name}", others, baseline.labels_then(code), sign)
        if shared.shared < shared.asked:
            note = f"{baseline.name} has {shared.shared} of {shared.asked} questions"
    pairs = {} if refused else paired_questions(own, others)
    if gate.kind == "drop":
        answered = len({cluster_of(score) for score in others if score.value is not None})
        lost = len(pairs) < LEAST_SHARED * answered
    return _Language(
        values=[(question, sign * (before - now)) for question, (now, before) in pairs.items()],
        lacking=asked - len(pairs),
        sides=[(code, own, said, -sign), there],
        note=note,
        refused=refused,
        beside=math.fsum(before for _, before in pairs.values()) / max(1, len(pairs)),
        lost=lost,
        scores=own,
    )


def _estimate(
    gate: GateSpec,
    by_language: Mapping[str, _Language],
    weights: Mapping[str, float],
    *,
    baseline: BaselineSide | None,
) -> Estimate:
    """Return the weighted mean over languages with its interval."""
    limits = gate.threshold
    metric = load("metric", limits.metric)
    compared = gate.kind != "limit"
    of_all = [score for one in by_language.values() for score in one.scores]
    questions = Counter(question for one in by_language.values() for question, _ in one.values)
    lacking = sum(one.lacking for one in by_language.values())
    if compared:
        lacking = len({cluster_of(score) for score in of_all}) - len(questions)
    empty = Estimate.none(
        why_none(of_all) if not compared else "no question has a value on both sides",
        metric=limits.metric,
        language=limits.language,
        pivot=gate.pivot or "",
        baseline="" if baseline is None or gate.kind != "drop" else baseline.name,
        trend=gate.kind == "trend",
        unscored=lacking,
        share=metric.share,
    )
    if not weights:
        return empty
    flat = [
        (question, value, weight / len(by_language[code].values))
        for code, weight in weights.items()
        for question, value in by_language[code].values
    ]
    flag = metric.share and not compared
    rates = metric.share and gate.kind in {"gap", "drop"}
    if not compared:
        kind: MetricKind = "flag" if flag else "number"
        check_values([v for _, v, _ in flat], metric=limits.metric, kind=kind, bounds=metric.bounds)
    values, counts, asked = [v for _, v, _ in flat], [w for *_, w in flat], [q for q, *_ in flat]
    error = least = None
    if flag or rates:
        # A difference of rates is what got worse less what got better.
        made = _rate(flat, 1.0, alpha=limits.alpha)
        if rates:
            made = difference(made, _rate(flat, -1.0, alpha=limits.alpha))
    elif compared and not metric.share:
        # As in one language: Student's t of differences, and what bounds know of equal ones.
        added = per_cluster(values, asked, weights=counts)
        bounds = _bounds(gate, by_language.values())
        lost = bounds[1]
        if gate.kind != "trend":
            beside = [by_language[code].beside * w * len(weights) for code, w in weights.items()]
            lost = most_lost(beside, better=metric.better or "higher", widest=bounds[1])
        by_t = paired_mean(added.points, alpha=limits.alpha, widest=bounds[1], lost=lost)
        made = Interval(value=added.mean, low=by_t.low, high=by_t.high).within(*bounds)
        error = by_t.error if by_t.even else None
        least = skewed_low(added.points, alpha=limits.alpha)
    else:
        bounds = _bounds(gate, by_language.values())
        made = Interval(value=math.fsum(value * weight for _, value, weight in flat))
        around = mean_interval(values, asked, alpha=limits.alpha, bounds=bounds, weights=counts)
        if around is not None:
            made, error = replace(made, low=around.low, high=around.high), around.error
    return replace(
        empty,
        value=made.value,
        low=made.low,
        high=made.high,
        error=error,
        skewed_low=least,
        n=len(questions) if compared else len(flat),
        flagged=round(math.fsum(values)) if flag else 0,
        signature=next((score.signature for score in of_all if score.value is not None), ""),
        reason="" if made.low is not None else NO_SPREAD if len(questions) > 1 else ONE_QUESTION,
    )


def _rate(flat: Sequence[tuple[Question, float, float]], sign: float, *, alpha: float) -> Interval:
    """Return the rate of the values of a sign, and what each question adds to its error."""
    from pytest_xling.stats.parallel_rate import ParallelRate  # noqa: PLC0415  imports scipy

    flags = [max(0.0, sign * value) for _, value, _ in flat]
    rate = ParallelRate(flags, [weight for *_, weight in flat], [asked for asked, *_ in flat])
    low, high = rate.interval(alpha)
    influence: defaultdict[Hashable, float] = defaultdict(float)
    for (question, _, weight), flag in zip(flat, flags, strict=True):
        influence[question] += weight * (flag - rate.value)
    error = math.sqrt(math.fsum(part * part for part in influence.values()))
    return Interval(value=rate.value, low=low, high=high, error=error, influence=influence)


def _bounds(gate: GateSpec, languages: Iterable[_Language]) -> Bounds:
    """Return between which values what is averaged lies; None where that is not known."""
    metric = load("metric", gate.threshold.metric)
    if gate.kind == "limit":
        return (0.0, 1.0) if metric.share else metric.bounds
    reach = 1.0 if metric.share else metric.reach()
    if reach is None:
        return None, None
    if gate.kind == "trend":
        # What stands for a claim with gaps may be beyond what its slope can be.
        steep = max(one.most for one in languages)
        reach = max(reach * steep, *(abs(v) for one in languages for _, v in one.values), 0.0)
    return -reach, reach
