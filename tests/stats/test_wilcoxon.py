"""Wilcoxon's signed ranks, against scipy and by trying all signs."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from pytest_xling.stats.paired_tests import SignedRanks, Zeros, signed_ranks

RNG = np.random.default_rng(4)
tied = st.lists(st.integers(-4, 4).map(lambda x: x / 4), min_size=2, max_size=9).filter(any)


@pytest.mark.parametrize("n", [2, 9, 50, 120])
def test_exact_p_is_scipys(n: int) -> None:
    """Without ties scipy is exact, too."""
    differences = RNG.normal(0.2, size=n)
    peers = stats.wilcoxon(differences, method="exact")
    found = signed_ranks(differences.tolist())
    assert found.exact
    assert float(peers.pvalue) == pytest.approx(found.p, abs=1e-12)
    assert float(peers.statistic) == min(found.above, found.below)


@settings(max_examples=60, deadline=None)
@given(tied, st.sampled_from(["wilcox", "pratt", "zsplit"]))
def test_all_signs_are_tried(differences: list[float], zeros: Zeros) -> None:
    """With ties the p is the share of signs that go as far; the sums of ranks are scipy's."""
    found = signed_ranks(differences, zeros=zeros)
    peers = stats.wilcoxon(differences, zero_method=zeros, correction=False, method="asymptotic")
    assert float(peers.statistic) == pytest.approx(min(found.above, found.below))
    kept = [d for d in differences if d or zeros != "wilcox"]
    ranks = stats.rankdata(np.abs(kept))
    moving = [rank for rank, d in zip(ranks, kept, strict=True) if d]
    seen = abs(sum(math.copysign(rank, d) for rank, d in zip(ranks, kept, strict=True) if d))
    ways = list(itertools.product((1, -1), repeat=len(moving)))
    far = sum(abs(sum(s * r for s, r in zip(way, moving, strict=True))) >= seen for way in ways)
    assert far / len(ways) == pytest.approx(found.p)
    assert (len(differences), differences.count(0)) == (found.n, found.zeros)


@pytest.mark.parametrize("zeros", ["wilcox", "pratt", "zsplit"])
def test_many_differences_are_normal(zeros: Zeros) -> None:
    """Beyond 200 the p is scipy's, whose variance knows of ties as well."""
    differences = np.round(RNG.normal(0.08, size=900), 1).tolist()
    found = signed_ranks(differences, zeros=zeros)
    assert not found.exact
    peers = stats.wilcoxon(differences, zero_method=zeros, correction=False, method="asymptotic")
    # scipy leaves the zeros' ranks in the variance with zsplit, where they cannot vary.
    rel = 0.1 if zeros == "zsplit" else 1e-6
    assert float(peers.pvalue) == pytest.approx(found.p, rel=rel)


def test_normal_is_near_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where both can be had they differ little."""
    differences = np.round(RNG.normal(0.2, size=150), 1).tolist()
    exact = signed_ranks(differences).p
    monkeypatch.setattr("pytest_xling.stats.paired_tests._EXACT_RANKS", 10)
    assert exact == pytest.approx(signed_ranks(differences).p, rel=0.1)


def test_rank_biserial_by_hand() -> None:
    """Ranks 1 to 4, the smallest one down: (9 - 1) / 10."""
    found = signed_ranks([0.2, -0.1, 0.3, 0.4, 0.0])
    assert (9.0, 1.0) == (found.above, found.below)
    assert 0.8 == pytest.approx(found.rank_biserial)
    assert 2 * 2 / 16 == pytest.approx(found.p)  # sums of 0 and 1, on either side


def test_margin_and_rounding() -> None:
    """Differences at the margin are zeros although floats say otherwise, and ties are ties."""
    found = signed_ranks([0.1 + 0.2, 0.5, 0.7, 0.3], margin=0.3)
    assert (2, 3.0) == (found.zeros, found.above)
    assert signed_ranks([0.1, 0.1 + 1e-9, 0.3]).p == signed_ranks([0.1, 0.1, 0.3]).p


def test_one_absurd_score_does_not_decide() -> None:
    """However large, it is one rank."""
    assert signed_ranks([0.1, -0.2, 0.3, 1.0]).p == signed_ranks([0.1, -0.2, 0.3, 1e9]).p


@pytest.mark.parametrize(
    ("differences", "reason"),
    [([], "no sample has a value"), ([0.0] * 7, "all 7 differences are at the margin")],
)
def test_no_telling(differences: list[float], reason: str) -> None:
    """Without a difference there is no p."""
    for zeros in ("wilcox", "pratt", "zsplit"):
        found: SignedRanks = signed_ranks(differences, zeros=zeros)
        assert (None, None, reason) == (found.p, found.rank_biserial, found.reason)


def test_no_number() -> None:
    """A mistake of the caller."""
    with pytest.raises(ValueError, match="not a number"):
        signed_ranks([0.1, math.nan])
