"""Bootstrap intervals of means over clusters, of many columns such as languages at once.

Whole clusters are drawn, since answers to one question resemble each other. The interval is
bias-corrected and accelerated: Efron (1987), Better bootstrap confidence intervals, with the
acceleration from the jackknife over clusters.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from pytest_xling.stats.distributions import check_alpha, two_sided_p, two_sided_t, two_sided_z
from pytest_xling.stats.group_means import RESOLUTION

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

_CELLS = 4_000_000
"""Numbers held at once, of each of a few arrays: 32 MB."""
_FEWEST = 100
_EQUAL = 1e-12
"""Means nearer than this part of them are equal but for rounding."""
_FEW = 50
"""Clusters up to which a column with gaps is drawn by itself, so that no draw is empty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BootstrapMean:
    """A mean with its interval; what there is no telling of is None, with the reason."""

    mean: float | None
    low: float | None
    high: float | None
    error: float | None
    """The spread of the resampled means."""
    p: float | None
    """Two-sided, of the true mean being the margin: below alpha where the interval leaves it out.

    Not smaller than resamples can show, about 2 / resamples.
    """
    n: int
    """Clusters with a value."""
    reason: str = ""
    """Why there is no mean, or no interval."""


def cluster_bootstrap(
    values: NDArray[np.float64],
    *,
    alpha: float = 0.05,
    margin: float = 0.0,
    resamples: int = 10_000,
    seed: int = 0,
    expanded: bool = True,
) -> list[BootstrapMean]:
    """Return the mean of each column of *values* with its two-sided 1 - *alpha* interval.

    Args:
        values: clusters x columns, NaN where a cluster has no value in a column. In paired designs
            each is a cluster's difference.
        alpha: the interval misses with this probability, both sides together.
        margin: what the p value is of.
        resamples: how many times the clusters are drawn, the same draws for all columns. Of a
            family of m gates p can only fall below alpha / m where this is above 2 m / alpha.
        seed: of the draws.
        expanded: widen the interval by what Student's t is wider than the normal distribution, for
            resampled means of n clusters vary too little by (n - 1) / n, and their tails are too
            short (Hesterberg 2015, What teachers should know about the bootstrap, section 5.3).

    Returns:
        One per column. There is no interval of fewer than two clusters with a value, nor where all
        values are equal, nor where no resampled mean lies beyond its end: of 5 % that takes 5
        clusters, and as many that differ.

    Raises:
        ValueError: *values* has another shape, one is infinite, or a number is out of range.
    """
    table = np.asarray(values, dtype=np.float64)
    if table.ndim != 2:  # noqa: PLR2004  rows and columns
        msg = f"values are clusters x columns, not an array of {table.ndim} dimensions"
        raise ValueError(msg)
    check_alpha(alpha)
    if resamples < _FEWEST:
        msg = f"an interval needs {_FEWEST} resamples or more, not {resamples!r}"
        raise ValueError(msg)
    if np.isinf(table).any():
        msg = "a value is infinite"
        raise ValueError(msg)
    present = ~np.isnan(table)
    sums, counts = np.where(present, table, 0.0), present.astype(np.float64)
    used = counts.any(axis=1)
    sums, counts = sums[used], counts[used]
    n = np.count_nonzero(counts, axis=0)
    total = counts.sum(axis=0)
    means = np.divide(sums.sum(axis=0), total, out=np.zeros(len(total)), where=total > 0)
    own = np.divide(sums, counts, out=np.full(sums.shape, np.nan), where=counts > 0)
    width = np.where(counts > 0, np.abs(own - means), 0.0).max(axis=0, initial=0.0)
    size = np.where(counts > 0, np.abs(own), 0.0).max(axis=0, initial=0.0)
    spread = np.flatnonzero((n > 1) & (width > RESOLUTION * size))
    results = [
        _without_interval(float(mean), int(many)) for mean, many in zip(means, n, strict=True)
    ]
    # Few of many clusters are drawn among themselves: else their number would be chance as well.
    alone = (n[spread] < len(sums)) & (n[spread] <= _FEW)
    shared, block = spread[~alone], max(1, _CELLS // resamples)
    blocks = [shared[start : start + block] for start in range(0, len(shared), block)]
    for chosen in (*blocks, *(spread[alone][:, None])):
        rows = np.ix_(counts[:, chosen].any(axis=1), chosen)
        drawn_results = _intervals(
            _resampled_means(sums[rows], counts[rows], resamples=resamples, seed=seed),
            means[chosen],
            _acceleration(sums[rows], counts[rows]),
            n[chosen],
            alpha=alpha,
            margin=margin,
            expanded=expanded,
        )
        for column, result in zip(chosen, drawn_results, strict=True):
            results[column] = result
    return results


def _without_interval(mean: float, n: int) -> BootstrapMean:
    reason = {0: "no cluster has a value", 1: "one cluster has no spread"}.get(
        n, f"the values of all {n} clusters are equal: drawing them again shows no spread"
    )
    known = mean if n else None
    return BootstrapMean(mean=known, low=None, high=None, error=None, p=None, n=n, reason=reason)


def _resampled_means(
    sums: NDArray[np.float64], counts: NDArray[np.float64], *, resamples: int, seed: int
) -> NDArray[np.float64]:
    """Return the resampled means, columns x resamples, sorted; NaN, last, where none has a value.

    How often each cluster is drawn stands in a matrix, so that all columns are one product.
    """
    clusters, k = sums.shape
    random = np.random.default_rng(seed)
    alike = bool((counts == counts[:, :1]).all() and np.ptp(counts[:, 0]) == 0)
    both = sums if alike else np.concatenate([sums, counts], axis=1)
    means = np.empty((k, resamples))
    step = max(1, min(resamples, _CELLS // (4 * clusters)))
    for start in range(0, resamples, step):
        rows = min(step, resamples - start)
        picked = random.integers(0, clusters, size=(rows, clusters))
        picked += clusters * np.arange(rows)[:, None]
        weights = np.bincount(picked.ravel(), minlength=rows * clusters).reshape(rows, clusters)
        products = both.T @ weights.T.astype(np.float64)
        if alike:
            means[:, start : start + rows] = products / (clusters * counts[0, 0])
        else:
            into = means[:, start : start + rows]
            into[:] = np.nan
            np.divide(products[:k], products[k:], out=into, where=products[k:] > 0)
    means.sort(axis=1)
    return means


def _acceleration(sums: NDArray[np.float64], counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return for each column how fast the spread changes with the mean, from the jackknife."""
    present = counts > 0
    n = present.sum(axis=0)
    left_out = np.divide(
        sums.sum(axis=0) - sums,
        counts.sum(axis=0) - counts,
        out=np.zeros(sums.shape),
        where=present,
    )
    away = np.where(present, left_out.sum(axis=0) / n - left_out, 0.0)
    bottom = 6 * (away**2).sum(axis=0) ** 1.5
    acceleration: NDArray[np.float64] = np.divide(
        (away**3).sum(axis=0), bottom, out=np.zeros(len(n)), where=bottom > 0
    )
    return acceleration


def _intervals(
    drawn: NDArray[np.float64],
    means: NDArray[np.float64],
    acceleration: NDArray[np.float64],
    n: NDArray[np.int64],
    *,
    alpha: float,
    margin: float,
    expanded: bool,
) -> Iterator[BootstrapMean]:
    """Read each column's interval and p off its sorted resampled means."""
    from scipy.special import ndtr, ndtri  # noqa: PLC0415  only bootstraps need it

    valid = np.count_nonzero(~np.isnan(drawn), axis=1)
    zs = [
        two_sided_t(alpha, many - 1) * math.sqrt(many / (many - 1))
        if expanded
        else two_sided_z(alpha)
        for many in n.tolist()
    ]
    bias = ndtri(_share_below(drawn, means, valid))
    z0 = ndtri(_share_below(drawn, np.full(len(means), margin), valid))
    ends, reached = [], np.ones(len(means), dtype=np.bool_)
    for z in (-np.array(zs), np.array(zs)):
        shifted = bias + z
        slower = 1 - acceleration * shifted
        # Beyond the pole of the formula lies the end of what was drawn.
        q = np.where(
            slower > 0,
            ndtr(bias + shifted / np.where(slower > 0, slower, 1.0)),
            (shifted > 0).astype(np.float64),
        )
        ends.append(_quantiles(drawn, q, valid))
        reached &= (q * (valid - 1) >= 1) & (q * (valid - 1) <= valid - 2)
    # Where no mean was drawn beyond an end, the interval might end anywhere there.
    last = drawn[np.arange(len(drawn)), valid - 1]
    near = _EQUAL * np.maximum(np.abs(drawn[:, 0]), np.abs(last))
    reached &= (drawn[:, 0] + near < ends[0]) & (ends[1] < last - near)
    error = np.nanstd(drawn, axis=1, ddof=1)
    # The same formula, solved for the z at which an end of the interval is the margin.
    slower = 1 + acceleration * (z0 - bias)
    distance = np.where(slower > 0, (z0 - bias) / np.where(slower > 0, slower, 1.0), np.inf) - bias
    rows = zip(means, n, distance, ends[0], ends[1], error, reached, strict=True)
    for mean, many, away, low, high, spread, known in rows:
        if not known:
            reason = f"{many} clusters, drawn {drawn.shape[1]} times, never go as far as it has to"
            yield replace(_without_interval(float(mean), int(many)), reason=reason)
            continue
        p = (
            two_sided_p(float(away) * math.sqrt((many - 1) / many), int(many) - 1)
            if expanded
            else math.erfc(abs(float(away)) / math.sqrt(2))
        )
        yield BootstrapMean(
            mean=float(mean),
            low=float(low),
            high=float(high),
            error=float(spread),
            p=p,
            n=int(many),
        )


def _share_below(
    drawn: NDArray[np.float64], points: NDArray[np.float64], valid: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the share of each sorted row below its point, ties by half; never 0 or 1."""
    near = _EQUAL * np.maximum(np.abs(points), np.nanmax(np.abs(drawn), axis=1))
    around = np.stack([points - near, points + near], axis=1)
    ranks = [np.searchsorted(row, pair) for row, pair in zip(drawn, around, strict=True)]
    clipped: NDArray[np.float64] = np.clip(np.mean(ranks, axis=1), 1, valid - 1) / valid
    return clipped


def _quantiles(
    drawn: NDArray[np.float64], q: NDArray[np.float64], valid: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return one quantile of each sorted row, linear between its values."""
    place = q * (valid - 1)
    floor = np.floor(place).astype(np.intp)
    rows = np.arange(len(drawn))
    low, high = drawn[rows, floor], drawn[rows, np.minimum(floor + 1, valid - 1)]
    quantiles: NDArray[np.float64] = low + (place - floor) * (high - low)
    return quantiles
