"""Decide on all languages together: a rate, a mean, a gap, a drop or a trend, weighted by language.

Each language has its own estimate, and these are averaged: each counts the same, or as
``weights:`` says. Languages are asked the same questions, so what is independent are questions,
not answers (ADR 40).
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from pytest_xling.gates.corrected import (
    corrected_sum,
    level_name,
    wants_labels,
    with_label_note,
)
from pytest_xling.gates.differences import claim_slopes, most_lost, skewed_low
from pytest_xling.gates.estimate import (
    NO_SPREAD,
    ONE_QUESTION,
    check_scores,
    check_values,
    mean,
    why_none,
)
from pytest_xling.gates.judge import judge, undecided
from pytest_xling.gates.pairing import (
    LEAST_SHARED,
    at_level,
    cluster_of,
    labels_at,
    mean_of,
    paired_questions,
)
from pytest_xling.stats.contrast import Interval, difference
from pytest_xling.stats.mean import per_cluster
from pytest_xling.stats.paired_means import paired_mean
from pytest_xling.stats.trend import slope_weights, steepest

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping, Sequence

    from pytest_xling.gates.pairing import Cluster, GateInputs, Labels
    from pytest_xling.gates.spec import GateSpec
    from pytest_xling.interfaces.metric import Bounds
    from pytest_xling.records import Estimate, Score, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class _Language:
    """What a language adds: its values by question, and what they are made of."""

    values: Sequence[tuple[Cluster, float]]
    scores: Sequence[Score] = field(repr=False)
    """Those whose way of being made must be one."""
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


def judge_overall(gate: GateSpec, inputs: GateInputs) -> Verdict:
    """Judge a gate over all languages together.

    Languages without any value are left out, and the others weigh the more; where those left out
    had half of the weight or more, nothing passes.

    Raises:
        EvaluationError: scores cannot be put together.
    """
    limits, baseline = gate.threshold, inputs.baseline
    if gate.kind == "drop" and baseline is None:
        return undecided(gate, "baseline", "no baseline is named")
    if limits.estimate == "judge":
        inputs = replace(inputs, labels=lambda _language: {})
    languages = {code: _language_part(gate, code, inputs) for code, _ in limits.weights}
    for code, one in languages.items():
        if one.refused and baseline is not None:
            return undecided(gate, baseline.name, f"{code}: {one.refused}")
    beside = () if gate.pivot is None else at_level(inputs.scores(gate.pivot), limits.level)
    of_all = [score for one in languages.values() for score in one.scores]
    check_scores([*beside, *of_all], metric=limits.metric, language=limits.language)
    weights = {code: weight for code, weight in limits.weights if languages[code].values}
    there = math.fsum(weights.values())
    weights = {code: weight / there for code, weight in weights.items()}
    estimate = _estimate(gate, languages, weights)
    if gate.kind == "drop" and baseline is not None:
        estimate = replace(estimate, baseline=baseline.name)
    # The pivot of a gap stands beside each language, and is labelled once.
    named: dict[str, tuple[Sequence[Score], Labels, float]] = {}
    for code, weight in weights.items():
        for name, scores, labels, factor in languages[code].sides:
            before = named[name][2] if name in named else 0.0
            named[name] = (scores, labels, before + weight * factor)
    labelled = {name: labels for name, (_, labels, _) in named.items()}
    if limits.estimate == "judge":
        labelled = {}
    elif not inputs.at_look and estimate.value is not None and wants_labels(limits, labelled):
        within = _bounds(gate, languages.values())
        estimate = corrected_sum(estimate, named, gate.measure, within=within)
    verdict = judge(estimate, limits, case=gate.id, kind=gate.kind)
    verdict = with_label_note(verdict, labelled, at_look=inputs.at_look)
    return _worded(verdict, languages, there)


def _worded(verdict: Verdict, languages: Mapping[str, _Language], there: float) -> Verdict:
    """Return a verdict that says what it is of, and does not pass where too much is missing."""
    used = [code for code, one in languages.items() if one.values]
    alike = len({weight for _, weight in verdict.threshold.weights}) == 1
    counts = f"{len(used)} languages, {'each the same' if alike else 'weighed as given'}"
    reason = f"{counts}: {verdict.reason}"
    if left := [code for code, one in languages.items() if not one.values]:
        reason += f"; without {', '.join(left)}, where none has a value"
    notes = [f"{code}: {one.note}" for code, one in languages.items() if one.note]
    reason += f"; {'; '.join(notes)}" if notes else ""
    lacking = sum(one.lacking for one in languages.values())
    lost = [code for code, one in languages.items() if one.lost]
    why = ""
    if there <= 1 / 2:
        why = "those have half of the weight or more"
    elif lost:
        why = f"fewer than half of the baseline's questions are paired in {', '.join(lost)}"
    elif lacking > sum(len(one.values) for one in languages.values()):
        why = "fewer than half have a value"
    if verdict.outcome == "pass" and why:
        return replace(verdict, outcome="inconclusive", reason=f"{reason}; {why}")
    return replace(verdict, reason=reason)


def _language_part(gate: GateSpec, code: str, inputs: GateInputs) -> _Language:
    """Return what a language adds to a gate of its kind."""
    level, baseline = gate.threshold.level, inputs.baseline
    own = at_level(inputs.scores(code), level)
    labels = labels_at(own, inputs.labels(code))
    if gate.kind == "limit":
        values = [(cluster_of(score), score.value) for score in own if score.value is not None]
        sides = [(code, own, labels, 1.0)]
        return _Language(values=values, scores=own, lacking=len(own) - len(values), sides=sides)
    asked = len({cluster_of(score) for score in own})
    if gate.kind == "trend":
        return _trend_of_language(gate, code, inputs, own)
    note, refused, lost, sign = "", "", False, gate.measure.sign
    if gate.kind == "drop" and baseline is not None:
        shared = baseline.shared(own)
        own, others, refused = shared.scores, shared.others, shared.refused
        there = (f"{code} in {baseline.name}", others, baseline.labels_then(code), sign)
        if shared.shared < shared.asked:
            note = f"{baseline.name} has {shared.shared} of {shared.asked} questions"
    else:
        pivot = gate.pivot or ""
        others = at_level(inputs.scores(pivot), level)
        there = (pivot, others, labels_at(others, inputs.labels(pivot)), sign)
    pairs = {} if refused else paired_questions(own, others)
    if gate.kind == "drop":
        answered = len({cluster_of(score) for score in others if score.value is not None})
        lost = len(pairs) < LEAST_SHARED * answered
    return _Language(
        values=[(question, sign * (before - now)) for question, (now, before) in pairs.items()],
        scores=own,
        lacking=asked - len(pairs),
        sides=[(code, own, labels, -sign), there],
        note=note,
        refused=refused,
        beside=mean_of([before for _, before in pairs.values()]) if pairs else 0.0,
        lost=lost,
    )


def _trend_of_language(
    gate: GateSpec, code: str, inputs: GateInputs, own: Sequence[Score]
) -> _Language:
    """Return what a language adds to a trend: the slope of each claim."""
    rises, sign = claim_slopes(own), gate.measure.sign
    levels = sorted({s.level for s in own if s.level is not None and s.value is not None})
    many, sides = len(levels) > 1, []
    for level, factor in zip(levels, slope_weights(levels), strict=True) if many else ():
        at = at_level(own, level)
        labels = labels_at(at, inputs.labels(code))
        sides.append((f"{code}, {level_name(level)}", at, labels, -sign * factor))
    return _Language(
        values=[(claim, -sign * rise) for claim, rise in rises.items()],
        scores=own,
        lacking=len({cluster_of(score) for score in own}) - len(rises),
        sides=sides,
        most=steepest(levels) if many else 1.0,
    )


def _estimate(
    gate: GateSpec, languages: Mapping[str, _Language], weights: Mapping[str, float]
) -> Estimate:
    """Return the weighted mean over languages with its interval."""
    measure, compared = gate.measure, gate.kind != "limit"
    share, alpha = measure.share, measure.alpha
    of_all = [score for one in languages.values() for score in one.scores]
    questions = Counter(question for one in languages.values() for question, _ in one.values)
    lacking = sum(one.lacking for one in languages.values())
    if compared:
        lacking = len({cluster_of(score) for score in of_all}) - len(questions)
    reason = "no question has a value on both sides" if compared else why_none(of_all)
    empty = replace(
        measure.none(reason, unscored=lacking), pivot=gate.pivot or "", trend=gate.kind == "trend"
    )
    if not weights:
        return empty
    flat = [
        (question, value, weight / len(languages[code].values))
        for code, weight in weights.items()
        for question, value in languages[code].values
    ]
    values, counts, asked = [v for _, v, _ in flat], [w for *_, w in flat], [q for q, *_ in flat]
    if not compared:
        check_values(values, measure)
    bounds = _bounds(gate, languages.values())
    error = least = None
    if share and gate.kind != "trend":
        # A difference of rates is what got worse less what got better.
        around = _rate(flat, 1.0, alpha=alpha)
        if compared:
            around = difference(around, _rate(flat, -1.0, alpha=alpha))
    elif compared and not share:
        # As in one language: Student's t of differences, and what bounds know of equal ones.
        added = per_cluster(values, asked, weights=counts)
        lost = bounds[1]
        if gate.kind != "trend":
            many = len(weights)
            beside = [languages[code].beside * weight * many for code, weight in weights.items()]
            lost = most_lost(beside, measure)
        by_t = paired_mean(added.points, alpha=alpha, widest=bounds[1], lost=lost)
        around = Interval(value=added.mean, low=by_t.low, high=by_t.high).within(*bounds)
        error = by_t.error if by_t.even else None
        least = skewed_low(added.points, alpha=alpha)
    else:
        weighed = mean(values, asked, bounds, weights=counts)
        low, high, error = weighed.interval(alpha)
        around = Interval(value=weighed.value, low=low, high=high)
    return replace(
        empty,
        value=around.value,
        low=around.low,
        high=around.high,
        error=error,
        skewed_low=least,
        n=len(questions) if compared else len(flat),
        flagged=round(math.fsum(values)) if share and not compared else 0,
        signature=next((score.signature for score in of_all if score.value is not None), ""),
        reason="" if around.low is not None else NO_SPREAD if len(questions) > 1 else ONE_QUESTION,
    )


def _rate(flat: Sequence[tuple[Cluster, float, float]], sign: float, *, alpha: float) -> Interval:
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
    measure = gate.measure
    if gate.kind == "limit":
        return (0.0, 1.0) if measure.share else measure.bounds
    reach = 1.0 if measure.share else measure.reach
    if reach is None:
        return None, None
    if gate.kind == "trend":
        # What stands for a claim with gaps may be beyond what its slope can be.
        steep = max(one.most for one in languages)
        reach = max(reach * steep, *(abs(v) for one in languages for _, v in one.values), 0.0)
    return -reach, reach
