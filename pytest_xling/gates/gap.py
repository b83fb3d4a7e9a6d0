"""Decide by how much a language is worse than the pivot language, on the same questions.

A gap is paired: each question is compared with its own parallel, so that a hard one is hard on both
sides. What differs between questions but not between languages then drops out. The interval of the
mean difference decides: of numbers Student's, of shares Tango's. To fail, shares must be beyond the
limit by the exact test, too, since where few pairs differ Tango's errs up to twice as often as it
says. McNemar's exact test is told beside that and decides nothing. Numbers whose differences are
all equal, also where nothing differs at all, are judged by how far others could be.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_xling.errors import EvaluationError
from pytest_xling.gates import wording
from pytest_xling.gates.estimate import check_scores, why_none
from pytest_xling.gates.level import size_to_decide
from pytest_xling.gates.pairing import answer_pairs, cluster_of, paired_questions
from pytest_xling.records import Estimate
from pytest_xling.stats.distributions import two_sided_t
from pytest_xling.stats.mcnemar import Discordance, mcnemar
from pytest_xling.stats.mean import mean_interval
from pytest_xling.stats.paired_means import POWER, detectable, paired_mean
from pytest_xling.stats.tango import rate_difference

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_xling.interfaces.metric import Better, MetricKind
    from pytest_xling.records import Outcome, Score, Threshold
    from pytest_xling.stats.mcnemar import McNemar

NOISE = 1e-6
"""Gaps are not told apart closer than this: encoders compute in 32 bits, so that the similarity of
equal texts may be 1 in one language and 1 - 6e-8 in another."""

NO_SPREAD = "all differences are equal: no spread is known"


def gap_estimate(
    scores: Sequence[Score],
    pivot_scores: Sequence[Score],
    *,
    metric: str,
    language: str,
    pivot: str,
    better: Better,
    alpha: float,
    kind: MetricKind = "number",
    margin: float = 0.0,
    widest: float | None = None,
) -> Estimate:
    """Estimate by how much *language* is worse than *pivot*: the mean over paired questions.

    Of each question all that both languages have is averaged, as
    :func:`pytest_xling.gates.pairing.paired_means` says; the interval is one of the mean of the
    differences.

    Args:
        scores: in *language*, in any order.
        pivot_scores: of the same metric in *pivot*.
        metric: the metric all of them are of.
        language: the language that may be worse.
        pivot: the language it is compared with.
        better: which end of the metric is good.
        alpha: the interval misses with this probability, both sides together.
        kind: with ``flag`` the gap is one of rates, and its interval never has no width.
        margin: the gap that is allowed. The p value is of the distance from there, by the test that
            the interval is made of; of shares beyond it the larger of that and the exact test's.
        widest: how far apart two numbers can be; None where that is not known.

    Returns:
        The gap is above 0 where *language* is worse. ``n`` are the paired questions, and
        ``unscored`` those of *language* without a partner or without a value. Without an interval
        where there is one question, or numbers differ everywhere by the same amount and it is not
        known how far others could be.

    Raises:
        EvaluationError: scores of different signatures, metrics or languages are mixed; one answer
            is there twice; a value is not finite.
    """
    check_scores(scores, metric=metric, language=language)
    check_scores(pivot_scores, metric=metric, language=pivot)
    sign = 1.0 if better == "higher" else -1.0
    sides = paired_questions(scores, pivot_scores)
    means = {question: sign * (there - here) for question, (here, there) in sides.items()}
    differences = list(means.values())
    unscored = len({cluster_of(score) for score in scores}) - len(differences)
    if not differences:
        return Estimate.none(
            _why_none(scores, pivot_scores, pivot),
            metric=metric,
            language=language,
            pivot=pivot,
            unscored=unscored,
            share=kind == "flag",
        )
    made = Estimate(
        metric=metric,
        language=language,
        pivot=pivot,
        value=math.fsum(differences) / len(differences),
        low=None,
        high=None,
        n=len(differences),
        unscored=unscored,
        signature=_signature(scores, pivot_scores),
        share=kind == "flag",
    )
    if kind != "flag":
        lost = most_lost([there for _, there in sides.values()], better=better, widest=widest)
        mean_gap = paired_mean(differences, alpha=alpha, widest=widest, lost=lost)
        if mean_gap.even and mean_gap.low is None:
            # What does not differ at all is no sign of a difference.
            return replace(made, p=1.0 if abs(mean_gap.mean) <= NOISE else None, reason=NO_SPREAD)
        return replace(
            made,
            low=mean_gap.low,
            high=mean_gap.high,
            p=mean_gap.p(margin + NOISE),
            error=mean_gap.error if mean_gap.even else None,
            skewed_low=skewed_low(differences, alpha=alpha),
        )
    pairs = {
        question: [sign * (there - here) for here, there in both]
        for question, both in answer_pairs(scores, pivot_scores).items()
    }
    made = replace(made, tested=_counted(_mcnemar(pairs, mid=not margin), pivot))
    if len(differences) < 2:  # noqa: PLR2004  one question says nothing of others
        return made
    # A question whose repeats have no partner by number still has its mean.
    clusters = [pairs.get(question, [mean]) for question, mean in means.items()]
    rates = rate_difference(clusters, differences)
    low, high = rates.interval(alpha=alpha)
    p = rates.p(margin + NOISE)
    if low > margin + NOISE:
        p = max(p, min(1.0, 2 * rates.exact_p(margin + NOISE)))
    return replace(made, low=low, high=high, p=p)


def most_lost(others: Sequence[float], *, better: Better, widest: float | None) -> float | None:
    """Return how much worse answers not seen are thought to be: as if they lost all there is.

    Of numbers that are better high that is what the other side has on average, a similarity or
    share of .9 say; of others as far as two numbers can be apart.

    Args:
        others: of the pivot, or the baseline.
        better: which end of the metric is good.
        widest: how far apart two numbers can be; None where that is not known.
    """
    if better == "lower":
        return widest
    most = abs(math.fsum(others) / len(others))
    return most if widest is None else min(most, widest)


def skewed_low(differences: Sequence[float], *, alpha: float) -> float | None:
    """Return the lower end of a mean however skewed they are; None without a spread."""
    around = mean_interval(differences, range(len(differences)), alpha=alpha)
    return around.low if around else None


def _mcnemar(pairs: Mapping[tuple[str, str], Sequence[float]], *, mid: bool) -> McNemar:
    """Test the pairs of answers, clustered by question; above 0 this language is worse."""
    clusters = [
        Discordance(
            first=sum(w > 0 for w in worse), second=sum(w < 0 for w in worse), pairs=len(worse)
        )
        for worse in pairs.values()
    ]
    return mcnemar(clusters, mid=mid)


def _counted(test: McNemar, pivot: str) -> str:
    """Word McNemar's test: ``worse only here 9, only in en 2: McNemar p = .065``."""
    alone = test.method in {"binomial", "mid-p"}
    how = "" if alone else f", clustered by question ({test.method})"
    p = "mid-p" if test.method == "mid-p" else "p"
    counts = f"worse only here {test.first}, only in {pivot} {test.second}"
    return f"{counts}: McNemar {p} {wording.p_value(test.p)}{how}"


