"""Measure how often intervals of a mean miss it on skewed numbers, and how wide they are.

    python perf/mean_intervals.py

Each line is a kind of 95 % interval, each column a distribution and a number of draws: how many per
cent of the intervals lie wholly above the true mean, how many wholly below it, and how wide they
are on average. The last two lines are what gates use: with the bounds that are known, and with
those that are assumed where none is (docs/planning.md has the table).
"""

from __future__ import annotations

import argparse
import math
import sys
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

from pytest_xling.stats.mean import mean_interval

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Values = NDArray[np.float64]
    Ends = tuple[Values, Values]

ALPHA = 0.05
ONES = 0.95
RESAMPLES, GRID, BATCH = 1000, 200, 50


def by_t(draws: Values) -> Ends:
    """Student's."""
    n = draws.shape[1]
    half = stats.t.ppf(1 - ALPHA / 2, n - 1) * draws.std(axis=1, ddof=1) / math.sqrt(n)
    return draws.mean(axis=1) - half, draws.mean(axis=1) + half


def by_t_with_both_bounds(draws: Values) -> Ends:
    """Student's, with one value at each bound added, as paired rates have them."""
    bounds = np.broadcast_to([0.0, 1.0], (len(draws), 2))
    low, high = by_t(np.hstack([draws, bounds]))
    return np.maximum(low, 0), np.minimum(high, 1)


def _resampled(draws: Values, rng: np.random.Generator) -> tuple[Values, Values]:
    """Return means and standard errors: draws x resamples."""
    n = draws.shape[1]
    again = draws[:, rng.integers(0, n, (RESAMPLES, n))]
    return again.mean(axis=2), again.std(axis=2, ddof=1) / math.sqrt(n)


def by_bca(draws: Values) -> Ends:
    """The bootstrap, bias-corrected and accelerated."""
    rng, ends = np.random.default_rng(1), []
    for row in draws:
        means = _resampled(row[None], rng)[0][0]
        share = np.clip((means < row.mean()).mean(), 1 / RESAMPLES, 1 - 1 / RESAMPLES)
        bias, away = stats.norm.ppf(share), row.mean() - row
        skew = (away**3).sum() / max(6 * (away**2).sum() ** 1.5, 1e-300)
        z = bias + stats.norm.ppf([ALPHA / 2, 1 - ALPHA / 2])
        ends.append(np.quantile(means, stats.norm.cdf(bias + z / (1 - skew * z))))
    low, high = np.array(ends).T
    return low, high


def by_bootstrap_t(draws: Values) -> Ends:
    """The bootstrap of the t statistic."""
    rng, n = np.random.default_rng(2), draws.shape[1]
    ends = []
    for row in draws:
        means, errors = (found[0] for found in _resampled(row[None], rng))
        known = errors > 0
        error = row.std(ddof=1) / math.sqrt(n)
        ts = (means[known] - row.mean()) / errors[known] if known.any() else np.zeros(1)
        ends.append(row.mean() - error * np.quantile(ts, [1 - ALPHA / 2, ALPHA / 2]))
    low, high = np.array(ends).T
    return low, high


def by_likelihood(draws: Values) -> Ends:
    """Owen's empirical likelihood, by the chi-square distribution."""
    z = stats.norm.ppf(1 - ALPHA / 2)

    def lower(values: Values) -> Values:
        x = values - values.min(axis=1, keepdims=True)
        x /= np.maximum(x.max(axis=1, keepdims=True), 1e-300)
        n = x.shape[1]
        left, right = np.full(len(x), -12.0), np.full(len(x), 40.0)
        for _ in range(60):
            tilt = (left + right) / 2
            tilted = 1 + np.exp(tilt)[:, None] * x
            logs = np.log(tilted).sum(axis=1) - n * np.log(n / (1 / tilted).sum(axis=1))
            short = np.sqrt(np.maximum(2 * logs, 0)) < z
            left, right = np.where(short, tilt, left), np.where(short, right, tilt)
        shares = 1 / (1 + np.exp(right)[:, None] * x)
        return np.asarray((shares * values).sum(axis=1) / shares.sum(axis=1))

    return lower(draws), -lower(-draws)


def by_hoeffding(draws: Values) -> Ends:
    """Hoeffding's inequality."""
    half = math.sqrt(math.log(2 / ALPHA) / (2 * draws.shape[1]))
    return np.maximum(draws.mean(axis=1) - half, 0), np.minimum(draws.mean(axis=1) + half, 1)


