"""Gates that rest on an annotator nobody should believe."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from pytest_xling.gates.trust import distrusted
from pytest_xling.records import Estimate, Threshold, Verdict

if TYPE_CHECKING:
    from pytest_xling.records import Outcome

VERDICT = Verdict(
    case="m-hi",
    outcome="fail",
    estimate=Estimate(
        metric="m", language="hi", value=0.5, low=0.4, high=0.6, n=100, unscored=0, flagged=50
    ),
    threshold=Threshold(benchmark="b", metric="m", language="hi", max_rate=0.1, min_judge_f1=0.6),
    reason="50 of 100 answers flagged",
)
WHO = "the annotator stance_head has F1 0.52 in hi (calibrated on 46 labelled answers)"


@pytest.mark.parametrize("outcome", ["pass", "fail", "inconclusive"])
def test_below_the_demand_nothing_is_decided(outcome: Outcome) -> None:
    """Neither pass nor fail; the old reason stands last."""
    verdict = replace(VERDICT, outcome=outcome)
    found = distrusted(verdict, f1=0.52, low=0.411, reason=WHO)
    assert "inconclusive" == found.outcome
    assert (
        f"{WHO}, below 0.6 (interval from 0.41): nothing is decided; 50 of 100 answers flagged"
        == found.reason
    )
    assert (verdict.estimate, verdict.threshold) == (found.estimate, found.threshold)


def test_unknown_is_not_good_enough() -> None:
    """No annotator is trusted unseen."""
    found = distrusted(VERDICT, f1=None, reason="stance_head has not been measured in hi")
    assert "inconclusive" == found.outcome
    assert found.reason.startswith(
        "stance_head has not been measured in hi, needs F1 0.6: nothing is decided; 50 of"
    )


@pytest.mark.parametrize(
    ("verdict", "f1"),
    [
        (VERDICT, 0.6),
        (VERDICT, 0.9),
        (replace(VERDICT, outcome="error"), 0.1),
        (replace(VERDICT, threshold=replace(VERDICT.threshold, min_judge_f1=None)), None),
    ],
)
def test_left_as_it_is(verdict: Verdict, f1: float | None) -> None:
    """Good enough, an error anyway, or nobody asked."""
    assert verdict == distrusted(verdict, f1=f1, reason=WHO)
