"""What a run is compared with, and by how much it has changed."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

from pytest_xling.gates.pairing import paired_means
from pytest_xling.records import Estimate
from pytest_xling.stats.paired import paired_mean

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_xling.records import Score
    from pytest_xling.registry import MetricKind

__all__ = ["Baseline", "CaseKey", "change"]

CaseKey: TypeAlias = tuple[str, str, str, str, str]
"""Benchmark, metric, language, sample id and condition."""

_SHOWN = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """The scores of another run; cases without a value are left out."""

    name: str
    """For people: ``run 20261120-…``, ``gpt-4o (promoted 2026-11-01)``."""
    values: Mapping[CaseKey, float]
    signatures: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """By benchmark and metric."""


def change(
    scores: Sequence[Score], baseline: Baseline, *, kind: MetricKind, alpha: float
) -> Estimate | None:
    """Estimate by how much a metric has grown in one language: the mean over shared questions.

    Args:
        scores: of one benchmark, metric and language; one at least.
        baseline: what they are compared with.
        kind: with ``flag`` the interval is one of rates, and never has no width.
        alpha: the interval misses with this probability, both sides together.

    Returns:
        The mean of now minus then; ``n`` are the shared questions. Without a value where nothing is
        shared, or signatures differ; None where the baseline does not know the metric.

    Raises:
        EvaluationError: a value is not finite.
    """
    first = scores[0]
    place = (first.benchmark, first.metric, first.language)
    then = [
        replace(score, value=value)
        for score in scores
        if (value := baseline.values.get((*place, score.sample_id, score.condition))) is not None
    ]
    none = Estimate(
        metric=first.metric,
        language=first.language,
        value=None,
        low=None,
        high=None,
        n=0,
        unscored=len(scores),
    )
    if not then:
        known = place[:2] in baseline.signatures
        return replace(none, reason="no case has a value in both") if known else None
    now_made = next((score.signature for score in scores if score.value is not None), "")
    then_made = baseline.signatures.get(place[:2], now_made)
    if now_made and now_made != then_made:
        return replace(none, reason=f"made in another way: {_differing(now_made, then_made)}")
    pairs = paired_means(scores, then)
    if not pairs:
        return replace(none, reason="no case has a value in both")
    found = paired_mean([now - was for now, was in pairs], alpha=alpha, rates=kind == "flag")
    return Estimate(
        metric=first.metric,
        language=first.language,
        value=found.mean,
        low=found.low,
        high=found.high,
        n=found.n,
        unscored=len({score.cluster or score.sample_id for score in scores}) - found.n,
    )


def _differing(now: str, then: str) -> str:
    """Say in which fields two signatures differ: ``length 30 (was 20)``."""
    ours, theirs = _fields(now), _fields(then)
    names = [name for name in {**ours, **theirs} if ours.get(name) != theirs.get(name)]
    told = [
        f"{name} {ours.get(name, 'missing')} (was {theirs.get(name, 'missing')})"
        for name in names[:_SHOWN]
    ]
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(told) + more


def _fields(signature: str) -> dict[str, str]:
    """Return the fields of a signature such as ``repetition|v1|length:20``."""
    name, *parts = signature.split("|")
    found = {"metric": name}
    for part in parts:
        key, colon, value = part.partition(":")
        found[key if colon else "version"] = value if colon else part
    return found
