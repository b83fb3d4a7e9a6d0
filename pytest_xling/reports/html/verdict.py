"""What the gates of a run decided, and whether that can stand."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Literal, TypeAlias

from pytest_xling.gates.judge import blocks
from pytest_xling.gates.wording import limit_of
from pytest_xling.reports.html.escaping import as_json, visible
from pytest_xling.reports.terminal.closing import last_word, state_of
from pytest_xling.reports.terminal.matrix import is_drop

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_xling.keys import JsonValue
    from pytest_xling.records import Estimate, Verdict
    from pytest_xling.store.runs import Progress

__all__ = ["GateAbout", "about", "verdict_model"]

GateAbout: TypeAlias = Literal["limit", "gap", "trend", "drop"]
"""What a gate limits: the metric itself, how much a language is worse than the pivot language, how
much it gets worse from level to level, or how much worse it is than the baseline."""


def about(verdict: Verdict) -> GateAbout:
    """Tell what a gate limits."""
    if verdict.estimate.trend:
        return "trend"
    if is_drop(verdict):
        return "drop"
    return "gap" if verdict.estimate.pivot else "limit"


def verdict_model(
    verdicts: Sequence[Verdict],
    progress: Progress,
    faults: Sequence[str],
    *,
    complete: bool,
    stopped: bool = False,
) -> dict[str, JsonValue]:
    """Return the decision, the numbers behind it, and all gates.

    Args:
        verdicts: of all gates.
        progress: how many cases were planned, done and met a fault.
        faults: what they met.
        complete: whether the run has all its answers.
        stopped: whether a gate that failed ended it early.
    """
    counts = Counter(verdict.outcome for verdict in verdicts)
    return {
        "state": state_of(verdicts, complete=complete),
        "headline": last_word(verdicts, complete=complete, stopped=stopped).plain,
        "complete": complete,
        "planned": progress.total,
        "faults": progress.errors,
        "met": [visible(fault) for fault in faults],
        "counts": dict(sorted(counts.items())),
        "gates": [_gate(verdict) for verdict in verdicts],
    }


def _gate(verdict: Verdict) -> dict[str, JsonValue]:
    limits, kind = verdict.threshold, about(verdict)
    return {
        "case": verdict.case,
        "benchmark": limits.benchmark,
        "metric": limits.metric,
        "language": limits.language,
        "about": kind,
        "level": limits.level,
        "outcome": verdict.outcome,
        "blocks": blocks(verdict),
        "limit": limit_of(verdict),
        "reason": visible(verdict.reason),
        "origin": visible(limits.origin),
        "alpha": limits.alpha,
        "estimate": as_json(verdict.estimate),
        "p": _p(verdict.estimate),
    }


def _p(made: Estimate) -> float | None:
    p = made.p if made.p_holm is None else made.p_holm
    return None if p is None else float(f"{p:.3g}")