def by_bernstein(draws: Values) -> Ends:
    """Maurer and Pontil's empirical Bernstein bound."""
    n, logs = draws.shape[1], math.log(4 / ALPHA)
    half = np.sqrt(2 * draws.var(axis=1, ddof=1) * logs / n) + 7 * logs / (3 * (n - 1))
    return np.maximum(draws.mean(axis=1) - half, 0), np.minimum(draws.mean(axis=1) + half, 1)


def by_anderson(draws: Values) -> Ends:
    """Anderson's: from a band around the empirical distribution."""
    n = draws.shape[1]
    off = math.sqrt(math.log(2 / ALPHA) / (2 * n))
    kept = np.diff(np.minimum(np.arange(n + 1) / n, max(0.0, 1 - off)))
    rising = np.sort(draws, axis=1)
    low = rising @ kept
    return low, 1 - (1 - rising[:, ::-1]) @ kept


def by_betting(draws: Values) -> Ends:
    """Waudby-Smith and Ramdas's hedged capital, on a grid of means."""
    n = draws.shape[1]
    count = np.arange(1, n + 1)
    means = (0.5 + draws.cumsum(axis=1)) / (count + 1)
    spread = (0.25 + ((draws - means) ** 2).cumsum(axis=1)) / (count + 1)
    before = np.hstack([np.full((len(draws), 1), 0.25), spread[:, :-1]])
    bet = np.sqrt(2 * math.log(2 / ALPHA) / (n * before))[..., None]
    grid = np.linspace(0, 1, GRID + 1)[None, None]
    away = draws[..., None] - grid
    with np.errstate(divide="ignore"):
        up, down = (np.minimum(bet, 0.75 / side) for side in (grid, 1 - grid))
    capital = np.maximum(np.log1p(up * away).cumsum(axis=1), np.log1p(-down * away).cumsum(axis=1))
    held = (capital < math.log(2 / ALPHA)).all(axis=1)
    low, high = held.argmax(axis=1), GRID - held[:, ::-1].argmax(axis=1)
    return np.maximum(low - 1, 0) / GRID, np.minimum(high + 1, GRID) / GRID


def by_gaffke(draws: Values, bounds: tuple[float | None, float | None] = (0.0, 1.0)) -> Ends:
    """What gates use."""
    made = [mean_interval(row, range(len(row)), bounds=bounds) for row in draws.tolist()]
    ends = [(np.nan, np.nan) if one is None else (one.low, one.high) for one in made]
    low, high = np.array(ends).T
    return low, high


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--draws", type=int, default=2000)
    parser.add_argument("--sizes", type=int, nargs="+", default=[8, 18, 50, 200])
    arguments = parser.parse_args()
    rng = np.random.default_rng(0)
    shares: dict[str, Callable[[Values], Ends]] = {
        "t": by_t,
        "t, a value at each bound": by_t_with_both_bounds,
        "BCa": by_bca,
        "bootstrap-t": by_bootstrap_t,
        "empirical likelihood": by_likelihood,
        "betting": by_betting,
        "Hoeffding": by_hoeffding,
        "empirical Bernstein": by_bernstein,
        "Anderson": by_anderson,
        "Gaffke": by_gaffke,
    }
    any_number = {
        name: shares[name] for name in ("t", "BCa", "bootstrap-t", "empirical likelihood")
    }
    any_number["Gaffke, no upper bound"] = lambda draws: by_gaffke(draws, (0.0, None))
    many = arguments.draws
    cases: dict[str, tuple[Callable[[int], Values], float, dict[str, Callable[[Values], Ends]]]] = {
        "95 % ones": (lambda n: (rng.random((many, n)) < ONES).astype(float), ONES, shares),
        "beta(.5, .5)": (lambda n: rng.beta(0.5, 0.5, (many, n)), 0.5, shares),
        "lognormal": (lambda n: rng.lognormal(0, 1, (many, n)), math.exp(0.5), any_number),
    }
    for name, (draw, truth, methods) in cases.items():
        print(f"\n{name}, {many} draws: % above, % below, mean width")
        print(" " * 26 + "".join(f"{f'n = {n}':>20}" for n in arguments.sizes))
        drawn = {n: draw(n) for n in arguments.sizes}
        for method, ends in methods.items():
            cells = []
            for values in drawn.values():
                batches = [ends(values[at : at + BATCH]) for at in range(0, many, BATCH)]
                low, high = (np.concatenate(side) for side in zip(*batches, strict=True))
                above, below = (
                    100 * (low > truth + 1e-12).mean(),
                    100 * (high < truth - 1e-12).mean(),
                )
                cells.append(f"{above:6.1f}{below:6.1f}{np.nanmean(high - low):8.3f}")
            print(f"{method:26}{''.join(cells)}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
