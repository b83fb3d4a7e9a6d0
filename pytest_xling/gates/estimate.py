"""From scores to an estimate with its interval."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

from pytest_xling.errors import EvaluationError
from pytest_xling.gates.pairing import cluster_of
from pytest_xling.interfaces.metric import within
from pytest_xling.records import ALL_LANGUAGES, LARGEST, Estimate
from pytest_xling.stats.distributions import p_by_interval
from pytest_xling.stats.mean import mean_interval
from pytest_xling.stats.rate_intervals import ClusteredRate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_xling.interfaces.metric import Bounds, MetricKind
    from pytest_xling.records import Score

NO_SPREAD = "all values are equal, and how far others may be is not known: no spread is known"
ONE_QUESTION = "all answers are to one question: no spread is known; needs 2 questions"


def estimate(
    scores: Sequence[Score],
    *,
    metric: str,
    language: str,
    kind: MetricKind,
    alpha: float,
    bounds: Bounds = (None, None),
    limits: Sequence[float] = (),
) -> Estimate:
    """Estimate the rate of a flag, or the mean of a number.

    Scores without a value are left out and counted. Answers to one question, repeated, at several
    temperatures or about several samples (and in several languages, where *language* is ``all``),
    count as one cluster.

    Args:
        scores: one per answer, in any order.
        metric: the metric all of them are of.
        language: the language all of them are in, or ``all``.
        kind: ``flag`` gives an exact interval, ``number`` that of a mean of skewed values.
        alpha: the interval misses with this probability, both sides together.
        bounds: of a number's values. What is not seen may be as bad as they allow.
        limits: what it will be judged by. The p value is of being on one of them, by the test that
            the interval is made of; without limits there is none.

    Raises:
        EvaluationError: scores of different signatures, metrics or languages are mixed; one answer
            is there twice; a value is not finite, too large or out of bounds, or a flag's is
            neither 0 nor 1.
    """
    check_scores(scores, metric=metric, language=language)
    # In one order, so that rounding does not depend on the order answers came in.
    scored = sorted((cluster_of(score), score.value) for score in scores if score.value is not None)
    unscored = len(scores) - len(scored)
    if not scored:
        return Estimate.none(
            why_none(scores),
            metric=metric,
            language=language,
            unscored=unscored,
            share=kind == "flag",
        )
    clusters = [cluster for cluster, _ in scored]
    values = [value for _, value in scored]
    check_values(values, metric=metric, kind=kind, bounds=bounds)
    mean = math.fsum(values) / len(values)
    low = high = error = None
    reason = ""
    ps: list[float] = []
    if kind == "flag":
        rate = ClusteredRate(values, clusters)
        low, high = rate.interval(alpha=alpha)
        ps = [rate.p(limit) for limit in limits]
    elif around := mean_interval(values, clusters, alpha=alpha, bounds=bounds):
        low, high, error = around.low, around.high, around.error
        ps = [_p_of_mean(values, clusters, limit, bounds=bounds) for limit in limits]
    else:
        reason = NO_SPREAD if len(set(clusters)) > 1 else ONE_QUESTION
    return Estimate(
        metric=metric,
        language=language,
        value=mean,
        low=low,
        high=high,
        n=len(values),
        unscored=unscored,
        flagged=int(sum(values)) if kind == "flag" else 0,
        signature=next(score.signature for score in scores if score.value is not None),
        p=max(ps, default=None),
        share=kind == "flag",
        error=error,
        reason=reason,
    )


def _p_of_mean(
    values: Sequence[float], clusters: Sequence[object], limit: float, *, bounds: Bounds
) -> float:
    """Return how likely a mean is so far from *limit* by chance, by its interval."""

    def interval(alpha: float) -> tuple[float, float] | None:
        around = mean_interval(values, clusters, alpha=alpha, bounds=bounds)
        return (around.low, around.high) if around else None

    return p_by_interval(interval, limit)


def check_scores(scores: Sequence[Score], *, metric: str, language: str) -> None:
    """Refuse scores that cannot be put together.

    Args:
        scores: one per answer, in any order.
        metric: the metric all of them should be of.
        language: the language all of them should be in, or ``all``.

    Raises:
        EvaluationError: scores of different signatures, metrics or languages are mixed; one answer
            is there twice.
    """
    for score in scores:
        if score.metric != metric or language not in (score.language, ALL_LANGUAGES):
            msg = (
                f"a score of {score.metric!r} in {score.language!r} does not belong to the estimate"
                f" of {metric!r} in {language!r}"
            )
            raise EvaluationError(msg)
    answers = Counter((s.benchmark, s.sample_id, s.language, s.condition) for s in scores)
    if answers and (common := answers.most_common(1)[0])[1] > 1:
        msg = f"{metric!r} has {common[1]} scores for one answer, {'/'.join(common[0])!r}"
        raise EvaluationError(msg)
    signatures = sorted({score.signature for score in scores if score.value is not None})
    if len(signatures) > 1:
        listed = "; ".join(repr(signature) for signature in signatures)
        msg = (
            f"scores of {metric!r} were made in different ways and cannot be put together:"
            f" {listed}. Score all answers again with one version{_unsorted(signatures)}"
        )
        raise EvaluationError(msg)


def _unsorted(signatures: Sequence[str]) -> str:
    """Say why processes may sign one function of the user's in different ways; "" of others."""
    if not all("|source:" in signature for signature in signatures):
        return ""
    return (
        "; where one run made them, a value that the function names is another in each process: "
        "sort what is made of a set, such as '|'.join(sorted(WORDS))"
    )


def check_values(values: Sequence[float], *, metric: str, kind: MetricKind, bounds: Bounds) -> None:
    """Refuse values that the metric cannot have.

    Raises:
        EvaluationError: one is not finite, too large or out of bounds, or a flag's is neither 0
            nor 1.
    """
    lowest, highest = bounds
    for value in values:
        if not abs(value) <= LARGEST:  # NaN, too
            msg = (
                f"{metric!r} gave {value!r}; a metric gives a number, or None and a reason, and no "
                f"number beyond {LARGEST:g}"
            )
            raise EvaluationError(msg)
        if kind == "flag" and value not in (0, 1):
            msg = f"{metric!r} gave {value!r}; a flag is 1.0 or 0.0"
            raise EvaluationError(msg)
        if not within(value, bounds):
            msg = f"{metric!r} gave {value!r}, and its bounds are {lowest} and {highest}"
            raise EvaluationError(msg)


def why_none(scores: Sequence[Score]) -> str:
    """Say why none of *scores* has a value."""
    if not scores:
        return "no answers"
    reasons = Counter(score.reason or "no reason given" for score in scores)
    # The commonest; of equally common ones the first in the alphabet, whatever the order.
    reason, count = min(reasons.items(), key=lambda item: (-item[1], item[0]))
    of = f"{count} of them: " if len(reasons) > 1 else ""
    return f"none of {len(scores)} answers could be scored; {of}{reason}"
