"""Drops told as a share of what the baseline has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from scipy import stats

from pytest_xling.gates.differences import gap_estimate, relative_drop
from pytest_xling.gates.judge import judge
from pytest_xling.gates.reasons import limit_of
from tests.gates.judging import EN as THEN
from tests.gates.judging import HI as NOW
from tests.gates.judging import limits, measure, scores_of
from tests.intervals import ends

if TYPE_CHECKING:
    from pytest_xling.records import Estimate, Score, Verdict


def _drop(
    now: list[float], then: list[float], *, margin: float = 0.1, repeats: int = 1, **fields: Any
) -> Estimate:
    """Estimate the drop by a value for each question; repeats of one say the same."""
    here, there = (_scores(values, repeats) for values in (now, then))
    of = measure(limits=(margin,), **fields)
    return relative_drop(gap_estimate(here, there, of, baseline="base-1"), here, there, of)


def _scores(values: list[float], repeats: int = 1) -> list[Score]:
    conditions = ["", *(f"r{repeat}" for repeat in range(1, repeats))]
    return [one for condition in conditions for one in scores_of(values, condition=condition)]


def _flags(now: list[float], then: list[float], **more: Any) -> Estimate:
    return _drop(now, then, share=True, better="lower", **more)


def _judge(made: Estimate, limit: float = 0.1) -> Verdict:
    threshold = limits(max_drop=limit, relative_drop=True, min_n=10)
    return judge(made, threshold, case="m-drop-hi", kind="drop")


def test_of_numbers() -> None:
    """The share, tested by what is left of nine tenths of the baseline's; in percent."""
    made = _drop(NOW, THEN)
    assert 1 - sum(NOW) / sum(THEN) == pytest.approx(made.value)
    test = stats.ttest_1samp([a - 0.9 * b for a, b in zip(NOW, THEN, strict=True)], 0)
    assert test.pvalue == pytest.approx(made.p, rel=1e-3)
    said = _judge(made)
    assert "fail" == said.outcome
    assert (
        "16.1% worse than base-1 on 12 questions (drop's 95% interval 10.7% to 38.3%);"
        " 0.679 after 0.809; may be 10.0% worse: exceeded"
    ) == said.reason
    unclear = _judge(made, 0.2)
    assert unclear.reason.endswith("has 12; detects drops from 27.5% on with 80% power")
    assert ["inconclusive", "pass"] == [unclear.outcome, _judge(made, 0.4).outcome]
    assert made.skewed_low is not None
    assert made.skewed_low < ends(made)[0]
    assert "max 10.0% worse" == limit_of(said)


def test_of_flags() -> None:
    """By how much of the baseline's rate there are more; McNemar's test is told as ever."""
    then, now = [1.0] * 12 + [0.0] * 88, [1.0] * 24 + [0.0] * 76
    made = _flags(now, then, margin=0.2)
    assert 1.0 == pytest.approx(made.value)
    said = _judge(made, 0.2)
    assert "fail" == said.outcome
    assert said.reason.startswith("100.0% worse than base-1 on 100 questions (drop's 95% interval ")
    assert "; 24.0% after 12.0%; worse only here 12, only in base-1 0: McNemar p" in said.reason
    fewer = _judge(_flags(then, now))
    assert "pass" == fewer.outcome
    assert fewer.reason.startswith("50.0% better than base-1")
    often = _flags(now, then, margin=0.2, repeats=3)
    assert (made.value, *ends(made)) == pytest.approx((often.value, *ends(often)))


EQUAL, BUT_ONE = [0.5] * 12, [1.0] + [0.0] * 11


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (_flags(BUT_ONE, [0.0] * 12), "8.3% after 0.0%: the baseline's mean is 0, of whi"),
        (
            _flags([0.0] * 12, [0.0] * 12),
            "0.0% after 0.0%: the baseline's mean is 0, of which no sh",
        ),
        (_drop(NOW, [0.3, -0.3] * 5 + [0.1] * 2), "the baseline's interval reaches 0, of which no"),
        (_drop(NOW, [0.0] * 12), "baseline's mean is 0, of which no share is known; limit the"),
        (_drop([0.5], [0.9]), "no spread is known; needs 2 questions"),
        (_drop(EQUAL, EQUAL), "no worse than base-1 on 12 questions (drop's 95% interval -2"),
        # Where low is better no one knows how much more another answer may have.
        (_drop(EQUAL, EQUAL, better="lower"), "all differences are equal: no spread is known"),
    ],
)
def test_what_decides_nothing(made: Estimate, said: str) -> None:
    """A baseline that is, or may be, nothing; one question; numbers without spread."""
    verdict = _judge(made)
    assert "inconclusive" == verdict.outcome
    assert said in verdict.reason


def test_nothing_changed_is_not_certain() -> None:
    """Where bounds are known it is as in the metric's units, over the baseline's mean."""
    bounds = (0.0, 1.0)
    made = _drop(THEN, THEN, bounds=bounds)
    of = measure(bounds=bounds, limits=(0.0,))
    absolute = gap_estimate(scores_of(THEN), scores_of(THEN), of, baseline="base-1")
    # Answers not seen may have lost all there is.
    high = ends(absolute)[1] / (sum(THEN) / len(THEN))
    assert (0.0, high) == pytest.approx((made.value, made.high))
    assert high > 0.2
    assert "inconclusive" == _judge(made).outcome
    assert "pass" == _judge(_drop(THEN * 10, THEN * 10, bounds=bounds)).outcome
    lost = _drop([0.6 * value for value in THEN] * 10, THEN * 10, bounds=bounds)
    assert 0.4 == pytest.approx(lost.value)
    assert "fail" == _judge(lost).outcome
    assert lost.p is not None
    assert lost.p < 0.05
