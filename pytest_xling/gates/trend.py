"""Decide by how much a metric gets worse from one level of presupposition to the next.

Each claim has a line of its own through its levels, so that a claim that is hard at every level
adds nothing; the slope common to all lines decides. The Cochran-Armitage test of the counts is told
beside it and decides nothing: it takes answers about one claim to be independent.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_xling.errors import EvaluationError
from pytest_xling.gates import wording
from pytest_xling.gates.estimate import check_scores, why_none
from pytest_xling.gates.gap import NOISE, skewed_low
from pytest_xling.gates.level import size_to_decide
from pytest_xling.gates.pairing import cluster_of
from pytest_xling.records import Estimate
from pytest_xling.stats.paired_means import paired_mean
from pytest_xling.stats.trend import cochran_armitage, slopes, steepest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_xling.interfaces.metric import Better, MetricKind
    from pytest_xling.records import Outcome, Score, Threshold

_NO_SPREAD = "all slopes are equal: no spread is known"
_NO_SLOPES = "no spread is known; needs 2 claims"


def trend_estimate(
    scores: Sequence[Score],
    *,
    metric: str,
    language: str,
    better: Better,
    alpha: float,
    kind: MetricKind = "number",
    margin: float = 0.0,
    widest: float | None = None,
) -> Estimate:
    """Estimate by how much a metric gets worse per level: the slope within claims.

    What a claim has at a level (repeats, temperatures) is averaged first; then each claim's levels
    are compared with each other (:func:`pytest_xling.stats.trend.slopes`). Claims with fewer than
    two levels are left out and counted.

    Args:
        scores: in *language*, in any order.
        metric: the metric all of them are of.
        language: the language all of them are in.
        better: which end of the metric is good.
        alpha: the interval misses with this probability, both sides together.
        kind: with ``flag`` the values are 0 or 1, and the interval never has no width: a claim that
            rises as steeply as can be and one that falls so are thought added.
        margin: the slope that is allowed; the p value is of the distance from there.
        widest: how far apart two numbers can be; None where that is not known.

    Returns:
        The slope is above 0 where later levels are worse. ``n`` are the claims with a slope.

    Raises:
        EvaluationError: scores of different signatures, metrics or languages are mixed; one answer
            is there twice; a value is not finite.
    """
    check_scores(scores, metric=metric, language=language)
    sign = -1.0 if better == "higher" else 1.0
    claims = _by_level(scores)
    worse = [sign * rise for rise in _slopes(claims).values()]
    unscored = len({cluster_of(score) for score in scores}) - len(worse)
    if not worse:
        scored = any(score.value is not None for score in scores)
        return Estimate.none(
            "no claim has values at two levels" if scored else why_none(scores),
            metric=metric,
            language=language,
            unscored=unscored,
            trend=True,
            share=kind == "flag",
        )
    flag = kind == "flag"
    most = steepest({level for at in claims.values() for level in at})
    reach = 1.0 if flag else widest
    # What stands for a claim may be beyond what its slope can be.
    furthest = None if reach is None else max(reach * most, *map(abs, worse))
    slope = paired_mean(
        worse, alpha=alpha, rates=flag, widest=furthest, lost=None if flag else furthest
    )
    made = Estimate(
        metric=metric,
        language=language,
        value=slope.mean,
        low=_possible(slope.low, most, kind),
        high=_possible(slope.high, most, kind),
        n=slope.n,
        unscored=unscored,
        signature=next(score.signature for score in scores if score.value is not None),
        trend=True,
        share=kind == "flag",
        p=slope.p(margin + NOISE),
        tested=_by_counts(scores) if kind == "flag" else _by_means(claims),
    )
    if flag:
        return made
    if not slope.even:
        return replace(made, skewed_low=skewed_low(worse, alpha=alpha))
    if widest is not None:
        return replace(made, error=slope.error)
    # What does not differ at all is no sign of a difference.
    return replace(made, p=1.0 if abs(slope.mean) <= NOISE else None, reason=_NO_SPREAD)


def claim_slopes(scores: Sequence[Score]) -> dict[tuple[str, str], float]:
    """Return by how much each claim with values at two levels or more rises per level.

    As :func:`pytest_xling.stats.trend.slopes`: their mean is the slope common to all.
    """
    return _slopes(_by_level(scores))


def _slopes(claims: Mapping[tuple[str, str], Mapping[int, float]]) -> dict[tuple[str, str], float]:
    steep = {claim: at for claim, at in sorted(claims.items()) if len(at) > 1}
    return dict(zip(steep, slopes(list(steep.values())), strict=True))


def _possible(end: float | None, most: float, kind: MetricKind) -> float | None:
    """Return the end of an interval; of rates none is steeper than the steepest."""
    return end if end is None or kind != "flag" else max(-most, min(most, end))


def _by_level(scores: Sequence[Score]) -> dict[tuple[str, str], dict[int, float]]:
    """Return for each claim the mean at each level that has a value."""
    values: defaultdict[tuple[str, str], defaultdict[int, list[float]]]
    values = defaultdict(lambda: defaultdict(list))
    for score in scores:
        if score.value is None or score.level is None:
            continue
        if not math.isfinite(score.value):
            msg = (
                f"{score.metric!r} gave {score.value!r}; a metric gives a number, or None and a "
                "reason"
            )
            raise EvaluationError(msg)
        values[cluster_of(score)][score.level].append(score.value)
    return {
        claim: {
            level: math.fsum(level_values) / len(level_values)
            for level, level_values in sorted(at.items())
        }
        for claim, at in values.items()
    }


def _by_counts(scores: Sequence[Score]) -> str:
    """Word the rates by level and what Cochran and Armitage make of the counts."""
    raised: defaultdict[int, list[float]] = defaultdict(list)
    for score in scores:
        if score.value is not None and score.level is not None:
            raised[score.level].append(score.value)
    counts = [(int(sum(flags)), len(flags)) for _, flags in sorted(raised.items())]
    rates = " ".join(wording.percent(r / n) if n else wording.NONE for r, n in counts)
    test = cochran_armitage(counts)
    if test.z is None or test.p is None:
        return f"by level {rates}"
    return f"by level {rates}, Cochran-Armitage z = {test.z:.2f}, p {wording.p_value(test.p)}"


def _by_means(claims: Mapping[tuple[str, str], Mapping[int, float]]) -> str:
    means: defaultdict[int, list[float]] = defaultdict(list)
    for at in claims.values():
        for level, mean in at.items():
            means[level].append(mean)
    figures = (
        f"{math.fsum(level_means) / len(level_means):.3g}"
        for _, level_means in sorted(means.items())
    )
    return f"by level {' '.join(figures)}"


def decide_trend(estimate: Estimate, threshold: Threshold, limit: float) -> tuple[Outcome, str]:
    """Decide on a trend, and say why.

    Pass: the whole interval is within the limit, of ``min_n`` claims or more. Fail: the whole
    interval is beyond it, however few there are. Else inconclusive.

    Args:
        estimate: made by :func:`trend_estimate` with the threshold's alpha and the limit as its
            margin.
        threshold: says how to decide.
        limit: its ``max_trend``.
    """
    few = wording.too_few(estimate, threshold, of="claims at two levels or more")
    trend, low, high = estimate.value, estimate.low, estimate.high
    if trend is None:
        return "inconclusive", few or "the trend is unknown"
    plural = "" if estimate.n == 1 else "s"
    lone = f", {estimate.unscored} without a slope" if estimate.unscored else ""
    figures = wording.Figures.of(estimate, limit=limit)
    seen = (
        f"{figures.change(trend, noise=NOISE)} per level on {estimate.n} claim{plural}{lone}"
        f"{wording.by_labels(estimate)}"
    )
    if low is None or high is None:
        return "inconclusive", f"{seen}; {few or estimate.reason or _NO_SLOPES}"
    seen += (
        f" ({wording.interval(*figures.ends(low, high), threshold.alpha)});"
        f"{estimate.tested and f' {estimate.tested};'}"
        f" may be {figures.limit(limit)} worse per level"
    )
    if low > limit + NOISE:
        return "fail", f"{seen}: exceeded"
    if few:
        return "inconclusive", f"{seen}; {few}"
    if high <= limit + NOISE:
        return "pass", seen
    return "inconclusive", f"{seen}; {_what_would_decide(estimate, threshold, limit)}"


def _what_would_decide(estimate: Estimate, threshold: Threshold, limit: float) -> str:
    """Say how many claims, or labels of people, would decide."""
    trend, low, high = estimate.value, estimate.low, estimate.high
    if trend is None or low is None or high is None:
        return ""
    if estimate.labelled:
        return wording.labels_needed(estimate, limit)
    if estimate.error is None:
        half, distance = (high - low) / 2, abs(trend - limit)
        near = distance <= half / wording.UNDECIDABLE
        size = math.inf if near else estimate.n * (half / distance) ** 2
    else:
        size = size_to_decide(estimate, (limit,), alpha=threshold.alpha)
    return wording.needed(size, estimate.n, of="claims")
