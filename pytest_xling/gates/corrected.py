"""Estimates of what people would find in all answers, by a judge's labels and a few of people's."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from pytest_xling.gates.estimate import Effect, Ends
from pytest_xling.gates.pairing import at_level, cluster_of, labels_at, sample_means
from pytest_xling.gates.reasons import nobody_could_tell
from pytest_xling.stats.contrast import Interval, contrast, difference, ratio
from pytest_xling.stats.trend import slope_weights, steepest
from pytest_xling.text.numbers import Figures, percent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from pytest_xling.gates.estimate import Measure
    from pytest_xling.gates.pairing import Labels
    from pytest_xling.interfaces.metric import Bounds
    from pytest_xling.records import Estimate, Score, Threshold, Verdict

LEAST_LABELS: Final = 20
"""With fewer the interval has not been shown to hold (docs/corrected.md)."""

NO_SPREAD: Final = "people's labels show no spread"
REACHES_0: Final = (
    "the baseline's interval reaches 0, of which no share is known; limit the drop in the metric's "
    "units"
)
NOT_COUNTED: Final = "labels of people do not count"
NOT_AT_LOOKS: Final = " in runs with interim looks"
NO_CLAIM: Final = "no claim has values at all levels"
WHOLE: Final = Interval(value=1.0, low=1.0, high=1.0)


def by_level(scores: Sequence[Score], labels: Labels) -> dict[str, Labels]:
    """Return the labels of the answers at each level that has values, by what to call it."""
    levels = {
        score.level for score in scores if score.value is not None and score.level is not None
    }
    return {level_name(at): labels_at(at_level(scores, at), labels) for at in sorted(levels)}


def level_name(level: int) -> str:
    """Return what to call a side that is a level."""
    return f"level {level}"


def wants_labels(threshold: Threshold, sides: Mapping[str, Labels]) -> bool:
    """Tell whether people's labels correct an estimate: by default if all sides have enough.

    Args:
        threshold: the gate's.
        sides: the labels of each side of what is compared; none of a gate that takes none.
    """
    if threshold.estimate == "corrected":
        return bool(sides)
    having = bool(sides) and all(_many(labels) >= LEAST_LABELS for labels in sides.values())
    return threshold.estimate is None and having


def with_label_note(verdict: Verdict, sides: Mapping[str, Labels], *, at_look: bool) -> Verdict:
    """Return a verdict that says why labels do not count; inconclusive where it must have them.

    Where they count and raters differ by more than the rate's budget, it is inconclusive, too: such
    errors are in no interval. It still fails where the rate less all that they differ about would.

    That all looks together err as seldom as they should is shown of answers that come in turn, and
    people label those of the last look.

    Args:
        verdict: by the scores, and by labels where they count.
        sides: as for :func:`wants_labels`.
        at_look: whether the run has interim looks, at which labels do not count.
    """
    if verdict.outcome == "error":
        return verdict
    limits, why = verdict.threshold, ""
    if verdict.estimate.labelled:
        return _unless_raters_differ(verdict, limits.max_rate, sides.values())
    if at_look and wants_labels(limits, sides):
        why = NOT_AT_LOOKS
    elif limits.estimate is None and any(map(_many, sides.values())):
        why = _too_few({name: _many(labels) for name, labels in sides.items()})
    if not why:
        return verdict
    reason = f"{verdict.reason}; {NOT_COUNTED}{why}"
    if limits.estimate == "corrected":
        return replace(verdict, outcome="inconclusive", reason=reason)
    return replace(verdict, reason=reason)


def _unless_raters_differ(
    verdict: Verdict, budget: float | None, sides: Iterable[Labels]
) -> Verdict:
    """Return an inconclusive verdict where raters differ on a larger share of answers than that."""
    differ = max(map(_raters_differ, sides), default=0.0)
    if not budget or differ <= budget or verdict.outcome not in {"pass", "fail"}:
        return verdict
    low = verdict.estimate.low
    if verdict.outcome == "fail" and low is not None and low - differ > budget:
        return verdict
    reason = (
        f"{verdict.reason}; raters differ on {percent(differ)} of the answers that several"
        " labelled, more than the budget: settle what they differ about (xling agreement)"
    )
    return replace(verdict, outcome="inconclusive", reason=reason)


def _raters_differ(labels: Labels) -> float:
    """Return on what share of answers raters differ, by the labels of several; 0 with too few.

    What was labelled stands for all that the judge says the same of.
    """
    several = [label for label in labels.values() if label.raters_agree is not None]
    if len(several) < LEAST_LABELS:
        return 0.0
    drawn = Counter(label.said for label in several)
    sizes = Counter(label.said for label in labels.values() if label.said in drawn)
    differing = Counter(label.said for label in several if not label.raters_agree)
    share = math.fsum(sizes[flag] * differing[flag] / drawn[flag] for flag in drawn)
    return share / sizes.total()


def _many(labels: Labels) -> int:
    return sum(label.value is not None for label in labels.values())


def _too_few(counts: Mapping[str, int]) -> str:
    """Word which side has too few labels; empty where none has."""
    for name, count in counts.items():
        if count < LEAST_LABELS:
            return f": {name} has {f'{count}, {LEAST_LABELS} are needed' if count else 'none'}"
    return ""


def corrected(
    estimate: Estimate, scores: Sequence[Score], labels: Labels, measure: Measure
) -> Estimate:
    """Return *estimate* with the value, interval and p that people's labels make of it.

    Without an interval where the labels are too few; ``reason`` says so.

    Args:
        estimate: of the scores alone.
        scores: of one metric in one language.
        labels: what was said of the answers, and what people say, by sample and condition.
        measure: of the metric.
    """
    side = _Side(scores, labels, measure)
    return _put(estimate, {"": side}, measure, lambda sides: sides[0])


def corrected_gap(
    estimate: Estimate,
    own: tuple[Sequence[Score], Labels],
    other: tuple[Sequence[Score], Labels],
    measure: Measure,
) -> Estimate:
    """Return the estimate of a gap or a drop likewise: how much worse people would find it.

    Each side is estimated from its own labels, of the questions that both have; these vary
    together.

    Args:
        estimate: of the gap by the scores alone; a relative one becomes a ratio of both sides.
        own: scores in the language, and labels of these answers.
        other: those in the pivot language, or of the baseline.
        measure: of the metric.
    """
    shared = sample_means(own[0]).keys() & sample_means(other[0]).keys()
    here, there = (
        _Side([s for s in scores if (s.benchmark, s.sample_id) in shared], labels, measure)
        for scores, labels in (own, other)
    )
    sign = measure.sign

    def worse(sides: Sequence[Interval]) -> Interval:
        if estimate.relative:
            return contrast([WHOLE, ratio(*sides)], [sign, -sign])
        return difference(*(sides[::-1] if measure.better == "higher" else sides))

    sides = {"": here, estimate.pivot or estimate.baseline: there}
    lacking = REACHES_0 if estimate.relative else NO_SPREAD
    result = _put(estimate, sides, measure, worse, lacking=lacking)
    if not estimate.relative or result.low is None:
        return result
    now, then = (side.interval(measure.alpha).value for side in (here, there))
    word = Figures.fitting([now, then], share=measure.share).value
    return replace(result, tested=f"{word(now)} after {word(then)}")


def corrected_trend(
    estimate: Estimate, scores: Sequence[Score], labels: Labels, measure: Measure
) -> Estimate:
    """Return the estimate of a trend likewise: how much worse people would find it per level.

    Each level is estimated from its own labels, and the slope is that of these estimates. Claims
    that lack a value at some level are left out: with them levels would differ by their claims.

    Args:
        estimate: of the trend by the scores alone.
        scores: of one metric in one language, at all levels.
        labels: of the answers.
        measure: of the metric.
    """
    levels_of: defaultdict[tuple[str, str], set[int]] = defaultdict(set)
    for score in scores:
        if score.value is not None and score.level is not None:
            levels_of[cluster_of(score)].add(score.level)
    levels = sorted(set().union(*levels_of.values()))
    whole = {claim for claim, at in levels_of.items() if len(at) == len(levels)}
    if not whole or len(levels) < 2:  # noqa: PLR2004  a slope needs two
        return replace(estimate, low=None, high=None, p=None, reason=NO_CLAIM)
    asked = [score for score in scores if cluster_of(score) in whole]
    sides = {level_name(level): _Side(at_level(asked, level), labels, measure) for level in levels}
    weights = [-measure.sign * weight for weight in slope_weights(levels)]
    most = steepest(levels)

    def slope(at: Sequence[Interval]) -> Interval:
        slope = contrast(at, weights)
        return slope.within(-most, most) if measure.share else slope

    of_whole = replace(estimate, n=len(whole), unscored=estimate.n + estimate.unscored - len(whole))
    return _put(of_whole, sides, measure, slope)


def corrected_sum(
    estimate: Estimate,
    sides: Mapping[str, tuple[Sequence[Score], Labels, float]],
    measure: Measure,
    *,
    within: Bounds,
) -> Estimate:
    """Return the estimate of a weighted sum likewise, such as a rate over all languages.

    Args:
        estimate: of the sum by the scores alone.
        sides: what is summed, by what to call it: scores, labels and the factor it counts by.
        measure: of the metric.
        within: between what the sum lies; None where there is no end.
    """
    factors = [factor for *_, factor in sides.values()]

    def summed(at: Sequence[Interval]) -> Interval:
        return contrast(at, factors).within(*within)

    by_name = {name: _Side(scores, labels, measure) for name, (scores, labels, _) in sides.items()}
    return _put(estimate, by_name, replace(measure, limits=()), summed)


def _put(
    estimate: Estimate,
    sides: Mapping[str, _Side],
    measure: Measure,
    together: Callable[[Sequence[Interval]], Interval],
    *,
    lacking: str = NO_SPREAD,
) -> Estimate:
    """Put into *estimate* what *together* makes of all sides, if each has labels enough."""
    without = replace(estimate, low=None, high=None, p=None)
    for name, side in sides.items():
        if side.lacks:
            return replace(without, reason=f"{name}: {side.lacks}" if name else side.lacks)

    def interval(alpha: float) -> Interval:
        return together([side.interval(alpha) for side in sides.values()])

    def ends(alpha: float) -> Ends:
        at = interval(alpha)
        return Ends(at.low, at.high, at.error)

    result = interval(measure.alpha)
    reason = getattr(result, "reason", "")
    if result.value is None or result.low is None or result.high is None:
        return replace(without, reason=reason or lacking)
    effect = Effect(value=result.value, n=estimate.n, interval=ends)
    labelled = [side.labelled for side in sides.values()]
    return replace(
        effect.put(estimate, measure),
        skewed_low=result.low if estimate.skewed_low is not None else None,
        tested="",
        reason=reason,
        labelled=sum(labelled) if estimate.trend else min(labelled),
        cannot_tell=sum(side.cannot_tell for side in sides.values()),
    )


class _Side:
    """Answers that are estimated together, and people's labels of some."""

    def __init__(self, scores: Sequence[Score], labels: Labels, measure: Measure) -> None:
        from pytest_xling.stats.corrected import (  # noqa: PLC0415  imports numpy
            Judged,
            Labelled,
            corrected_mean,
            corrected_rates,
        )

        labels_of = {
            score: labels[score.sample_id, score.condition]
            for score in scores
            if score.value is not None and (score.sample_id, score.condition) in labels
        }
        flag, bounds = measure.share, measure.bounds
        # For rates a stratum is the judge's label; numbers vary within it.
        judged = [
            Judged(label.said if flag else score.value, cluster_of(score))
            for score, label in labels_of.items()
        ]
        sizes = Counter(label.said for label in labels_of.values())
        drawn = Counter(label.said for label in labels_of.values() if label.value is not None)
        labelled = [
            Labelled(
                judge=label.said if flag else score.value,
                human=label.value,
                cluster=cluster_of(score),
                weight=sizes[label.said] / drawn[label.said],
            )
            for score, label in labels_of.items()
            if label.value is not None
        ]
        self.labelled = len(labelled)
        self.cannot_tell = sum(label.cannot_tell for label in labels_of.values())
        after = sum(score.value is not None for score in scores) - len(labels_of)
        # Of flags whatever people would say of those without a label is in the interval.
        self.lacks = _lacks(self.labelled, {} if flag else sizes, drawn, after=after)
        if self.lacks and self.cannot_tell:
            self.lacks += f"; {nobody_could_tell(self.cannot_tell)}"
        """Why labels and judge give no estimate; empty where they do."""
        self.interval: Callable[[float], Interval]
        """Gives what people would find, with the interval that misses with some probability."""
        if flag:
            self.interval = corrected_rates(judged, labelled)
        else:
            self.interval = lambda alpha: corrected_mean(
                judged, labelled, alpha=alpha, bounds=bounds
            )


def _lacks(labelled: int, sizes: Mapping[str, int], drawn: Mapping[str, int], *, after: int) -> str:
    """Say why labels are not enough; empty where they are."""
    if labelled < LEAST_LABELS:
        return (
            f"needs {LEAST_LABELS} labels of people, has {labelled} (xling review, xling agreement)"
        )
    if after:
        came = "1 answer" if after == 1 else f"{after} answers"
        return f"{came} came after people's labels: run `xling agreement` again"
    # Else labels of what the judge flags would pass for labels of all.
    for stratum in sorted(sizes.keys() - drawn.keys()):
        return f"none of the {sizes[stratum]} answers judged {stratum!r} is labelled (xling review)"
    return ""
