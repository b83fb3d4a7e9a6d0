"""Scores by a few values, and one gate judged alone, as a run's gates are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_xling.gates.decide import judge_gates
from pytest_xling.gates.spec import GateSpec
from pytest_xling.records import Score

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pytest_xling.gates.spec import GateKind
    from pytest_xling.records import Threshold, Verdict


def score(value: float | None, sample: str, **fields: Any) -> Score:
    """Return a score of the metric ``m`` in Hindi, but for other *fields*."""
    plain = {"metric": "m", "benchmark": "b", "language": "hi", "condition": "", "signature": "s"}
    plain["reason"] = "" if value is not None else "too short"
    return Score(value=value, sample_id=sample, **plain | fields)


def scores_of(values: Iterable[float | None], language: str = "hi", **fields: Any) -> list[Score]:
    """Return a score of a question of its own for each value."""
    return [score(value, f"q{n}", language=language, **fields) for n, value in enumerate(values)]


def judge_gate(
    scores: Sequence[Score],
    limits: Threshold,
    *,
    kind: GateKind = "limit",
    pivot: tuple[str, Sequence[Score]] | None = None,
    labels: Mapping[str, Any] | None = None,
    **more: Any,
) -> Verdict:
    """Judge a gate of one language; *pivot* is the other's code and scores, labels by language."""
    by_language = {limits.language: scores, **dict([pivot] if pivot else [])}
    gate = GateSpec(threshold=limits, kind=kind, pivot=pivot[0] if pivot else None)
    known = labels or {}
    (verdict,) = judge_gates(
        [gate], by_language.__getitem__, labels=lambda language: known.get(language, {}), **more
    )
    return verdict
