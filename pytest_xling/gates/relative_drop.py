"""By what share of its baseline a model is worse: 10 % where 0.90 becomes 0.81."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_xling.gates.gap import NO_SPREAD, NOISE, most_lost, skewed_low
from pytest_xling.gates.pairing import answer_pairs, paired_questions
from pytest_xling.gates.wording import Figures
from pytest_xling.stats.paired_means import paired_mean
from pytest_xling.stats.paired_ratios import mean_ratio, rate_ratio

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_xling.interfaces.metric import Better, MetricKind
    from pytest_xling.records import Estimate, Score
    from pytest_xling.stats.paired_ratios import MeanRatio, RateRatio


def relative_drop(
    absolute: Estimate,
    scores: Sequence[Score],
    baseline_scores: Sequence[Score],
    *,
    better: Better,
    alpha: float,
    kind: MetricKind = "number",
    margin: float = 0.0,
    widest: float | None = None,
) -> Estimate:
    """Estimate how much of what the baseline has is lost; of what is better low, how much is added.

    Args:
        absolute: the drop in the metric's units, of the same scores
            (:func:`pytest_xling.gates.drop.drop_estimate`).
        scores: of the run.
        baseline_scores: of the same questions.
        better: which end of the metric is good.
        alpha: the interval misses with this probability, both sides together.
        kind: ``flag`` for rates.
        margin: the share that may be lost. The p value is of the distance from there.
        widest: how far apart two numbers can be; None where that is not known.

    Returns:
        Without a value where the baseline's mean is 0 or has an interval that reaches 0: of what
        may be nothing no share is known. Without an interval where all numbers differ by the same
        share and it is not known how far others could be.
    """
    sides = paired_questions(scores, baseline_scores)
    means = list(sides.values())
    made = replace(
        absolute,
        value=None,
        low=None,
        high=None,
        p=None,
        error=None,
        skewed_low=None,
        relative=True,
        share=True,
    )
    if len(means) < 2:  # noqa: PLR2004  spread needs two
        return replace(made, reason=absolute.reason or "no spread is known; needs 2 questions")
    sign = 1.0 if better == "higher" else -1.0
    ratio: MeanRatio | RateRatio = mean_ratio(means)
    now, then = ratio.first, ratio.second
    figures = Figures.fitting([now, then], share=kind == "flag")
    seen = f"{figures.value(now)} after {figures.value(then)}"
    if kind == "flag" and then:
        pairs = answer_pairs(scores, baseline_scores)
        # A question whose repeats have no partner by number still has its mean.
        ratio = rate_ratio([pairs.get(question, [mean]) for question, mean in sides.items()], means)
    ends = ratio.interval(alpha=alpha) if then else None
    if ends is None:
        nothing = "interval reaches" if then else "mean is"
        reason = f"{seen}: the baseline's {nothing} 0, of which no share is known"
        return replace(made, reason=f"{reason}; limit the drop in the metric's units")
    made = replace(
        made,
        value=sign * (1 - now / then),
        tested="; ".join(filter(None, (seen, absolute.tested))),
    )
    if kind != "flag" and paired_mean([a - now / then * b for a, b in means]).even:
        lost = most_lost([b for _, b in means], better=better, widest=widest)
        drop = paired_mean(
            [sign * (then - now)] * len(means), alpha=alpha, widest=widest, lost=lost
        )
        if drop.low is None or drop.high is None:
            # What does not differ at all is no sign of a difference.
            p = 1.0 if abs(drop.mean) <= NOISE else None
            return replace(made, p=p, reason=NO_SPREAD)
        p = drop.p((margin + NOISE) * then)
        return replace(made, low=drop.low / then, high=drop.high / then, p=p)
    limit = 1 - sign * (margin + NOISE)
    low, high = sorted(sign * (1 - end) for end in ends)
    made = replace(made, low=low, high=high, p=ratio.p(limit))
    if kind == "flag":
        return made
    if better == "higher":
        # Answers not seen may have lost all there is, as where the units are the metric's.
        worst = paired_mean([1 - now / then] * len(means), alpha=alpha, widest=1.0)
        made = replace(made, high=max(high, worst.high or high))
    beyond = skewed_low([sign * (limit * b - a) for a, b in means], alpha=alpha)
    return replace(made, skewed_low=None if beyond is None else margin + beyond / then)
