"""One rule decides on all kinds of estimates, and the outcome closes or opens the gate."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from pytest_xling.gates.judge import blocks, decide, is_decided, judge, reason_of
from pytest_xling.records import Estimate, Threshold, Verdict

if TYPE_CHECKING:
    from pytest_xling.gates.spec import GateKind
    from pytest_xling.records import Outcome

ESTIMATE = Estimate(
    metric="m", language="hi", value=0.5, low=0.4, high=0.6, n=100, unscored=0, flagged=50
)
THRESHOLD = Threshold(benchmark="culture", metric="m", language="hi")


@pytest.mark.parametrize(
    ("threshold", "outcome"),
    [
        (replace(THRESHOLD, max_rate=0.7), "pass"),
        (replace(THRESHOLD, max_rate=0.3), "fail"),
        (replace(THRESHOLD, floor=0.3), "pass"),
        (replace(THRESHOLD, ceiling=0.3), "fail"),
    ],
)
def test_judged_by_what_the_threshold_says(threshold: Threshold, outcome: Outcome) -> None:
    """A budget is for rates, a floor or ceiling for means."""
    assert outcome == judge(ESTIMATE, threshold, case="gate").outcome


@pytest.mark.parametrize(
    ("kind", "limits"),
    [
        ("limit", {"max_rate": 0.5}),
        ("limit", {"ceiling": 0.5}),
        ("cases", {"max_cases": 0.5, "max_flagged": 1, "repeats": 5}),
        ("gap", {"max_gap": 0.5}),
        ("trend", {"max_trend": 0.5}),
    ],
)
def test_no_gate_passes_by_a_minority(kind: GateKind, limits: dict[str, Any]) -> None:
    """Half of the answers may be without a value, more may not: those may be the bad ones."""
    threshold = replace(THRESHOLD, **limits)
    estimate = replace(ESTIMATE, value=0.1, low=0.0, high=0.2, n=50)
    half, fewer = (
        judge(replace(estimate, unscored=lost), threshold, case="c", kind=kind) for lost in (50, 51)
    )
    assert "pass" == half.outcome, half.reason
    assert "inconclusive" == fewer.outcome
    assert fewer.reason.endswith("it has a value for 50 of 101, fewer than half")


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("limit", r"thresholds.yaml:3: .* no max_rate and no floor or ceiling"),
        ("cases", "no max_cases"),
        ("gap", "no max_gap"),
        ("drop", "no max_drop"),
        ("trend", "no max_trend"),
    ],
)
def test_threshold_without_its_limit(kind: GateKind, said: str) -> None:
    """What limits nothing judges nothing: a mistake of the caller's, named by its origin."""
    with pytest.raises(ValueError, match=said):
        judge(ESTIMATE, replace(THRESHOLD, origin="thresholds.yaml:3"), case="gate", kind=kind)


@pytest.mark.parametrize("kind", ["limit", "gap", "drop", "trend"])
@pytest.mark.parametrize(
    ("value", "low", "high", "outcome"),
    [
        (0.05, 0.02, 0.08, "pass"),
        (0.05, 0.0, 0.1, "pass"),
        (-0.3, -0.4, -0.2, "pass"),
        (0.15, 0.11, 0.19, "fail"),
        (0.15, 0.05, 0.25, "inconclusive"),
        (0.05, -0.1, 0.2, "inconclusive"),
        (0.1, 0.0, 0.2, "inconclusive"),
        (0.1, None, None, "inconclusive"),
        (None, None, None, "inconclusive"),
    ],
)
def test_all_kinds_are_decided_alike(
    kind: GateKind, value: float | None, low: float | None, high: float | None, outcome: Outcome
) -> None:
    """Fails where it is surely beyond the limit, passes where it is surely within."""
    estimate = replace(
        ESTIMATE, value=value, low=low, high=high, pivot="en" if kind == "gap" else ""
    )
    limit = {"ceiling" if kind == "limit" else f"max_{kind}": 0.1}
    threshold = replace(THRESHOLD, **limit)  # type: ignore[arg-type]  # a number
    verdict = judge(estimate, threshold, case="gate", kind=kind)
    assert outcome == verdict.outcome == decide(estimate, -math.inf, 0.1, min_n=20)
    if value == 0.1 and low is not None:
        assert "cannot be decided so near the limit" in verdict.reason


@pytest.mark.parametrize(
    ("limits", "n", "outcome"),
    [
        ({"floor": 0.7}, 3, "inconclusive"),
        ({"floor": 0.7}, 4, "fail"),
        ({"ceiling": 0.3}, 3, "inconclusive"),
        ({"ceiling": 0.3}, 12, "fail"),
        ({"max_rate": 0.3}, 1, "fail"),
        ({"max_rate": 0.7}, 19, "inconclusive"),
        ({"floor": 0.3}, 19, "inconclusive"),
        ({"floor": 0.3}, 20, "pass"),
    ],
)
def test_few_answers_fail_and_do_not_pass(
    limits: dict[str, float], n: int, outcome: Outcome
) -> None:
    """Of numbers from 4 on: the intervals of fewer are too narrow."""
    threshold = replace(THRESHOLD, **limits)  # type: ignore[arg-type]  # numbers
    assert outcome == judge(replace(ESTIMATE, n=n), threshold, case="gate").outcome


@pytest.mark.parametrize(
    ("outcome", "on_inconclusive", "expected"),
    [
        ("pass", "fail", False),
        ("fail", "warn", True),
        ("error", "warn", True),
        ("inconclusive", "fail", True),
        ("inconclusive", "warn", False),
    ],
)
def test_blocks(outcome: Outcome, on_inconclusive: str, expected: object) -> None:
    """Only a pass, an inconclusive outcome that shall only warn, or advice opens the gate."""
    threshold = replace(THRESHOLD, on_inconclusive="warn" if on_inconclusive == "warn" else "fail")
    verdict = Verdict(
        case="gate", outcome=outcome, estimate=ESTIMATE, threshold=threshold, reason="why"
    )
    assert expected is blocks(verdict)
    assert "why" == reason_of(verdict)
    advice = replace(verdict, threshold=replace(threshold, tier="advisory"))
    assert (outcome == "error") is blocks(advice)
    marked = "advisory: why" if outcome in {"fail", "inconclusive"} else "why"
    assert marked == reason_of(advice)


def test_decided_by_an_estimated_gate_that_passed() -> None:
    """Rules that hold, and gates that only warn, are no reason to open; nor is advice."""
    rate = judge(ESTIMATE, replace(THRESHOLD, max_rate=0.7), case="rate")
    rule = replace(rate, threshold=replace(THRESHOLD, max_rate=0.0))
    gap = replace(
        rate,
        estimate=replace(ESTIMATE, pivot="en"),
        threshold=replace(THRESHOLD, max_rate=0.0, max_gap=0.1),
    )
    unclear = replace(rate, outcome="inconclusive")
    advice = replace(rate, threshold=replace(rate.threshold, tier="advisory"))
    assert is_decided([unclear, rule, rate])
    assert is_decided([rule, gap])
    assert not is_decided([rule, unclear])
    assert not is_decided([rule, advice])
    assert is_decided([])
    assert is_decided([replace(advice, outcome="inconclusive")])
