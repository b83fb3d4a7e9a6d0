"""Wilcoxon's signed-rank test of paired differences, exact also where they are tied.

Wilcoxon (1945), Individual comparisons by ranking methods. It asks whether differences are
symmetric about the margin and lets none count more than its rank, so that one absurd score does not
decide. scipy's test leaves exactness where there are ties, which scores of few values always have.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from pytest_xling.stats.summary import RESOLUTION

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["SignedRanks", "Zeros", "signed_ranks"]

Zeros: TypeAlias = Literal["wilcox", "pratt", "zsplit"]

_EXACT = 200
"""Up to so many differences the distribution is computed: some milliseconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedRanks:
    """Sums of ranks on either side of the margin, and how likely chance alone makes them."""

    above: float
    """Sum of the ranks of differences above the margin, Wilcoxon's T+."""
    below: float
    p: float | None
    """Two-sided."""
    rank_biserial: float | None
    """(above - below) / (above + below), from -1 to 1 (Kerby 2014)."""
    n: int
    """Differences there are."""
    zeros: int
    """How many of them are at the margin."""
    exact: bool
    reason: str = ""
    """Why there is no p."""


def signed_ranks(
    differences: Sequence[float], *, margin: float = 0.0, zeros: Zeros = "wilcox"
) -> SignedRanks:
    """Test whether *differences* are symmetric about *margin*.

    With up to 200 differences the p is exact given the ranks, ties and all; beyond, it is that of
    the normal distribution, its variance that of the ranks as they are, without a correction for
    continuity.

    Args:
        differences: one per sample, so that answers to one question are averaged before.
        margin: what is subtracted first. Differences that 32 bits cannot tell from it are at the
            margin, and those they cannot tell from each other are tied.
        zeros: what becomes of those at the margin, in scipy's words. By default they are left out;
            ``pratt`` ranks them and leaves them out then; ``zsplit`` gives half of their ranks to
            either side, which only adds certainty that both are alike.

    Raises:
        ValueError: a difference is not finite.
    """
    if not all(math.isfinite(difference) for difference in differences):
        msg = "a difference is infinite or not a number"
        raise ValueError(msg)
    away = np.asarray(differences, dtype=np.float64) - margin
    away = np.where(np.abs(away) <= RESOLUTION * abs(margin), 0.0, away)
    n, lying = len(away), int(np.count_nonzero(away == 0))
    ranked = away[away != 0] if zeros == "wilcox" else away
    doubled = _doubled_ranks(np.abs(ranked))
    up, down = int(doubled[ranked > 0].sum()), int(doubled[ranked < 0].sum())
    shared = int(doubled[ranked == 0].sum()) / 2 if zeros == "zsplit" else 0.0
    above, below = (up + shared) / 2, (down + shared) / 2
    if not up + down:
        reason = f"all {n} differences are at the margin" if n else "no sample has a value"
        return SignedRanks(
            above=above,
            below=below,
            p=None,
            rank_biserial=None,
            n=n,
            zeros=lying,
            exact=False,
            reason=reason,
        )
    free = doubled[ranked != 0]
    exact = len(free) <= _EXACT
    return SignedRanks(
        above=above,
        below=below,
        p=_exact_p(free, up) if exact else _normal_p(free, up),
        rank_biserial=(above - below) / (above + below),
        n=n,
        zeros=lying,
        exact=exact,
    )


def _doubled_ranks(sizes: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return twice the rank of each size, ties sharing theirs; doubled, they are whole numbers."""
    order = np.argsort(sizes)
    steps = np.diff(sizes[order], prepend=-np.inf) > RESOLUTION * sizes[order]
    group = np.cumsum(steps) - 1
    last = np.cumsum(np.bincount(group)) if len(sizes) else np.zeros(0, dtype=np.int64)
    first = np.concatenate([[0], last[:-1]]) if len(sizes) else last
    made = np.empty(len(sizes), dtype=np.int64)
    made[order] = (first + 1 + last)[group]
    return made


def _exact_p(doubled: NDArray[np.int64], up: int) -> float:
    """Return the share of all signs that take the sum as far from its middle, two-sided."""
    chances = np.ones(1)
    for step in np.sort(doubled):
        chances = (np.pad(chances, (0, step)) + np.pad(chances, (step, 0))) / 2
    fewer = min(up, int(doubled.sum()) - up)
    return min(1.0, 2 * float(chances[: fewer + 1].sum()))


def _normal_p(doubled: NDArray[np.int64], up: int) -> float:
    ranks = doubled / 2
    z = (up / 2 - ranks.sum() / 2) / math.sqrt(float((ranks**2).sum()) / 4)
    return math.erfc(abs(z) / math.sqrt(2))
