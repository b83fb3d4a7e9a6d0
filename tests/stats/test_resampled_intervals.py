"""Interval ends of many resamples are those that gates are judged by."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pytest_xling.analysis.tuning.tables import Limit, tables
from pytest_xling.gates.pairing import cluster_of
from pytest_xling.gates.spec import GateSpec
from tests.gates.judging import judge_gate, limits, score

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_xling.analysis.tuning.tables import LimitKey
    from pytest_xling.records import Score

SHARES = ("no_answer", "factual_accuracy")


def _scores(
    metric: str, language: str, *, seed: int, questions: int, repeats: int, missing: float
) -> list[Score]:
    draw = random.Random(seed)  # noqa: S311  made-up scores
    found = []
    for number in range(questions):
        ease = draw.random()
        for repeat in range(repeats):
            value: float | None = ease * draw.random()
            if metric in SHARES:
                value = float(draw.random() < ease * 0.7)
            if metric == "answer_length":
                value = 40.0 + 900 * ease * draw.random()
            if draw.random() < missing:
                value = None
            found.append(
                score(
                    value,
                    f"q{number:03}",
                    metric=metric,
                    language=language,
                    condition=f"r{repeat}" if repeat else "",
                    cluster=f"c{number // 2}" if questions > 30 else "",
                )
            )
    return found


def _again(scores: Sequence[Score], weights: Sequence[int], rows: dict[Any, int]) -> list[Score]:
    """Return the scores with each question as often as its weight says."""
    return [
        replace(one, sample_id=f"{one.sample_id}x{time}", cluster=f"{cluster_of(one)[1]}x{time}")
        for one in scores
        for time in range(weights[rows[cluster_of(one)]])
    ]


@pytest.mark.parametrize(
    ("metric", "key"),
    [
        ("no_answer", "max_rate"),
        ("no_answer", "max_gap"),
        ("factual_accuracy", "floor"),
        ("factual_accuracy", "max_gap"),
        ("sim_sent", "floor"),
        ("sim_sent", "max_gap"),
        ("answer_length", "ceiling"),
        ("answer_length", "floor"),
    ],
)
@pytest.mark.parametrize(
    ("questions", "repeats", "missing"),
    [(12, 1, 0.0), (20, 3, 0.2), (2, 1, 0.0), pytest.param(60, 2, 0.1, marks=pytest.mark.slow)],
)
def test_ends_are_what_the_gate_sees(
    metric: str, key: LimitKey, questions: int, repeats: int, missing: float
) -> None:
    """A limit at the end is passed, and one a little tighter is not, whatever was drawn again."""
    both = {
        language: _scores(
            metric, language, seed=seed, questions=questions, repeats=repeats, missing=missing
        )
        for seed, language in enumerate(("hi", "en"))
    }
    gap = key == "max_gap"
    threshold = limits(metric=metric, min_n=2, alpha=0.1)
    spec = GateSpec(
        threshold=threshold, kind="gap" if gap else "limit", pivot="en" if gap else None
    )
    limit = Limit(spec=spec, key=key)
    clusters = sorted({cluster_of(score) for found in both.values() for score in found})
    made = tables([limit], lambda _, language: both[language], clusters)
    draw = np.random.default_rng(questions)
    weights = draw.multinomial(len(clusters), [1 / len(clusters)] * len(clusters), size=20)
    ends = made.ends(np.vstack([np.ones(len(clusters)), weights.astype(float)]))[:, 0]
    rows = {cluster: row for row, cluster in enumerate(clusters)}
    judged = 0
    for end, times in zip(ends, [[1] * len(clusters), *weights.tolist()], strict=True):
        scores, pivot = (_again(both[one], times, rows) for one in ("hi", "en"))
        outcomes = []
        for away in (1e-5, -1e-5) if np.isfinite(end) else (0.0,):
            bound = limit.turned(float(end) + away) if np.isfinite(end) else limit.turned(0.5)
            said: dict[str, Any] = {key: bound}
            verdict = judge_gate(
                scores,
                replace(threshold, **said),
                kind=spec.kind,
                pivot=(spec.pivot, pivot) if spec.pivot else None,
            )
            outcomes.append(verdict.outcome == "pass")
        if not np.isfinite(end):
            assert [False] == outcomes
        elif end < limit.extreme - 1e-5 and not (gap and end < 1e-4):
            assert [True, False] == outcomes, (end, verdict.reason)
            judged += 1
    assert judged or questions == 2
