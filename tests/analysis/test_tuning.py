"""Limits that runs like those at hand would pass."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pytest_xling.analysis.tuning import Tuning, tune
from pytest_xling.analysis.tuning.tables import Limit, tables
from pytest_xling.gates.decide import judge_gates
from pytest_xling.gates.spec import GateSpec
from pytest_xling.records import Score, Threshold
from tests.gates.judging import score

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.random import Generator

    from pytest_xling.analysis.tuning import BenchmarkTuned
    from pytest_xling.analysis.tuning.tables import LimitKey, Tables

LANGUAGES = ("en", "hi", "zh")
QUICK = Tuning(splits=40)
FEW = Tuning(splits=2)
"""Where nothing is asked of runs held out."""


def _limits(
    metric: str, key: LimitKey, languages: Sequence[str] = LANGUAGES, *, min_n: int = 10
) -> list[Limit]:
    gap = key == "max_gap"
    return [
        Limit(
            spec=GateSpec(
                threshold=Threshold(benchmark="b", metric=metric, language=language, min_n=min_n),
                kind="gap" if gap else "limit",
                pivot="en" if gap else None,
            ),
            key=key,
        )
        for language in languages
        if not (gap and language == "en")
    ]


def _run(
    values: Mapping[str, Sequence[float | None]], metric: str
) -> dict[tuple[str, str], list[Score]]:
    return {
        (metric, language): [
            score(value, f"q{number:03}", metric=metric, language=language)
            for number, value in enumerate(column)
        ]
        for language, column in values.items()
    }


def _tables(limits: Sequence[Limit], scores: dict[tuple[str, str], list[Score]]) -> Tables:
    questions = sorted({("b", one.sample_id) for found in scores.values() for one in found})
    return tables(limits, lambda metric, language: scores[metric, language], questions)


def _tuned(
    limits: Sequence[Limit],
    *runs: dict[tuple[str, str], list[Score]],
    how: Tuning = QUICK,
    bad: Sequence[dict[tuple[str, str], list[Score]]] = (),
) -> BenchmarkTuned:
    good, of_bad = ([_tables(limits, run) for run in some] for some in (runs, bad))
    return tune("b", good, of_bad, how)


def _numbers(random: Generator, *, n: int = 60, shift: float = 0.0) -> dict[str, list[float]]:
    ease = random.normal(0, 0.05, n)
    return {
        language: np.clip(0.8 - shift + ease + random.normal(0, 0.05, n), -1, 1).tolist()
        for language in LANGUAGES
    }


def _flags(random: Generator, rate: float, *, n: int = 60) -> dict[str, list[float]]:
    return {lang: (random.random(n) < rate).astype(float).tolist() for lang in LANGUAGES}


@pytest.mark.parametrize(
    ("metric", "key", "rate"),
    [
        pytest.param("sim_sent", "floor", None, marks=pytest.mark.slow),
        pytest.param("sim_sent", "max_gap", None, marks=pytest.mark.slow),
        pytest.param("no_answer", "max_rate", 0.0, marks=pytest.mark.slow),
        ("no_answer", "max_rate", 0.05),
        pytest.param("no_answer", "max_gap", 0.1, marks=pytest.mark.slow),
        pytest.param("factual_accuracy", "floor", 0.8, marks=pytest.mark.slow),
    ],
)
def test_runs_like_these_pass_as_often_as_promised(
    metric: str, key: LimitKey, rate: float | None
) -> None:
    """Tuned on one run, judged by the gate itself on another with questions of its own."""
    blocked = judged = 0
    for seed in range(16):
        random = np.random.default_rng(seed)

        def made(random: Generator = random) -> dict[tuple[str, str], list[Score]]:
            values = _numbers(random) if rate is None else _flags(random, rate)
            return _run(values, metric)

        limits = _limits(metric, key)
        found = _tuned(limits, made(), how=replace(QUICK, false_alarm=0.05, splits=2))
        other = made()
        for proposal in found.proposals:
            spec = proposal.limit.spec
            limit: dict[str, Any] = {key: proposal.proposed}
            threshold = replace(spec.threshold, **limit)
            by_language = {language: other[metric, language] for language in LANGUAGES}
            gate = replace(spec, threshold=threshold)
            (verdict,) = judge_gates([gate], by_language.__getitem__)
            judged += 1
            blocked += verdict.outcome != "pass"
    assert judged >= 32
    assert blocked / judged <= 0.08


@pytest.mark.slow
def test_what_is_told_of_the_errors() -> None:
    """Held out a good run is rarely blocked, and a model that is much worse is seen."""
    run = _run(_numbers(np.random.default_rng(1), n=200), "sim_sent")
    limits = _limits("sim_sent", "floor")
    found = _tuned(limits, run, how=replace(QUICK, shift=1.5))
    assert found.questions == 200
    for proposal in found.proposals:
        assert proposal.blocked is not None
        assert proposal.blocked <= 0.01
        assert proposal.blocked_held_out is not None
        assert proposal.blocked_held_out <= 0.1
        assert proposal.missed == 0.0
        assert ("resampled", 200) == (proposal.method, proposal.n)
    small = _tuned(limits, run, how=replace(QUICK, shift=0.05))
    assert all((proposal.missed or 0) > 0.9 for proposal in small.proposals)


@pytest.mark.slow
@pytest.mark.parametrize("n", [24, pytest.param(60, marks=pytest.mark.slow)])
def test_means_that_collapse_now_and_then_block_no_more_than_promised(n: int) -> None:
    """Answers about nothing are seldom: most runs to tune on have none, as bad as they may be."""
    blocked = 0
    for seed in range(100):
        random = np.random.default_rng([n, seed])

        def made(random: Generator = random) -> dict[tuple[str, str], list[Score]]:
            usual = random.normal(0.9, 0.02, n)
            return _run({"en": np.where(random.random(n) < 0.02, 0.0, usual).tolist()}, "sim_sent")

        limits = _limits("sim_sent", "floor", ["en"])
        (found,) = _tuned(limits, made(), how=FEW).proposals
        threshold = replace(found.limit.spec.threshold, floor=found.proposed)
        scores = {"en": made()["sim_sent", "en"]}
        (verdict,) = judge_gates([GateSpec(threshold=threshold)], scores.__getitem__)
        blocked += verdict.outcome != "pass"
    assert blocked <= 3


def test_limits_are_not_made_to_fit_a_run_that_breaks_them() -> None:
    """A run whose gates close is no measure of what to let pass; its other limits are tuned."""
    random = np.random.default_rng(7)
    flags = {"en": (random.random(60) < 0.6).astype(float).tolist(), "hi": [0.0] * 60}
    limits = [replace(limit, now=0.1) for limit in _limits("no_answer", "max_rate", ("en", "hi"))]
    broken, kept = _tuned(limits, _run(flags, "no_answer"), how=FEW).proposals
    assert (None, None) == (broken.proposed, broken.change)
    assert "beyond its limit already: a run that is closed is no measure" in broken.reason
    assert kept.proposed is not None


@pytest.mark.slow
def test_runs_known_to_be_bad() -> None:
    """How often they would pass is told, and is 0 of a model far below."""
    random = np.random.default_rng(2)
    good = _run(_numbers(random), "sim_sent")
    bad = [_run(_numbers(random, shift=shift), "sim_sent") for shift in (0.3, 0.0)]
    limits = _limits("sim_sent", "floor")
    far = _tuned(limits, good, bad=bad[:1], how=FEW)
    assert [0.0] * 3 == [proposal.missed_bad for proposal in far.proposals]
    alike = _tuned(limits, good, bad=bad[1:], how=FEW)
    assert all((proposal.missed_bad or 0) > 0.8 for proposal in alike.proposals)
    assert all(p.missed_bad is None for p in _tuned(limits, good, how=FEW).proposals)


@pytest.mark.slow
def test_a_family_takes_looser_limits() -> None:
    """All gates together block no more than one gate may alone."""
    run = _run(_numbers(np.random.default_rng(3)), "sim_sent")
    limits = [*_limits("sim_sent", "floor"), *_limits("sim_sent", "max_gap")]
    alone, together = (
        _tuned(limits, run, how=replace(QUICK, family=family)) for family in (False, True)
    )
    assert together.blocked is not None
    assert alone.blocked is not None
    assert together.blocked <= 0.01 < alone.blocked
    for one, other in zip(alone.proposals, together.proposals, strict=True):
        assert one.proposed is not None
        assert other.proposed is not None
        assert (other.proposed <= one.proposed) == (not one.limit.upward)


def test_advisory_limits_block_nothing() -> None:
    """They are tuned like others, and take nothing of what the others may block together."""
    run = _run(_numbers(np.random.default_rng(3)), "sim_sent")
    limits = _limits("sim_sent", "floor")
    advice = [
        replace(
            limit,
            spec=replace(limit.spec, threshold=replace(limit.spec.threshold, tier="advisory")),
        )
        for limit in _limits("sim_sent", "max_gap")
    ]
    family = replace(FEW, family=True)
    alone, mixed = (_tuned(some, run, how=family) for some in (limits, [*limits, *advice]))
    proposed = [proposal.proposed for proposal in mixed.proposals]
    assert [proposal.proposed for proposal in alone.proposals] == proposed[: len(limits)]
    assert None not in proposed
    assert 0.0 == _tuned(advice, run, how=FEW).blocked


@pytest.mark.slow
@pytest.mark.parametrize(
    ("runs", "method"),
    [(3, "resampled"), (6, "normal"), pytest.param(60, "order", marks=pytest.mark.slow)],
)
def test_several_runs(runs: int, method: str) -> None:
    """From four on tolerance limits of their own ends; by order statistics once there are 59."""
    random = np.random.default_rng(4)
    made = [_run(_numbers(random, n=30), "sim_sent") for _ in range(runs)]
    how = replace(QUICK, false_alarm=0.05, splits=3)
    found = _tuned(_limits("sim_sent", "floor"), *made, how=how)
    assert [(method, runs)] * 3 == [(p.method, p.runs) for p in found.proposals]
    # A run's own questions leave room for one as bad as can be; several runs tell how bad they get.
    least = 0.25 if method == "resampled" else 0.48
    assert all(least < (proposal.proposed or 0) < 0.6 for proposal in found.proposals)


@pytest.mark.slow
def test_runs_that_are_equal_are_one_run() -> None:
    """Four runs without a difference say nothing of the next: questions are drawn again."""
    run = _run(_numbers(np.random.default_rng(5)), "sim_sent")
    found = _tuned(_limits("sim_sent", "floor"), run, run, run, run, how=FEW)
    assert ["resampled"] * 3 == [proposal.method for proposal in found.proposals]


def test_no_flag_at_all() -> None:
    """Twenty clean answers do not prove that there is none: the budget leaves room for some."""
    run = _run({"en": [0.0] * 20}, "no_answer")
    (found,) = _tuned(_limits("no_answer", "max_rate", ["en"]), run).proposals
    assert found.estimate == 0.0
    assert found.proposed is not None
    assert 0.2 < found.proposed < 0.5
    assert found.blocked is not None
    assert found.blocked <= 0.01


def test_a_hopeless_language_hides_no_proposal() -> None:
    """Others do not share the limit of one whose every limit is useless."""
    flags = {
        "de": [1.0] * 15 + [0.0] * 25,
        "es": [1.0] * 16 + [0.0] * 24,
        "hi": [1.0] * 32 + [0.0] * 8,
    }
    limits = _limits("no_answer", "max_rate", tuple(flags))
    all_three = _tuned(limits, _run(flags, "no_answer"), how=FEW).proposals
    without = _tuned(limits[:2], _run(flags, "no_answer"), how=FEW).proposals
    proposed = [proposal.proposed for proposal in without]
    assert None not in proposed
    assert [*proposed, None] == [proposal.proposed for proposal in all_three]
    assert "only a limit that nothing exceeds would do" == all_three[2].reason


@pytest.mark.parametrize(
    ("values", "key", "min_n", "reason"),
    [
        ([None] * 20, "floor", 10, "no answers with a value"),
        ([0.5] * 20, "floor", 10, "all sim_sent are equal: no spread to tune by"),
        ([0.5], "floor", 1, "all answers are to one question: no spread is known"),
        ([0.5, 0.6], "floor", 10, "too few answers: needs 10, has 2"),
        ([], "floor", 10, "no answers with a value"),
    ],
)
def test_nothing_is_proposed_where_nothing_is_known(
    values: list[float | None], key: LimitKey, min_n: int, reason: str
) -> None:
    """The reason is told, and the limit stays."""
    run = _run({"en": values}, "sim_sent")
    found = _tuned(_limits("sim_sent", key, ["en"], min_n=min_n), run)
    assert [(None, reason)] == [(one.proposed, one.reason) for one in found.proposals]
    assert found.blocked is None


def test_gaps_that_are_equal_everywhere() -> None:
    """Ties in every question leave no spread."""
    run = _run({"en": [0.5] * 20, "hi": [0.4] * 20, "zh": [0.5] * 20}, "sim_sent")
    found = _tuned(_limits("sim_sent", "max_gap"), run)
    assert [None, None] == [one.proposed for one in found.proposals]
    assert all("no spread to tune by" in one.reason for one in found.proposals)


def test_two_questions() -> None:
    """They exclude nothing, which is told and is no error; halves of one question say nothing."""
    run = _run({"en": [0.5, 0.6]}, "sim_sent")
    (found,) = _tuned(_limits("sim_sent", "floor", ["en"], min_n=2), run).proposals
    assert "only a limit that nothing exceeds would do" == found.reason
    assert (None, None) == (found.proposed, found.blocked_held_out)


@pytest.mark.slow
def test_the_same_seed_gives_the_same_proposals() -> None:
    """Whatever else is tuned beside them."""
    run = _run(_flags(np.random.default_rng(6), 0.1), "no_answer")
    alone, again, more = (
        _tuned(limits, run)
        for limits in (
            _limits("no_answer", "max_rate"),
            _limits("no_answer", "max_rate"),
            [*_limits("no_answer", "max_rate"), *_limits("no_answer", "max_gap")],
        )
    )
    assert alone == again
    assert [one.proposed for one in alone.proposals] == [
        one.proposed for one in more.proposals if one.limit.key == "max_rate"
    ]
