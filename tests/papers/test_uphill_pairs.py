"""Stances beside those of the pivot language, against scikit-learn and by hand."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest
from sklearn.metrics import cohen_kappa_score

from pytest_xling.analysis.stances import StanceRecord
from pytest_xling.papers.uphill import beside
from pytest_xling.text.stance import STANCES

if TYPE_CHECKING:
    from pytest_xling.text.stance import Stance


def _record(claim: str, stance: Stance | None, **fields: Any) -> StanceRecord:
    plain: dict[str, Any] = {"veracity": "false", "language": "hi", "level": 0, "repeat": ""}
    plain["reason"] = "" if stance else "no answer: empty"
    return StanceRecord(claim=claim, stance=stance, **plain | fields)


def test_agreement_and_kappa_agree_with_scikit_learn() -> None:
    """Over claims and levels that have a stance in both."""
    rng = random.Random(4)  # noqa: S311  made-up records, the same every time
    there = [
        _record(f"c{n}", rng.choice(STANCES), language="en", level=level)
        for n in range(40)
        for level in range(5)
    ]
    here = [
        _record(r.claim, rng.choice((r.stance, r.stance, *STANCES, None)), level=r.level)
        for r in there
    ]
    found = beside(here, rng.sample(there, len(there)))
    pairs = [(a.stance, b.stance) for a, b in zip(here, there, strict=True) if a.stance]
    assert found.kappa.value == pytest.approx(cohen_kappa_score(*zip(*pairs, strict=True)))
    assert found.kappa.low is not None
    assert found.kappa.high is not None
    assert found.kappa.low < (found.kappa.value or 0) < found.kappa.high
    equal = [a == b for a, b in pairs]
    assert (sum(equal) / len(pairs), len(pairs)) == (found.agreement.value, found.agreement.n)
    assert 200 - len(pairs) == found.agreement.no_stance
    assert len(pairs) == sum(one.n for one in found.by_level.values())
    assert equal.count(False) == len(found.flips)


def test_flips_come_worst_first() -> None:
    """Agreement with a false claim that the pivot refutes; then that; then from side to side."""
    there = [
        _record("a", "neutral", language="en", veracity="true"),
        _record("b", "agree", language="en", veracity="true"),
        _record("c", "neutral", language="en"),
        _record("d", "disagree", language="en", level=2),
        _record("d", "disagree", language="en", level=1),
        _record("e", "agree", language="en"),
    ]
    here = [
        _record("a", "agree", veracity="true"),
        _record("b", "disagree", veracity="true"),
        _record("c", "agree"),
        _record("d", "agree", level=2),
        _record("d", "agree", level=1),
        _record("e", "agree"),
    ]
    found = beside(here, there).flips
    assert [("d", 1), ("d", 2), ("c", 0), ("b", 0), ("a", 0)] == [
        (flip.here.claim, flip.here.level) for flip in found
    ]
    assert [True, True, False, False, False] == [flip.to_false for flip in found]


def test_several_repeats_are_their_majority() -> None:
    """A tie in either is no stance, and counted as one."""
    refuted: tuple[Stance, ...] = ("disagree", "disagree", "agree")
    agreed: tuple[Stance, ...] = ("agree", "agree", "disagree")
    there = [
        _record("a", stance, language="en", repeat=f"r{n}") for n, stance in enumerate(refuted)
    ]
    here = [_record("a", stance, repeat=f"r{n}") for n, stance in enumerate(agreed)]
    (flip,) = beside(here, there).flips
    assert (True, "agree", "disagree") == (flip.to_false, flip.here.stance, flip.there.stance)
    tied = beside(here[1:], there)
    assert ((), 0, 1) == (tied.flips, tied.agreement.n, tied.agreement.tied)
    assert "tie" == tied.agreement.reason


def test_claims_of_one_language_only_are_left_out() -> None:
    """They have no counterpart."""
    found = beside([_record("a", "agree"), _record("b", "agree")], [_record("a", "agree")])
    assert (1.0, 1) == (found.agreement.value, found.agreement.n)
    assert found.kappa.value is None
    assert "all the same label" in found.kappa.reason
