"""Estimates of what people would find in all answers, by a judge's labels and a few of people's."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from pytest_xling.gates.pairing import at_level, cluster_of, sample_means
from pytest_xling.gates.wording import Figures, percent, untold
from pytest_xling.stats.contrast import Interval, contrast, difference, ratio
from pytest_xling.stats.distributions import p_by_interval
from pytest_xling.stats.trend import slope_weights, steepest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from pytest_xling.interfaces.metric import Better, Bounds, MetricKind
    from pytest_xling.records import Estimate, Score, Threshold, Verdict
    from pytest_xling.store.human_labels import HumanLabel

    Labels = Mapping[tuple[str, str], HumanLabel]

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


def labels_at(scores: Sequence[Score], labels: Labels) -> Labels:
    """Return the labels of the answers that have a value."""
    if not labels:
        return labels
    there = {(score.sample_id, score.condition) for score in scores if score.value is not None}
    return {key: label for key, label in labels.items() if key in there}


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
    """Tell whether people's labels correct an estimate: where all sides have enough, unless told.

    Args:
        threshold: the gate's.
        sides: the labels of each side of what is compared; none of a gate that takes none.
    """
    if threshold.estimate == "corrected":
        return bool(sides)
    having = bool(sides) and all(_many(labels) >= LEAST_LABELS for labels in sides.values())
    return threshold.estimate is None and having


def with_labels_told(verdict: Verdict, sides: Mapping[str, Labels], *, at_look: bool) -> Verdict:
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
    share = math.fsum(sizes[said] * differing[said] / drawn[said] for said in drawn)
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
    estimate: Estimate,
    scores: Sequence[Score],
    labels: Labels,
    *,
    kind: MetricKind,
    alpha: float,
    bounds: Bounds,
    limits: Sequence[float],
) -> Estimate:
    """Return *estimate* with the value, interval and p that people's labels make of it.

    Without an interval where the labels are too few; ``reason`` says so.

    Args:
        estimate: of the scores alone.
        scores: of one metric in one language.
        labels: what was said of the answers, and what people say, by sample and condition.
        kind: ``flag`` where all values are 0 or 1.
        alpha: the interval misses with this probability, both sides together.
        bounds: of the metric.
        limits: the p value is of the distance from these; the largest counts.
    """
    side = _Side(scores, labels, kind=kind, bounds=bounds)
    return _put(estimate, {"": side}, lambda sides: sides[0], alpha=alpha, limits=limits)


def corrected_gap(
    estimate: Estimate,
    scores: Sequence[Score],
    labels: Labels,
    other_scores: Sequence[Score],
    other_labels: Labels,
    *,
    better: Better,
    kind: MetricKind,
    alpha: float,
    bounds: Bounds,
    limits: Sequence[float],
) -> Estimate:
    """Return the estimate of a gap or a drop likewise: how much worse people would find it.

    Each side is estimated from its own labels, of the questions that both have; these vary
    together.

    Args:
        estimate: of the gap by the scores alone; a relative one becomes a ratio of both sides.
        scores: in the language.
        labels: of its answers.
        other_scores: in the pivot language, or of the baseline.
        other_labels: of its answers.
        better: which end of the metric is good.
        kind: as for :func:`corrected`, and so the others.
        alpha: as there.
        bounds: of the metric.
        limits: as there.
    """
    shared = sample_means(scores).keys() & sample_means(other_scores).keys()
    own, other = (
        _Side(
            [score for score in of if (score.benchmark, score.sample_id) in shared],
            said,
            kind=kind,
            bounds=bounds,
        )
        for of, said in ((scores, labels), (other_scores, other_labels))
    )
    sign = 1.0 if better == "higher" else -1.0

    def worse(sides: Sequence[Interval]) -> Interval:
        here, there = sides
        if estimate.relative:
            return contrast([WHOLE, ratio(here, there)], [sign, -sign])
        return difference(there, here) if better == "higher" else difference(here, there)

    made = _put(
        estimate,
        {"": own, estimate.pivot or estimate.baseline: other},
        worse,
        alpha=alpha,
        limits=limits,
        lacking=REACHES_0 if estimate.relative else NO_SPREAD,
    )
    if not estimate.relative or made.low is None:
        return made
    now, then = (side.interval(alpha).value for side in (own, other))
    word = Figures.fitting([now, then], share=kind == "flag").value
    return replace(made, tested=f"{word(now)} after {word(then)}")


def corrected_trend(
    estimate: Estimate,
    scores: Sequence[Score],
    labels: Labels,
    *,
    better: Better,
    kind: MetricKind,
    alpha: float,
    bounds: Bounds,
    limits: Sequence[float],
) -> Estimate:
    """Return the estimate of a trend likewise: how much worse people would find it per level.

    Each level is estimated from its own labels, and the slope is that of these estimates. Claims
    that lack a value at some level are left out: with them levels would differ by their claims.

    Args:
        estimate: of the trend by the scores alone.
        scores: of one metric in one language, at all levels.
        labels: of the answers.
        better: as for :func:`corrected_gap`, and so the others.
        kind: as there.
        alpha: as there.
        bounds: as there.
        limits: as there.
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
    sides = {
        level_name(level): _Side(at_level(asked, level), labels, kind=kind, bounds=bounds)
        for level in levels
    }
    sign = -1.0 if better == "higher" else 1.0
    weights = [sign * weight for weight in slope_weights(levels)]
    most = steepest(levels)

    def slope(at: Sequence[Interval]) -> Interval:
        made = contrast(at, weights)
        return made.within(-most, most) if kind == "flag" else made

    of_whole = replace(estimate, n=len(whole), unscored=estimate.n + estimate.unscored - len(whole))
    return _put(of_whole, sides, slope, alpha=alpha, limits=limits)


