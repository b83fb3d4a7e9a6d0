"""From an estimate and its limits to a verdict, alone and among all gates of a family."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_xling.gates import wording
from pytest_xling.gates.gap import NOISE, decide_gap
from pytest_xling.gates.level import decide_level
from pytest_xling.gates.rate import decide_rate
from pytest_xling.gates.spec import LIMITS
from pytest_xling.gates.trend import decide_trend
from pytest_xling.records import Verdict
from pytest_xling.stats.p_values import holm

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pytest_xling.gates.spec import GateKind
    from pytest_xling.records import Estimate, Outcome, Threshold


def judge(
    estimate: Estimate, threshold: Threshold, *, case: str, kind: GateKind = "limit"
) -> Verdict:
    """Judge an estimate by what its threshold says of the kind of gate.

    None passes by a minority: where more have no value than have one, it is inconclusive.

    Args:
        estimate: of that kind, made with the threshold's alpha and limit.
        threshold: with ``max_rate``, with ``floor`` or ``ceiling`` or both, or with the limit of
            cases, a gap, a drop or a trend.
        case: name of the gate's case.
        kind: what is judged.

    Raises:
        ValueError: the threshold has no such limit.
    """
    outcome, reason = _decide(estimate, threshold, kind)
    if outcome == "pass" and estimate.unscored > estimate.n:
        asked = estimate.n + estimate.unscored
        outcome = "inconclusive"
        reason = f"{reason}; it has a value for {estimate.n} of {asked}, fewer than half"
    return Verdict(
        case=case, outcome=outcome, estimate=estimate, threshold=threshold, reason=reason
    )


def _decide(estimate: Estimate, threshold: Threshold, kind: GateKind) -> tuple[Outcome, str]:
    if kind == "limit":
        if threshold.max_rate is not None:
            return decide_rate(estimate, threshold, threshold.max_rate)
        if threshold.has_level:
            return decide_level(estimate, threshold)
    elif (limit := getattr(threshold, LIMITS[kind][0])) is not None:
        return _DECIDE[kind](estimate, threshold, limit)
    lacks = "max_rate and no floor or ceiling" if kind == "limit" else LIMITS[kind][0]
    msg = f"{threshold.origin}: the threshold of {threshold.metric!r} has no {lacks}"
    raise ValueError(msg)


_DECIDE: Mapping[GateKind, Callable[[Estimate, Threshold, float], tuple[Outcome, str]]] = {
    "cases": decide_rate,
    "gap": decide_gap,
    "drop": decide_gap,
    "trend": decide_trend,
}


def blocks(verdict: Verdict) -> bool:
    """Tell whether the verdict closes the gate.

    An inconclusive one does unless told to warn, and an advisory one only where it is an error:
    that decides nothing, whatever else is known.
    """
    if advises(verdict):
        return False
    if verdict.outcome == "inconclusive":
        policy = verdict.threshold.on_inconclusive
        return policy == "fail" or (policy == "estimate" and verdict.held != "within")
    return verdict.outcome != "pass"


def held_to_estimate(verdict: Verdict, overall: Verdict | None) -> Verdict:
    """Return an inconclusive verdict with what its own estimate says, where that decides.

    Where all languages together pass, one that cannot prove itself alone closes the gate only if
    its own rate, mean, gap or drop is beyond its limit. That is no proof that it keeps the limit:
    docs/planning.md says how often which languages close.

    Args:
        verdict: of one language, judged with its family.
        overall: that on all languages together, by the limit of the same kind; None where there is
            none.
    """
    limits = verdict.threshold
    if verdict.outcome != "inconclusive" or limits.on_inconclusive != "estimate":
        return verdict
    made = verdict.estimate
    why = ""
    if overall is None:
        why = "there is no gate over all languages together to stand behind it"
    elif overall.outcome != "pass":
        why = "all languages together do not pass either"
    elif made.n < limits.min_n or made.unscored > made.n or made.value is None:
        why = "its own estimate is of too little"
    elif limits.estimate == "corrected" and not made.labelled:
        why = "it is not corrected by labels"
    if why:
        return replace(verdict, held="unbacked", reason=f"{verdict.reason}; closes: {why}")
    beyond = _is_beyond(verdict)
    said = "is beyond its limit: closes" if beyond else "is within its limit"
    reason = f"{verdict.reason}; all languages together pass, and its own estimate {said}"
    return replace(verdict, held="beyond" if beyond else "within", reason=reason)


def _is_beyond(verdict: Verdict) -> bool:
    """Tell whether the estimate itself, without its interval, is beyond the limit."""
    limits, made = verdict.threshold, verdict.estimate
    value = made.value or 0.0
    if made.baseline or made.pivot or made.trend:
        key = "max_drop" if made.baseline else "max_gap" if made.pivot else "max_trend"
        return bool(value > (getattr(limits, key) or 0.0) + NOISE)
    if made.per_case:
        return value > (limits.max_cases or 0.0)
    if limits.max_rate is not None:
        return value > limits.max_rate
    return (limits.floor is not None and value < limits.floor) or (
        limits.ceiling is not None and value > limits.ceiling
    )


def is_decided(verdicts: Sequence[Verdict]) -> bool:
    """Tell whether a gate that estimates something has passed, so that there is a reason to open.

    A budget of 0 is a rule: that nothing was flagged in a few answers proves no rate. Where there
    are no gates, or advisory ones only, nothing is held back and nothing has to be decided.
    """
    blocking = [verdict for verdict in verdicts if verdict.threshold.tier == "block"]
    return not blocking or any(
        verdict.outcome == "pass" and not _is_rule(verdict) for verdict in blocking
    )


def _is_rule(verdict: Verdict) -> bool:
    limits, made = verdict.threshold, verdict.estimate
    if made.pivot or made.baseline or made.trend:
        return False
    return (limits.max_cases if made.per_case else limits.max_rate) == 0


def advises(verdict: Verdict) -> bool:
    """Tell whether a gate did not pass and, being advisory, keeps no release back."""
    return verdict.threshold.tier == "advisory" and verdict.outcome in {"fail", "inconclusive"}


def reason_of(verdict: Verdict) -> str:
    """Word why, as all reports do: marked where it is advice."""
    return f"advisory: {verdict.reason}" if advises(verdict) else verdict.reason


def judge_family(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """Let a gate fail only if it would among all of its family.

    It does so where its own interval is beyond its limit, and its one-sided p, of being so far
    beyond by chance, is below alpha after Holm's correction: of families whose languages are all
    at their limits at most alpha have one that fails. One that would have failed alone and whose
    corrected p is not below its alpha becomes inconclusive. Gates pass as they do alone: to open,
    all of them have to, and that needs no correction (Berger 1982, on intersection-union tests).

    Gates that have no p cannot fail and do not count. A family of one is left as it is.

    Args:
        verdicts: each judged alone.
    """
    tested = [index for index, verdict in enumerate(verdicts) if verdict.estimate.p is not None]
    judged = list(verdicts)
    if len(tested) < 2:  # noqa: PLR2004  chance has to choose
        return judged
    ps = [_one_sided(verdicts[index]) for index in tested]
    for index, p, corrected in zip(tested, ps, holm(ps), strict=True):
        judged[index] = _corrected(verdicts[index], p, corrected, gates=len(tested))
    return judged


def _one_sided(verdict: Verdict) -> float:
    """Return how likely it is by chance to be so far beyond the limit, or farther."""
    half = (verdict.estimate.p or 0.0) / 2
    return half if _is_beyond(verdict) else 1 - half


def _corrected(verdict: Verdict, p: float, p_holm: float, *, gates: int) -> Verdict:
    estimate = replace(verdict.estimate, p_holm=p_holm)
    if verdict.outcome != "fail":
        return replace(verdict, estimate=estimate)
    p_values = (
        f"one-sided p {wording.p_value(p)}, after Holm over {gates} gates"
        f" {wording.p_value(p_holm).removeprefix('= ')}"
    )
    if p_holm < verdict.threshold.alpha:
        return replace(verdict, estimate=estimate, reason=f"{verdict.reason} ({p_values})")
    reason = f"{verdict.reason}, but {p_values}: may be chance among so many"
    return replace(verdict, outcome="inconclusive", estimate=estimate, reason=reason)
