"""Tests of paired differences: sign flips over clusters, and Wilcoxon's signed ranks."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from pytest_xling.stats.group_means import RESOLUTION

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

Alternative: TypeAlias = Literal["two-sided", "greater", "less"]

_EXACT_FLIPS = 14
"""Up to so many clusters all 2^14 ways to flip them are tried."""
_CELLS = 4_000_000
"""Numbers held at once, of each of a few arrays: 32 MB."""
_EQUAL = 1e-9
"""Sums nearer than this part of what they can reach are equal but for rounding."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SignFlips:
    """How likely it is that chance alone takes the sum of differences as far from the margin."""

    p: float | None
    """Of drawn flips at least 1 / (flips + 1), so that it is never too small."""
    n: int
    """Clusters with a value."""
    exact: bool
    """Whether all ways to flip were tried."""
    reason: str = ""
    """Why there is no p."""


def sign_flip_test(
    values: NDArray[np.float64],
    *,
    margin: float = 0.0,
    alternative: Alternative = "two-sided",
    flips: int = 10_000,
    seed: int = 0,
) -> list[SignFlips]:
    """Test for each column of *values* whether its mean is *margin*.

    Where at most 14 of a column's clusters differ from the margin, all ways to flip them count.
    Else flips are drawn, the same for all columns, and what was seen counts as one more of them
    (Phipson and Smyth 2010, Permutation p-values should never be zero). With clusters that all are
    at the margin p is 1: there is nothing against it.

    Args:
        values: clusters x columns, one difference each, NaN where a cluster has no value.
        margin: with one other than 0 the differences are taken to be symmetric about it.
        alternative: which means count against the margin: all others, larger or smaller ones.
        flips: how many are drawn.
        seed: of the draws.

    Raises:
        ValueError: *values* has another shape, one is infinite, or there are no flips.
    """
    table = np.asarray(values, dtype=np.float64)
    if table.ndim != 2 or np.isinf(table).any() or flips < 1:  # noqa: PLR2004  rows and columns
        msg = "a test needs a table of finite values, clusters x columns, and at least 1 flip"
        raise ValueError(msg)
    there = ~np.isnan(table)
    away = np.where(there, table - margin, 0.0)
    if alternative == "less":
        away = -away
    n = there.sum(axis=0)
    exact = np.count_nonzero(away, axis=0) <= _EXACT_FLIPS
    both = alternative == "two-sided"
    p = np.ones(len(n))
    if len(drawn := np.flatnonzero(~exact)):
        random = np.random.default_rng(seed)
        signs = _random_signs(random, len(away), flips)
        p[drawn] = (1 + _as_far(away[:, drawn], signs, both=both)) / (flips + 1)
    for rows, columns in _by_rows(away, np.flatnonzero(exact)):
        block = away[np.ix_(rows, columns)]
        p[columns] = _as_far(block, _all_signs(len(rows)), both=both) / 2 ** len(rows)
    return [
        SignFlips(p=p_value, n=many, exact=tried)
        if many
        else SignFlips(p=None, n=0, exact=False, reason="no cluster has a value")
        for p_value, many, tried in zip(p.tolist(), n.tolist(), exact.tolist(), strict=True)
    ]


def _as_far(
    away: NDArray[np.float64], signs: Iterable[NDArray[np.float64]], *, both: bool
) -> NDArray[np.int64]:
    """Count for each column the flips that take its sum as far as it is, or farther.

    Args:
        away: clusters x columns, distances from the margin.
        signs: parts of a table flips x clusters of 1 and -1.
        both: whether sums on the other side count as well.
    """
    seen = away.sum(axis=0)
    least = (np.abs(seen) if both else seen) - _EQUAL * np.abs(away).sum(axis=0)
    counted = np.zeros(away.shape[1], dtype=np.int64)
    for part in signs:
        sums = part @ away
        counted += np.count_nonzero((np.abs(sums) if both else sums) >= least, axis=0)
    return counted


def _random_signs(
    random: np.random.Generator, clusters: int, flips: int
) -> Iterator[NDArray[np.float64]]:
    step = max(1, _CELLS // (8 * clusters))
    for start in range(0, flips, step):
        size = min(step, flips - start), -(-clusters // 8)
        bits = np.unpackbits(random.integers(0, 256, size=size, dtype=np.uint8), axis=1)
        yield 1.0 - 2.0 * bits[:, :clusters].astype(np.float64)


def _all_signs(clusters: int) -> Iterator[NDArray[np.float64]]:
    ways = np.arange(2**clusters)[:, None]
    yield 1.0 - 2.0 * ((ways >> np.arange(clusters)) & 1).astype(np.float64)


def _by_rows(
    away: NDArray[np.float64], columns: NDArray[np.intp]
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Yield columns that differ from the margin in the same rows, with these rows.

    At most as many columns at once as memory is meant for.
    """
    alike: defaultdict[bytes, list[int]] = defaultdict(list)
    for column in columns.tolist():
        alike[(away[:, column] != 0).tobytes()].append(column)
    most = max(1, _CELLS >> _EXACT_FLIPS)
    for pattern, rows_alike in alike.items():
        rows = np.flatnonzero(np.frombuffer(pattern, dtype=np.bool_))
        for start in range(0, len(rows_alike), most):
            yield rows, np.array(rows_alike[start : start + most])


Zeros: TypeAlias = Literal["wilcox", "pratt", "zsplit"]

_EXACT_RANKS = 200
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
    exact = len(free) <= _EXACT_RANKS
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
