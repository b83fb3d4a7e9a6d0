"""Decide nothing by an annotator that is known to err too often, or not known at all."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_xling.records import Verdict

__all__ = ["distrusted"]


def distrusted(
    verdict: Verdict, *, f1: float | None, low: float | None = None, reason: str
) -> Verdict:
    """Return *verdict*, inconclusive if the annotator it rests on does not reach ``min_judge_f1``.

    An error stays one: there scores are missing, whoever made them.

    Args:
        verdict: of a gate.
        f1: macro F1 of the annotator on labelled answers in the verdict's language; None where it
            has not been measured.
        low: lower end of its interval; told where it is known.
        reason: who the annotator is and what is known of it, such as "the annotator stance_head has
            F1 0.52 in hi (calibrated on 46 labelled answers)".
    """
    least = verdict.threshold.min_judge_f1
    if least is None or verdict.outcome == "error" or (f1 is not None and f1 >= least):
        return verdict
    if f1 is None:
        demand = f"needs F1 {least:g}"
    else:
        reach = "" if low is None else f" (interval from {low:.2f})"
        demand = f"below {least:g}{reach}"
    told = f"{reason}, {demand}: nothing is decided; {verdict.reason}"
    return replace(verdict, outcome="inconclusive", reason=told)
