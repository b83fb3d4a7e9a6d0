"""Scores, estimates and limits by what a test is about, and gates judged as those of a run are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_xling.gates.decide import judge_gates
from pytest_xling.gates.estimate import Measure
from pytest_xling.gates.pairing import BaselineSide
from pytest_xling.gates.spec import GateSpec
from pytest_xling.records import Estimate, Score, Threshold
from pytest_xling.store.questions import Question

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pytest_xling.gates.spec import GateKind
    from pytest_xling.records import Verdict
    from pytest_xling.store.questions import Questions

EN = [0.9, 0.8, 0.95, 0.7, 0.85, 0.6, 0.75, 0.9, 0.8, 0.88, 0.92, 0.66]
HI = [0.7, 0.75, 0.8, 0.6, 0.8, 0.5, 0.5, 0.85, 0.6, 0.7, 0.75, 0.6]
"""Numbers of the same questions, mostly worse."""

ORDER = ["pass", "inconclusive", "fail"]


def score(value: float | None, sample: str, **fields: Any) -> Score:
    """Return a score of the metric ``m`` in Hindi, but for other *fields*."""
    plain = {"metric": "m", "benchmark": "b", "language": "hi", "condition": "", "signature": "s"}
    plain["reason"] = "" if value is not None else "too short"
    return Score(value=value, sample_id=sample, **plain | fields)


def scores_of(values: Iterable[float | None], language: str = "hi", **fields: Any) -> list[Score]:
    """Return a score of a question of its own for each value."""
    return [score(value, f"q{n}", language=language, **fields) for n, value in enumerate(values)]


def at_levels(rows: Iterable[Sequence[float | None]], **fields: Any) -> list[Score]:
    """Return the scores of claims, a row of values for each, from level 0 on."""
    return [
        score(value, f"c{claim}-l{level}", cluster=f"c{claim}", level=level, **fields)
        for claim, row in enumerate(rows)
        for level, value in enumerate(row)
    ]


def estimated(
    value: float | None, low: float | None = None, high: float | None = None, **fields: Any
) -> Estimate:
    """Return an estimate of the metric ``m`` in Hindi by 50 answers, but for other *fields*."""
    plain: dict[str, Any] = {"metric": "m", "language": "hi", "n": 50, "unscored": 0}
    return Estimate(value=value, low=low, high=high, **plain | fields)


def measure(**fields: Any) -> Measure:
    """Return what is measured: the metric ``m`` in Hindi."""
    plain: dict[str, Any] = {"metric": "m", "language": "hi"}
    return Measure(**plain | fields)


def limits(**fields: Any) -> Threshold:
    """Return limits of the metric ``m`` in Hindi, but for other *fields*."""
    return Threshold(**{"benchmark": "b", "metric": "m", "language": "hi"} | fields)


def asked(scores: Iterable[Score], *, version: str = "") -> Questions:
    """Return the questions of *scores*; those of another *version* read otherwise."""
    return {
        (one.sample_id, one.language): Question(
            digest=f"{one.sample_id}{version}", cluster=one.cluster or one.sample_id
        )
        for one in scores
    }


def baseline(
    then: Mapping[str, Sequence[Score]], now: Iterable[Score], *, metric: str = "m", **more: Any
) -> BaselineSide:
    """Return the side of a baseline that was asked what it has scores of, but for *more*."""
    questions = {
        "questions": asked(one for scores in then.values() for one in scores),
        "run_questions": asked(now),
    }
    return BaselineSide(name="base-1", metric=metric, scores=then, **questions | more)


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
