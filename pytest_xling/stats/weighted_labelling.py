"""How well labels match those that are known, in a sample weighted back to all it is drawn from.

As :mod:`pytest_xling.stats.labelling`, where each item counts alike: of a sample in which half of
the items are flagged and of all answers only a few, recall would otherwise say little.
"""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

from pytest_xling.stats.labelling import Labelling, LabelQuality, Measure, _drawn, _measures
from pytest_xling.stats.wilson import wilson_interval

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    from numpy.typing import NDArray

__all__ = ["weighted_labelling"]


def weighted_labelling(
    known: Sequence[str],
    given: Sequence[str | None],
    weights: Sequence[float],
    *,
    labels: Sequence[str],
    clusters: Sequence[Hashable],
    alpha: float = 0.05,
    resamples: int = 2000,
    seed: int = 0,
) -> Labelling:
    """Measure labels *given* against those *known*, each item counting by its weight.

    Intervals are those of a percentile bootstrap that draws whole clusters. Where all draws are 0
    or all 1 they are Wilson's, of as many items as the clusters the measure is of are worth (Kish);
    where κ is 1 those of the accuracy, chance taken as known. Counts (``n``, ``missing``,
    ``support``) are of items.

    Args:
        known: the right label of each item, all among *labels*.
        given: what it was given; None where it was given none.
        weights: how many items each stands for.
        labels: all there are.
        clusters: what items share that are not independent, such as their claim.
        alpha: the intervals miss with this probability, both sides together.
        resamples: how many times the clusters are drawn.
        seed: of the draws.

    Raises:
        ValueError: the sequences differ in length, a label is not among *labels*, or a weight is
            not above 0 and finite.
    """
    if not all(0 < weight < math.inf for weight in weights):
        msg = "a weight is above 0 and finite"
        raise ValueError(msg)
    place = {label: number for number, label in enumerate(labels)}
    members = {cluster: number for number, cluster in enumerate(dict.fromkeys(clusters))}
    counts = np.zeros((len(members), len(labels), len(labels) + 1))
    support = dict.fromkeys(labels, 0)
    for right, found, cluster, weight in zip(known, given, clusters, weights, strict=True):
        if right not in place or (found is not None and found not in place):
            msg = f"labels are {', '.join(labels)}, not {right!r} or {found!r}"
            raise ValueError(msg)
        column = len(labels) if found is None else place[found]
        counts[members[cluster], place[right], column] += weight
        support[right] += 1
    items = list(zip(known, given, clusters, weights, strict=True))
    every = _worth((cluster, weight) for _, _, cluster, weight in items)
    sizes = [every] * 3
    for in_known, in_given in ((False, True), (True, False), (True, True)):
        sizes += [
            _worth(
                (cluster, weight)
                for right, found, cluster, weight in items
                if (in_known and right == label) or (in_given and found == label)
            )
            for label in labels
        ]
    whole = _measures(counts.sum(axis=0)[None])[0].tolist()
    drawn = _drawn(counts, resamples=resamples, seed=seed).T
    accuracy, macro_f1, kappa, *by_label = (
        _measure(value, column, size=size, alpha=alpha)
        for value, column, size in zip(whole, drawn, sizes, strict=True)
    )
    if kappa.value == 1 and accuracy.low is not None:
        shares = counts.sum(axis=(0, 2)) / counts.sum()
        chance = float((shares**2).sum())
        kappa = Measure(value=1.0, low=(accuracy.low - chance) / (1 - chance), high=1.0)
    many = len(labels)
    return Labelling(
        n=len(known),
        missing=sum(found is None for found in given),
        accuracy=accuracy,
        macro_f1=macro_f1,
        kappa=kappa,
        labels=tuple(
            LabelQuality(
                label=label,
                support=support[label],
                precision=by_label[number],
                recall=by_label[many + number],
                f1=by_label[2 * many + number],
            )
            for number, label in enumerate(labels)
        ),
    )


def _worth(items: Iterable[tuple[Hashable, float]]) -> float:
    """Return how many clusters of equal weight these are worth: (Σw)² / Σw² (Kish 1965)."""
    weight: defaultdict[Hashable, float] = defaultdict(float)
    for cluster, one in items:
        weight[cluster] += one
    squares = math.fsum(one * one for one in weight.values())
    return math.fsum(weight.values()) ** 2 / squares if squares else 0.0


def _measure(value: float, drawn: NDArray[np.float64], *, size: float, alpha: float) -> Measure:
    if not math.isfinite(value):
        return Measure(value=None, low=None, high=None)
    kept = drawn[np.isfinite(drawn)]
    if not len(kept):
        return Measure(value=value, low=None, high=None)
    low, high = (float(end) for end in np.quantile(kept, (alpha / 2, 1 - alpha / 2)))
    if low == high and value in {0.0, 1.0}:
        low, high = wilson_interval(value, size, alpha=alpha) or (low, high)
    return Measure(value=value, low=low, high=high)