def decide_gap(estimate: Estimate, threshold: Threshold, limit: float) -> tuple[Outcome, str]:
    """Decide on a gap to the pivot language, or a drop from the baseline, and say why.

    Pass: the whole interval is within the limit, of ``min_n`` paired questions or more. Fail: the
    whole interval is beyond it, however few there are, and the p is below alpha, so that the
    language, or the model, is worse both significantly and by more than is allowed. Else, and where
    numbers differ everywhere by the same amount, inconclusive.

    Args:
        estimate: made by :func:`gap_estimate`, or of the same build, with the threshold's alpha and
            the limit as its margin.
        threshold: says how to decide.
        limit: its ``max_gap`` or ``max_drop``.
    """
    called, both = ("drop", "runs") if estimate.baseline else ("gap", "languages")
    few = wording.too_few(estimate, threshold, of=f"questions in both {both}")
    gap, low, high = estimate.value, estimate.low, estimate.high
    if gap is None:
        return "inconclusive", few or f"the {called} is unknown"
    than = estimate.baseline or estimate.pivot
    figures = wording.Figures.of(estimate, limit=limit)
    seen = (
        f"{figures.change(gap, noise=NOISE)} than {than} on {_questions(estimate)}"
        f"{wording.by_labels(estimate)}"
    )
    if low is None or high is None:
        lacks = few or estimate.reason or "no spread is known; needs 2 questions"
        return "inconclusive", f"{seen}; {lacks}"
    seen += (
        f" ({called}'s {wording.interval(*figures.ends(low, high), threshold.alpha)});"
        f"{estimate.tested and f' {estimate.tested};'} may be {figures.limit(limit)} worse"
    )
    p = 0.0 if estimate.p is None else estimate.p
    if low > limit + NOISE and p < threshold.alpha:
        return "fail", f"{seen}: exceeded"
    if low > limit + NOISE:
        few = f"not beyond it by the exact test, one-sided p {wording.p_value(p / 2)}"
    if few:
        return "inconclusive", f"{seen}; {few}"
    if high <= limit + NOISE:
        return "pass", seen
    return "inconclusive", f"{seen}; {_what_would_decide(estimate, threshold, limit)}"


