"""Stances beside those of the pivot language, against scikit-learn and by hand."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest
from sklearn.metrics import cohen_kappa_score

from pytest_xling.analysis.stances import StanceRecord
from pytest_xling.papers.uphill import compare_with_pivot
from pytest_xling.text.stance import STANCES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_xling.papers.recipe import Row
    from pytest_xling.text.stance import Stance


def _record(claim: str, stance: Stance | None, **fields: Any) -> StanceRecord:
    plain: dict[str, Any] = {"veracity": "false", "language": "hi", "level": 0, "repeat": ""}
    plain["reason"] = "" if stance else "no answer: empty"
    return StanceRecord(claim=claim, stance=stance, **plain | fields)


def _compare(
    here: Sequence[StanceRecord], there: Sequence[StanceRecord]
) -> tuple[Row, list[Row], Row, list[Row]]:
    """Return the agreement over all levels, that of each, kappa and the flips."""
    rows = list(compare_with_pivot(here, there, claims={}))
    agreements = [row for row in rows if row["measure"] == "agreement"]
    flips = [row for row in rows if row["measure"] == "flip"]
    (kappa,) = (row for row in rows if row["measure"] == "kappa")
    return agreements[-1], agreements[:-1], kappa, flips


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
    agreement, by_level, kappa, flips = _compare(here, rng.sample(there, len(there)))
    pairs = [(a.stance, b.stance) for a, b in zip(here, there, strict=True) if a.stance]
    assert kappa["value"] == pytest.approx(cohen_kappa_score(*zip(*pairs, strict=True)))
    assert kappa["low"] < kappa["value"] < kappa["high"]
    equal = [a == b for a, b in pairs]
    assert (sum(equal) / len(pairs), len(pairs)) == (agreement["value"], agreement["n"])
    assert (None, 200 - len(pairs)) == (agreement["level"], agreement["no_stance"])
    assert list(range(5)) == [row["level"] for row in by_level]
    assert len(pairs) == sum(row["n"] for row in by_level)
    assert equal.count(False) == len(flips)


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
    *_, flips = _compare(here, there)
    assert [("d", 1), ("d", 2), ("c", 0), ("b", 0), ("a", 0)] == [
        (flip["claim"], flip["level"]) for flip in flips
    ]
    assert [1, 1, 0, 0, 0] == [flip["to_false"] for flip in flips]


def test_several_repeats_are_their_majority() -> None:
    """A tie in either is no stance, and counted as one."""
    refuted: tuple[Stance, ...] = ("disagree", "disagree", "agree")
    agreed: tuple[Stance, ...] = ("agree", "agree", "disagree")
    there = [
        _record("a", stance, language="en", repeat=f"r{n}") for n, stance in enumerate(refuted)
    ]
    here = [_record("a", stance, repeat=f"r{n}") for n, stance in enumerate(agreed)]
    *_, (flip,) = _compare(here, there)
    assert (1, "agree", "disagree") == (flip["to_false"], flip["stance"], flip["pivot_stance"])
    agreement, _, _, flips = _compare(here[1:], there)
    assert ([], 0, 1) == (flips, agreement["n"], agreement["tied"])
    assert "tie" == agreement["reason"]


def test_claims_of_one_language_only_are_left_out() -> None:
    """They have no counterpart."""
    one_language = [_record("a", "agree"), _record("b", "agree")]
    agreement, _, kappa, _ = _compare(one_language, one_language[:1])
    assert (1.0, 1) == (agreement["value"], agreement["n"])
    assert kappa["value"] is None
    assert "all the same label" in kappa["reason"]
