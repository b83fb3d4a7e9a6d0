"""Wilcoxon's signed ranks, against scipy and by trying all signs."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from pytest_xling.stats.paired_tests import signed_ranks

RNG = np.random.default_rng(4)
tied = st.lists(st.integers(-4, 4).map(lambda x: x / 4), min_size=2, max_size=9).filter(any)


@pytest.mark.parametrize("n", [2, 9, 50, 120])
def test_exact_p_is_scipys(n: int) -> None:
    """Without ties scipy is exact, too; the smaller sum of ranks is its statistic."""
    differences = RNG.normal(0.2, size=n)
    peers = stats.wilcoxon(differences, method="exact")
    found = signed_ranks(differences.tolist())
    assert float(peers.pvalue) == pytest.approx(found.p, abs=1e-12)
    assert found.rank_biserial is not None
    smaller = (1 - abs(found.rank_biserial)) / 2 * n * (n + 1) / 2
    assert float(peers.statistic) == pytest.approx(smaller)


@settings(max_examples=60, deadline=None)
@given(tied)
def test_all_signs_are_tried(differences: list[float]) -> None:
    """With ties the p is the share of signs that go as far."""
    kept = [d for d in differences if d]
    ranks = stats.rankdata(np.abs(kept)).tolist()
    seen = sum(math.copysign(rank, d) for rank, d in zip(ranks, kept, strict=True))
    ways = list(itertools.product((1, -1), repeat=len(kept)))
    far = sum(abs(sum(s * r for s, r in zip(way, ranks, strict=True))) >= abs(seen) for way in ways)
    found = signed_ranks(differences)
    assert far / len(ways) == pytest.approx(found.p)
    assert seen / sum(ranks) == pytest.approx(found.rank_biserial)


def test_many_differences_are_normal() -> None:
    """Beyond 200 the p is scipy's, whose variance knows of ties as well."""
    differences = np.round(RNG.normal(0.08, size=900), 1).tolist()
    peers = stats.wilcoxon(differences, correction=False, method="asymptotic")
    assert float(peers.pvalue) == pytest.approx(signed_ranks(differences).p, rel=1e-9)


def test_normal_is_near_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where both can be had they differ little."""
    differences = np.round(RNG.normal(0.2, size=150), 1).tolist()
    exact = signed_ranks(differences).p
    monkeypatch.setattr("pytest_xling.stats.paired_tests._EXACT_RANKS", 10)
    assert exact == pytest.approx(signed_ranks(differences).p, rel=0.1)


def test_rank_biserial_by_hand() -> None:
    """Ranks 1 to 4, the smallest one down: (9 - 1) / 10."""
    found = signed_ranks([0.2, -0.1, 0.3, 0.4, 0.0])
    assert 0.8 == pytest.approx(found.rank_biserial)
    assert 2 * 2 / 16 == pytest.approx(found.p)  # sums of 0 and 1, on either side


def test_rounding() -> None:
    """Ties are ties although floats say otherwise."""
    assert signed_ranks([0.1, 0.1 + 1e-9, 0.3]).p == signed_ranks([0.1, 0.1, 0.3]).p


def test_one_absurd_score_does_not_decide() -> None:
    """However large, it is one rank."""
    assert signed_ranks([0.1, -0.2, 0.3, 1.0]).p == signed_ranks([0.1, -0.2, 0.3, 1e9]).p


@pytest.mark.parametrize("differences", [[], [0.0] * 7])
def test_no_telling(differences: list[float]) -> None:
    """Without a difference there is no p."""
    found = signed_ranks(differences)
    assert (None, None) == (found.p, found.rank_biserial)


def test_no_number() -> None:
    """A mistake of the caller."""
    with pytest.raises(ValueError, match="not a number"):
        signed_ranks([0.1, math.nan])