def _what_would_decide(estimate: Estimate, threshold: Threshold, limit: float) -> str:
    """Say how many questions would decide, and from where on these show a gap to be too large."""
    gap, low, high, n = estimate.value, estimate.low, estimate.high, estimate.n
    called = "drop" if estimate.baseline else "gap"
    if gap is None or low is None or high is None:
        return ""
    if estimate.labelled:
        return wording.labels_needed(estimate, limit)
    figures = wording.Figures.of(estimate, limit=limit)
    if estimate.error is not None:
        size = size_to_decide(estimate, (limit,), alpha=threshold.alpha)
        return wording.needed(size, n, of="questions")
    # Of numbers the upper end also has room for what is not seen, which shrinks with their number.
    half = (high - low) / 2 if estimate.skewed_low is None else gap - low
    distance = abs(gap - limit)
    size = n * (half / distance) ** 2 if distance > half / wording.UNDECIDABLE else math.inf
    if gap < limit:
        size = max(size, n * (high - gap - half) / distance)
    least = detectable(half / two_sided_t(threshold.alpha, n - 1), n, alpha=threshold.alpha)
    return (
        f"{wording.needed(size, n, of='questions')}; detects {called}s from"
        f" {figures.value(limit + least)} on"
        f" with {100 * POWER:g}% power"
    )


def _questions(estimate: Estimate) -> str:
    plural = "" if estimate.n == 1 else "s"
    lone = f", {estimate.unscored} without a partner" if estimate.unscored else ""
    return f"{estimate.n} question{plural}{lone}"


def _signature(scores: Sequence[Score], pivot_scores: Sequence[Score]) -> str:
    """Return the one signature of all values.

    Raises:
        EvaluationError: there are several.
    """
    made = {s.signature for s in (*scores, *pivot_scores) if s.value is not None}
    if len(made) > 1:
        listed = "; ".join(repr(signature) for signature in sorted(made))
        msg = (
            f"scores of {scores[0].metric!r} were made in different ways and cannot be compared:"
            f" {listed}. Score all answers again with one version"
        )
        raise EvaluationError(msg)
    return made.pop()


def _why_none(scores: Sequence[Score], pivot_scores: Sequence[Score], pivot: str) -> str:
    if not pivot_scores:
        return f"no answers in {pivot} to compare with"
    for side, where in ((scores, ""), (pivot_scores, f"{pivot}: ")):
        if all(score.value is None for score in side):
            return f"{where}{why_none(side)}"
    if {score.sample_id for score in scores}.isdisjoint(score.sample_id for score in pivot_scores):
        return f"no id here is also one of {pivot}; versions of a question share their id"
    return f"no question has a value both here and in {pivot} at one temperature"
