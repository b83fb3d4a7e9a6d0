"""Gates that rest on an annotator nobody should believe."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from pytest_xling.gates.evidence import distrusted, doubt
from pytest_xling.records import Estimate, Threshold, Verdict
from pytest_xling.stats.label_quality import Labelling, LabelQuality, Measure
from pytest_xling.stats.labelling import labelling

if TYPE_CHECKING:
    from pytest_xling.records import Outcome

STANCES = ("agree", "disagree", "neutral")
THRESHOLD = Threshold(
    benchmark="b", metric="m", language="hi", max_rate=0.1, min_judge_f1=0.7, min_n=10
)
VERDICT = Verdict(
    case="m-hi",
    outcome="fail",
    estimate=Estimate(
        metric="m", language="hi", value=0.5, low=0.4, high=0.6, n=100, unscored=0, flagged=50
    ),
    threshold=THRESHOLD,
    reason="50 of 100 answers flagged",
)


def _quality(
    f1: float | None, low: float | None, *, n: int = 90, rarest: int = 20, high: float = 1.0
) -> Labelling:
    measure = Measure(value=f1, low=low, high=None if low is None else high)
    return Labelling(
        n=n,
        missing=0,
        accuracy=measure,
        macro_f1=measure,
        kappa=measure,
        labels=tuple(
            LabelQuality(label=label, support=many, precision=measure, recall=measure, f1=measure)
            for label, many in zip(STANCES, (n - rarest - 20, 20, rarest), strict=True)
        ),
    )


@pytest.mark.parametrize(
    ("quality", "lacks"),
    [
        (_quality(0.82, 0.7), ""),
        (_quality(0.82, 0.74), ""),
        (
            _quality(0.82, 0.64),
            "the interval must reach 0.7; needs about 203 labelled answers at this value; has 90",
        ),
        (
            _quality(0.7, 0.6),
            "the interval must reach 0.7; cannot be decided so near the limit",
        ),
        (_quality(0.52, 0.41), "below 0.7"),
        (_quality(0.95, 0.9, n=29), "too few to say: needs 30 labelled answers"),
        (_quality(0.95, 0.9, rarest=4), "too few of them neutral to say: needs 5 of each"),
        (
            _quality(0.95, None),
            "which has no interval; calibrate again on two claims or more, to reach 0.7",
        ),
        (
            _quality(None, None),
            "which has no interval; calibrate again on two claims or more, to reach 0.7",
        ),
    ],
)
def test_what_an_annotator_lacks(quality: Labelling, lacks: str) -> None:
    """The lower end of its F1 counts, and there must be enough labelled answers of each kind."""
    assert lacks == doubt(quality, THRESHOLD)


def test_as_many_as_the_gate_itself_needs() -> None:
    """A gate that asks for more answers asks for as many labelled ones."""
    lacks = doubt(_quality(0.95, 0.9), replace(THRESHOLD, min_n=100))
    assert "too few to say: needs 100 labelled answers" == lacks


def test_nobody_asked() -> None:
    """Without a demand everyone will do."""
    assert "" == doubt(_quality(0.1, None, n=3), replace(THRESHOLD, min_judge_f1=None))


@pytest.mark.parametrize("outcome", ["pass", "fail", "inconclusive"])
def test_without_trust_nothing_is_decided(outcome: Outcome) -> None:
    """Neither pass nor fail; the old reason stands last."""
    verdict = replace(VERDICT, outcome=outcome)
    found = distrusted(verdict, "stance_reader has F1 0.52 in hi, below 0.7")
    assert "inconclusive" == found.outcome
    assert (
        "stance_reader has F1 0.52 in hi, below 0.7: nothing is decided; 50 of 100 answers flagged"
        == found.reason
    )
    assert (verdict.estimate, verdict.threshold) == (found.estimate, found.threshold)


def test_an_error_stays_one() -> None:
    """There scores are missing, whoever made them."""
    error = replace(VERDICT, outcome="error")
    assert error == distrusted(error, "stance_reader has not been measured in hi")


def _trusted(right: float, n: int, *, runs: int = 300, claims: int | None = None) -> float:
    """Return how often a judge is trusted that is right so often, and else names another label.

    Answers about one of so many *claims* are mostly right, or mostly wrong, together.
    """
    rng = np.random.default_rng(7)
    labels = np.array(STANCES)
    known = rng.integers(3, size=(runs, n))
    wrong = rng.random((runs, n)) > right
    if claims is not None:
        easy = rng.beta(4 * right, max(4 * (1 - right), 1e-9), (runs, claims))
        wrong = rng.random((runs, n)) > easy[:, np.arange(n) % claims]
    given = (known + wrong * rng.integers(1, 3, (runs, n))) % 3
    trusted = 0
    for gold, said in zip(labels[known].tolist(), labels[given].tolist(), strict=True):
        clusters = [str(number % (claims or n)) for number in range(n)]
        quality = labelling(gold, said, labels=STANCES, clusters=clusters, resamples=500)
        trusted += not doubt(quality, THRESHOLD)
    return trusted / runs


@pytest.mark.parametrize("n", [30, 60])
@pytest.mark.slow
def test_a_bad_judge_is_seldom_trusted(n: int) -> None:
    """With all labels as common F1 is the share of right ones: of .53 none is, of .7 one in forty.

    By the F1 itself 15 answers let a judge of .53 through in 9 %, and one of .7 every other time.
    """
    assert _trusted(0.53, n) <= 0.01
    assert _trusted(0.7, n) <= 0.05
    assert _trusted(0.95, n) >= 0.8


@pytest.mark.slow
def test_answers_about_few_questions_vouch_for_nobody() -> None:
    """However many: about four claims 40 answers let a judge of .7 through too often."""
    assert 0.0 == _trusted(1.0, 40, runs=5, claims=4)
    assert _trusted(0.7, 40, claims=10) <= 0.08
    assert _trusted(0.95, 60, claims=12) >= 0.5


def test_fifteen_answers_vouch_for_nobody() -> None:
    """Nor for a judge that is always right."""
    assert not _trusted(1.0, 15, runs=5)
    assert _trusted(1.0, 40, runs=5)
