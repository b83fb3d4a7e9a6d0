"""A permutation test of paired differences over clusters: flip their signs.

If neither side is worse, the two sides of a cluster might as well be swapped, all its answers in
all columns at once. Of flags alone :func:`pytest_xling.stats.mcnemar.sign_flip_p` is exact for many
more clusters.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

__all__ = ["Alternative", "SignFlips", "sign_flip_test"]

Alternative: TypeAlias = Literal["two-sided", "greater", "less"]

_EXACT = 14
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
    exact = np.count_nonzero(away, axis=0) <= _EXACT
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
        SignFlips(p=one, n=many, exact=tried)
        if many
        else SignFlips(p=None, n=0, exact=False, reason="no cluster has a value")
        for one, many, tried in zip(p.tolist(), n.tolist(), exact.tolist(), strict=True)
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
    most = max(1, _CELLS >> _EXACT)
    for pattern, found in alike.items():
        rows = np.flatnonzero(np.frombuffer(pattern, dtype=np.bool_))
        for start in range(0, len(found), most):
            yield rows, np.array(found[start : start + most])
