"""Estimates of what people would find in all answers, by a judge's labels and a few of people's."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from pytest_xling.gates.pairing import cluster_of, sample_means
from pytest_xling.stats.contrast import Interval, difference
from pytest_xling.stats.corrected import Judged, Labelled, corrected_mean, corrected_rates
from pytest_xling.stats.distributions import p_by_interval
from pytest_xling.store.human_labels import LEAST_LABELS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pytest_xling.interfaces.metric import Better, Bounds
    from pytest_xling.records import Estimate, Score
    from pytest_xling.store.human_labels import HumanLabel

    Labels = Mapping[tuple[str, str], HumanLabel]

__all__ = ["corrected", "corrected_gap"]

NO_INTERVAL: Final = Interval()
NO_SPREAD: Final = "people's labels show no spread"


def corrected(
    estimate: Estimate,
    scores: Sequence[Score],
    labels: Labels,
    *,
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
        alpha: the interval misses with this probability, both sides together.
        bounds: of the metric.
        limits: the p value is of the distance from these; the largest counts.
    """
    side = _Side(scores, labels, share=estimate.share, bounds=bounds)
    return _put(estimate, side.interval, side, alpha=alpha, limits=limits)


def corrected_gap(
    estimate: Estimate,
    scores: Sequence[Score],
    labels: Labels,
    pivot_scores: Sequence[Score],
    pivot_labels: Labels,
    *,
    better: Better,
    alpha: float,
    bounds: Bounds,
    limits: Sequence[float],
) -> Estimate:
    """Return the estimate of a gap likewise: how much worse people would find the language.

    Each language is estimated from its own labels, of the questions that both have; these vary
    together.

    Args:
        estimate: of the gap by the scores alone.
        scores: in the language.
        labels: of its answers.
        pivot_scores: in the pivot language.
        pivot_labels: of its answers.
        better: which end of the metric is good.
        alpha: as for :func:`corrected`, and so the others.
        bounds: of the metric.
        limits: as there.
    """
    shared = sample_means(scores).keys() & sample_means(pivot_scores).keys()
    own, pivot = (
        _Side(
            [score for score in of if (score.benchmark, score.sample_id) in shared],
            said,
            share=estimate.share,
            bounds=bounds,
        )
        for of, said in ((scores, labels), (pivot_scores, pivot_labels))
    )

    def interval(alpha: float) -> Interval:
        sides = (pivot, own) if better == "higher" else (own, pivot)
        return difference(*(side.interval(alpha) for side in sides))

    side = min(own, pivot, key=lambda side: (not side.lacks, side.labelled))
    return _put(estimate, interval, side, alpha=alpha, limits=limits)


def _put(
    estimate: Estimate,
    interval: Callable[[float], Interval],
    side: _Side,
    *,
    alpha: float,
    limits: Sequence[float],
) -> Estimate:
    """Put into *estimate* what *interval* gives, if the *side* that lacks most bears it."""
    made = NO_INTERVAL if side.lacks else interval(alpha)
    reason = side.lacks or getattr(made, "reason", "")
    if made.low is None or made.high is None:
        return replace(estimate, low=None, high=None, p=None, reason=reason or NO_SPREAD)

    def ends(alpha: float) -> tuple[float, float] | None:
        at = interval(alpha)
        return None if at.low is None or at.high is None else (at.low, at.high)

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
        labelled=side.labelled,
    )


class _Side:
    """The answers of one language, and people's labels of some."""

    def __init__(
        self, scores: Sequence[Score], labels: Labels, *, share: bool, bounds: Bounds
    ) -> None:
        said = {
            score: labels[score.sample_id, score.condition]
            for score in scores
            if score.value is not None and (score.sample_id, score.condition) in labels
        }
        self._bounds = bounds
        # Of rates a stratum is what the judge said; numbers vary within it.
        self._judged = [
            Judged(label.said if share else score.value, cluster_of(score))
            for score, label in said.items()
        ]
        sizes = Counter(label.said for label in said.values())
        drawn = Counter(label.said for label in said.values() if label.value is not None)
        self._labelled = [
            Labelled(
                judge=label.said if share else score.value,
                human=label.value,
                cluster=cluster_of(score),
                weight=sizes[label.said] / drawn[label.said],
            )
            for score, label in said.items()
            if label.value is not None
        ]
        self.labelled = len(self._labelled)
        after = sum(score.value is not None for score in scores) - len(said)
        self.lacks = _lacks(self.labelled, sizes, drawn, after=after)
        """Why labels and judge give no estimate; empty where they do."""
        self._rates = corrected_rates(self._judged, self._labelled) if share else None

    def interval(self, alpha: float) -> Interval:
        """Return what people would find, with its 1 - *alpha* interval."""
        if self._rates is not None:
            return self._rates(alpha)
        return corrected_mean(self._judged, self._labelled, alpha=alpha, bounds=self._bounds)


def _lacks(labelled: int, sizes: Mapping[str, int], drawn: Mapping[str, int], *, after: int) -> str:
    """Say why labels are not enough; empty where they are.

    Args:
        labelled: how many there are.
        sizes: answers by what the judge said.
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