def corrected_sum(
    estimate: Estimate,
    sides: Mapping[str, tuple[Sequence[Score], Labels, float]],
    *,
    kind: MetricKind,
    alpha: float,
    bounds: Bounds,
    within: Bounds,
) -> Estimate:
    """Return the estimate of a weighted sum likewise, such as a rate over all languages.

    Args:
        estimate: of the sum by the scores alone.
        sides: what is summed, by what to call it: scores, labels and the factor it counts by.
        kind: as for :func:`corrected`.
        alpha: as there.
        bounds: as there.
        within: between what the sum lies; None where there is no end.
    """
    factors = [factor for *_, factor in sides.values()]

    def summed(at: Sequence[Interval]) -> Interval:
        return contrast(at, factors).within(*within)

    made = {
        name: _Side(scores, labels, kind=kind, bounds=bounds)
        for name, (scores, labels, _) in sides.items()
    }
    return _put(estimate, made, summed, alpha=alpha, limits=())


def _put(
    estimate: Estimate,
    sides: Mapping[str, _Side],
    together: Callable[[Sequence[Interval]], Interval],
    *,
    alpha: float,
    limits: Sequence[float],
    lacking: str = NO_SPREAD,
) -> Estimate:
    """Put into *estimate* what *together* makes of all sides, if each has labels enough.

    Args:
        estimate: of the scores alone.
        sides: by what to call them.
        together: gives the estimate of theirs.
        alpha: as for :func:`corrected`.
        limits: as there.
        lacking: why there is no interval, where nothing else says so.
    """
    for name, side in sides.items():
        if side.lacks:
            reason = f"{name}: {side.lacks}" if name else side.lacks
            return replace(estimate, low=None, high=None, p=None, reason=reason)

    def interval(alpha: float) -> Interval:
        return together([side.interval(alpha) for side in sides.values()])

    def ends(alpha: float) -> tuple[float, float] | None:
        at = interval(alpha)
        return None if at.low is None or at.high is None else (at.low, at.high)

    made = interval(alpha)
    reason = getattr(made, "reason", "")
    if made.low is None or made.high is None:
        return replace(estimate, low=None, high=None, p=None, reason=reason or lacking)
    labelled = [side.labelled for side in sides.values()]
    return replace(
        estimate,
        value=made.value,
        low=made.low,
        high=made.high,
        error=made.error,
        skewed_low=made.low if estimate.skewed_low is not None else None,
        p=max((p_by_interval(ends, limit) for limit in limits), default=None),
        tested="",
        reason=reason,
        labelled=sum(labelled) if estimate.trend else min(labelled),
        cannot_tell=sum(side.cannot_tell for side in sides.values()),
    )


class _Side:
    """Answers that are estimated together, and people's labels of some."""

    def __init__(
        self, scores: Sequence[Score], labels: Labels, *, kind: MetricKind, bounds: Bounds
    ) -> None:
        from pytest_xling.stats.corrected import (  # noqa: PLC0415  imports numpy
            Judged,
            Labelled,
            corrected_mean,
            corrected_rates,
        )

        said = {
            score: labels[score.sample_id, score.condition]
            for score in scores
            if score.value is not None and (score.sample_id, score.condition) in labels
        }
        flag = kind == "flag"
        # Of rates a stratum is what the judge said; numbers vary within it.
        judged = [
            Judged(label.said if flag else score.value, cluster_of(score))
            for score, label in said.items()
        ]
        sizes = Counter(label.said for label in said.values())
        drawn = Counter(label.said for label in said.values() if label.value is not None)
        labelled = [
            Labelled(
                judge=label.said if flag else score.value,
                human=label.value,
                cluster=cluster_of(score),
                weight=sizes[label.said] / drawn[label.said],
            )
            for score, label in said.items()
            if label.value is not None
        ]
        self.labelled = len(labelled)
        self.cannot_tell = sum(label.cannot_tell for label in said.values())
        after = sum(score.value is not None for score in scores) - len(said)
        self.lacks = _lacks(self.labelled, {} if flag else sizes, drawn, after=after)
        if self.lacks and self.cannot_tell:
            self.lacks += f"; {untold(self.cannot_tell)}"
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
    """Say why labels are not enough; empty where they are.

    Args:
        labelled: how many there are.
        sizes: answers by what the judge said; of flags none, since whatever people would say of
            those without a label is in the interval.
        drawn: those labelled.
        after: answers that were not there when the labels were kept.
    """
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
