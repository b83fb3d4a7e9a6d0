"""From an estimate and a threshold to a verdict, and what the verdict does to the release."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_xling.gates.level import judge_level
from pytest_xling.gates.rate import judge_rate

if TYPE_CHECKING:
    from pytest_xling.records import Estimate, Threshold, Verdict

__all__ = ["blocks", "judge"]


def judge(estimate: Estimate, threshold: Threshold, *, case: str) -> Verdict:
    """Judge an estimate by the kind of limit its threshold has.

    Args:
        estimate: made with the threshold's alpha.
        threshold: with ``max_rate``, or with ``floor`` or ``ceiling`` or both.
        case: name of the gate's case.

    Raises:
        ValueError: the threshold has no limit.
    """
    if threshold.max_rate is not None:
        return judge_rate(estimate, threshold, case=case)
    return judge_level(estimate, threshold, case=case)


def blocks(verdict: Verdict) -> bool:
    """Tell whether the verdict closes the gate; an inconclusive one does unless told to warn."""
    if verdict.outcome == "inconclusive":
        return verdict.threshold.on_inconclusive == "fail"
    return verdict.outcome != "pass"
