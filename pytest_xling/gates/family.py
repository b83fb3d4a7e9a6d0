"""Judge the gates of a family together: among many, some are worse by chance."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_xling.gates import wording
from pytest_xling.stats.p_values import holm

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_xling.records import Verdict

__all__ = ["judge_family"]


def judge_family(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """Let a gate fail only if it would among all of its family.

    Each p value, of the distance from the gate's own limit, is corrected by Holm. A gate that would
    have failed alone and whose corrected p is not below its alpha becomes inconclusive. Gates pass
    as they do alone: to open, all of them have to, and that needs no correction (Berger 1982, on
    intersection-union tests).

    Gates that have no p, or fewer than ``min_n`` to judge by, cannot fail and do not count. A
    family of one is left as it is.

    Args:
        verdicts: each judged alone.
    """
    tested = [
        index
        for index, verdict in enumerate(verdicts)
        if verdict.estimate.p is not None and verdict.estimate.n >= verdict.threshold.min_n
    ]
    judged = list(verdicts)
    if len(tested) < 2:  # noqa: PLR2004  chance has to choose
        return judged
    corrected = holm([verdicts[index].estimate.p or 0.0 for index in tested])
    for index, p in zip(tested, corrected, strict=True):
        judged[index] = _corrected(verdicts[index], p, gates=len(tested))
    return judged


def _corrected(verdict: Verdict, p_holm: float, *, gates: int) -> Verdict:
    estimate = replace(verdict.estimate, p_holm=p_holm)
    if verdict.outcome != "fail" or estimate.p is None:
        return replace(verdict, estimate=estimate)
    told = (
        f"p {wording.p_value(estimate.p)}, after Holm over {gates} gates"
        f" {wording.p_value(p_holm).removeprefix('= ')}"
    )
    if p_holm < verdict.threshold.alpha:
        return replace(verdict, estimate=estimate, reason=f"{verdict.reason} ({told})")
    reason = f"{verdict.reason}, but {told}: may be chance among so many"
    return replace(verdict, outcome="inconclusive", estimate=estimate, reason=reason)
