"""Decide on the rate of a flag, or of bad cases, by the budget it may use up."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from pytest_xling.gates import wording
from pytest_xling.stats.rate_intervals import size_behind, size_to_exclude, size_to_pass

if TYPE_CHECKING:
    from pytest_xling.records import Estimate, Outcome, Threshold


def tolerated(*thresholds: Threshold | None) -> bool:
    """Tell whether a single flagged answer is expected to occur (xfail), the rate gate deciding.

    Without a budget, or where one of the gates it counts for has a budget of 0, it fails its own
    case. Advisory gates fail none: where there are no others, all is tolerated.

    Args:
        thresholds: of the gates it counts for, such as that of all levels and that of its own.
    """
    there = [limits for limits in thresholds if limits is not None]
    blocking = [limits for limits in there if limits.tier == "block"]
    if there and not blocking:
        return True
    given = [limits.max_rate for limits in blocking if limits.max_rate is not None]
    # One flag makes no bad case where more repeats may be flagged, or some cases may be bad.
    given += [
        limits.max_cases + (limits.max_flagged or 0)
        for limits in blocking
        if limits.max_cases is not None
    ]
    return bool(given) and all(given)


def decide_rate(estimate: Estimate, threshold: Threshold, budget: float) -> tuple[Outcome, str]:
    """Decide on a rate by ``max_rate``, or of bad cases by ``max_cases``, and say why.

    Pass: the whole interval is within the budget, of ``min_n`` answers or more. Fail: the whole
    interval is above it, however few there are: it is exact for any number. Else inconclusive.

    A budget of 0 is a rule and not an estimate, since no interval ever ends at 0: one flagged
    answer fails it, however few there are, and ``min_n`` answers without a flag pass.

    Args:
        estimate: made with the threshold's alpha.
        threshold: says how to decide.
        budget: its ``max_rate`` or ``max_cases``.
    """
    few = wording.too_few(estimate, threshold, of=_of(estimate))
    rate, low, high = estimate.value, estimate.low, estimate.high
    if rate is None or low is None or high is None:
        return "inconclusive", few or estimate.reason or "the rate has no interval"
    seen = (
        f"{estimate.flagged} of {estimate.n} {_flagged(estimate, threshold)}"
        f"{wording.unscored(estimate)}: {wording.percent(rate)}"
        f" ({wording.interval(wording.percent(low), wording.percent(high), threshold.alpha)});"
        f"{estimate.tested and f' {estimate.tested};'}"
        f" budget {wording.Figures.of(estimate).limit(budget)}"
    )
    if budget == 0 and estimate.flagged:
        return "fail", f"{seen}: none is tolerated"
    if low > budget:
        return "fail", f"{seen} exceeded"
    if few:
        passing = _passing(estimate, threshold, budget) if budget else ""
        return "inconclusive", f"{seen}; {few}{passing and f'; {passing}'}"
    if high <= budget or (budget == 0 and not estimate.unknown):
        return "pass", seen
    return "inconclusive", f"{seen}; {_what_would_decide(estimate, threshold, budget)}"


def _what_would_decide(estimate: Estimate, threshold: Threshold, budget: float) -> str:
    if estimate.labelled:
        return wording.labels_needed(estimate, budget)
    if estimate.unknown:
        return f"needs a value of all {threshold.repeats} repeats of a case"
    rate, n = estimate.value, estimate.n
    worth = _worth(estimate, threshold)
    if rate is None or not worth:
        return ""
    if not rate and (passing := _passing(estimate, threshold, budget)):
        return f"{passing}; has {n}{_alike(worth, n, of=_of(estimate))}"
    answers = size_to_exclude(rate, budget, alpha=threshold.alpha) * n / worth
    return wording.needed(answers, n, of=_of(estimate)) + _alike(worth, n, of=_of(estimate))


def _passing(estimate: Estimate, threshold: Threshold, budget: float) -> str:
    """Say how many answers it takes to pass; empty where min_n do, or any number are too few."""
    rate, n = estimate.value, estimate.n
    worth = _worth(estimate, threshold)
    if rate is None or not worth:
        return ""
    size = size_to_pass(rate * worth, budget, alpha=threshold.alpha) * n / worth
    if size <= threshold.min_n or size > wording.UNDECIDABLE * n:
        return ""
    # What the answers are worth is read from their interval, but for rounding.
    answers = math.ceil(size - 1e-6)
    bad, none = ("bad", "bad one") if estimate.per_case else ("flagged", "flag")
    some = (
        f"with no more than {estimate.flagged} {bad}" if estimate.flagged else f"without a {none}"
    )
    return f"passing takes {answers} {_of(estimate)} {some}"


def _worth(estimate: Estimate, threshold: Threshold) -> float:
    """Return how many independent answers the interval takes the answers to be; 0 where none.

    That is not known where cases are unknown, which make it wider.
    """
    rate, low, high = estimate.value, estimate.low, estimate.high
    if rate is None or low is None or high is None or estimate.unknown:
        return 0.0
    return min(float(estimate.n), size_behind(rate, low, high, alpha=threshold.alpha))


def _alike(worth: float, n: int, *, of: str) -> str:
    if round(worth) >= n:
        return ""
    return f", worth {round(worth)} since {of} to one question are alike"


def _of(estimate: Estimate) -> str:
    """Say what the rate is of."""
    return "cases" if estimate.per_case else "answers"


def _flagged(estimate: Estimate, threshold: Threshold) -> str:
    """Say what is counted: ``cases with more than 1 of 5 flagged``."""
    if not estimate.per_case:
        return "answers flagged"
    unknown = f", {estimate.unknown} unknown" if estimate.unknown else ""
    return f"cases with more than {threshold.max_flagged} of {threshold.repeats} flagged{unknown}"
