"""Cumulative link mixed models: ordered ratings by fixed effects and random intercepts.

logit P(Y ≤ j) = θⱼ - xβ - Σ u, where each u ~ N(0, σ²) is what a group adds (an annotator, say):
positive coefficients mean higher ratings. This is the model of R's ``ordinal::clm`` and
``ordinal::clmm`` with the logit link and flexible thresholds (Christensen, *Cumulative Link Models
for Ordinal Regression with the R Package ordinal*).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import linprog, minimize
from scipy.special import expit, logsumexp, ndtr

from pytest_xling.stats.distributions import check_alpha, two_sided_z
from pytest_xling.stats.group_means import beyond

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

__all__ = [
    "Clmm",
    "Coefficient",
    "Contrast",
    "MarginalMean",
    "NoFit",
    "RandomIntercept",
    "contrasts",
    "fit_clmm",
    "marginal_means",
    "separating_direction",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Coefficient:
    """An estimate on the scale of log odds, with its standard error (Wald)."""

    name: str
    estimate: float
    se: float

    @property
    def z(self) -> float:
        """The estimate in standard errors."""
        return self.estimate / self.se

    @property
    def p(self) -> float:
        """Two-sided, of the truth being 0."""
        return 2 * float(ndtr(-abs(self.z)))


@dataclass(frozen=True, slots=True, kw_only=True)
class RandomIntercept:
    """How much groups of one kind differ."""

    name: str
    groups: int
    sd: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Clmm:
    """A fitted model."""

    n: int
    thresholds: tuple[Coefficient, ...]
    """Between each two neighbouring categories, named ``1|2``."""
    fixed: tuple[Coefficient, ...]
    random: tuple[RandomIntercept, ...]
    log_likelihood: float
    covariance: NDArray[np.float64]
    """Of the thresholds and then the fixed effects."""
    variance_of_fixed: float
    """Of xβ over the ratings."""

    @property
    def aic(self) -> float:
        """Akaike's criterion."""
        return 2 * (len(self.covariance) + len(self.random) - self.log_likelihood)

    @property
    def r2_marginal(self) -> float:
        """What the fixed effects explain: Nakagawa and Schielzeth (2013), residual π²/3."""
        return self.variance_of_fixed / self._variance

    @property
    def r2_conditional(self) -> float:
        """What the fixed effects and the random intercepts explain together."""
        return (self.variance_of_fixed + self._variance_of_random) / self._variance

    @property
    def _variance_of_random(self) -> float:
        return sum(term.sd**2 for term in self.random)

    @property
    def _variance(self) -> float:
        return self.variance_of_fixed + self._variance_of_random + math.pi**2 / 3


@dataclass(frozen=True, slots=True, kw_only=True)
class NoFit:
    """Why there is no model."""

    reason: str


def fit_clmm(
    ratings: Sequence[int],
    *,
    fixed: Mapping[str, ArrayLike] | None = None,
    random: Mapping[str, Sequence[object]] | None = None,
    points: int = 10,
) -> Clmm | NoFit:
    """Fit the model by maximum likelihood.

    The integral over one random intercept is taken by adaptive Gauss–Hermite quadrature, over
    several (nested or crossed) by Laplace's approximation. Standard errors are of the observed
    information. A category that nobody used has no threshold.

    Args:
        ratings: whole numbers, n of them.
        fixed: columns of the design without an intercept, n numbers each, by name.
        random: the groups that the ratings belong to, n labels each, by name. Those of a nested
            kind need labels of their own: ``("hi", "ana")``.
        points: of the quadrature over one random intercept; 1 is Laplace's approximation.

    Returns:
        The model, or why there is none: one category, a separation, as many groups as ratings.

    Raises:
        ValueError: *points* is below 1, or a column has another length than *ratings*.
    """
    fixed, random = fixed or {}, random or {}
    if points < 1:
        msg = f"points must be at least 1, not {points!r}"
        raise ValueError(msg)
    if any(len(np.asarray(column)) != len(ratings) for column in (*fixed.values(),)) or any(
        len(labels) != len(ratings) for labels in random.values()
    ):
        msg = "each column needs a value for each rating"
        raise ValueError(msg)
    levels, categories = np.unique(np.asarray(ratings, dtype=int), return_inverse=True)
    design = _matrix(fixed, len(ratings))
    codes = [_codes(labels) for labels in random.values()]
    counts = [int(code.max()) + 1 if len(code) else 0 for code in codes]
    if reason := _unfit(levels, categories, design, dict(zip(random, counts, strict=True))):
        return NoFit(reason=reason)
    likelihood = _Likelihood(categories, design, codes, points)
    found = _maximise(likelihood)
    if isinstance(found, NoFit):
        return found
    estimates, covariance, value = found
    borders = len(levels) - 1
    names = [f"{low}|{high}" for low, high in pairwise(levels)]
    made = [
        Coefficient(name=name, estimate=float(estimate), se=float(se))
        for name, estimate, se in zip(
            [*names, *fixed],
            estimates[: borders + len(fixed)],
            np.sqrt(np.diag(covariance)),
            strict=False,
        )
    ]
    together = borders + len(fixed)
    explained = design @ estimates[borders:together]
    return Clmm(
        n=len(categories),
        thresholds=tuple(made[:borders]),
        fixed=tuple(made[borders:]),
        random=tuple(
            RandomIntercept(name=name, groups=groups, sd=abs(float(sd)))
            for name, groups, sd in zip(random, counts, estimates[together:], strict=True)
        ),
        log_likelihood=value,
        covariance=covariance[:together, :together],
        variance_of_fixed=float(np.var(explained, ddof=1)),
    )


def _matrix(fixed: Mapping[str, ArrayLike], n: int) -> NDArray[np.float64]:
    columns = [np.asarray(column, dtype=float) for column in fixed.values()]
    return np.column_stack(columns) if columns else np.zeros((n, 0))


def _codes(labels: Sequence[object]) -> NDArray[np.intp]:
    """Return the labels as numbers from 0, in the order in which they first appear."""
    numbers: dict[object, int] = {}
    return np.array([numbers.setdefault(label, len(numbers)) for label in labels], dtype=np.intp)


def _unfit(
    levels: NDArray[np.int_],
    categories: NDArray[np.intp],
    design: NDArray[np.float64],
    groups: Mapping[str, int],
) -> str:
    """Return why no model can be fitted; "" where one may."""
    n = len(categories)
    if len(levels) < 2:  # noqa: PLR2004  a threshold lies between two
        what = f"all {n} ratings are {levels[0]}" if n else "there is no rating"
        return f"{what}; a model needs two categories"
    for name, count in groups.items():
        if count < 2:  # noqa: PLR2004  a variance needs two
            return f"there is one {name} only, and how they differ cannot be told from one"
        if count >= n:
            return f"there are as many groups of {name!r} as ratings; each needs several"
    if np.linalg.matrix_rank(np.column_stack([np.ones(n), design])) <= design.shape[1]:
        return "the fixed effects cannot be told apart: a combination of them was never rated"
    if separating_direction(categories, design) is not None:
        return (
            "the ratings are perfectly separated by the fixed effects, which have no finite "
            "estimates then"
        )
    return ""


def separating_direction(
    categories: NDArray[np.intp], design: NDArray[np.float64]
) -> NDArray[np.float64] | None:
    """Return coefficients along which the likelihood never falls; None where there are none.

    They exist where the ratings are perfectly separated, or nearly (the highest rating of one side
    is the lowest of the other), and estimates are infinite then. Found by linear programming: a
    direction in which no rating becomes less likely, and some more (Haberman, 1980).

    Args:
        categories: from 0 without a gap, n of them.
        design: n x p, without an intercept.
    """
    borders, width = int(categories.max()), design.shape[1]
    rows = np.unique(np.column_stack([categories, design]), axis=0)
    constraints = []
    for category, *x in rows.tolist():
        for border, sign in ((int(category), 1.0), (int(category) - 1, -1.0)):
            if 0 <= border < borders:
                thresholds = [0.0] * borders
                thresholds[border] = sign
                constraints.append([*thresholds, *(-sign * value for value in x)])
    moved = np.array(constraints)
    solved: Any = linprog(
        -moved.sum(axis=0), A_ub=-moved, b_ub=np.zeros(len(moved)), bounds=(-1, 1), method="highs"
    )
    if -solved.fun <= _NO_MOVE:
        return None
    direction: NDArray[np.float64] = solved.x[borders : borders + width]
    return direction


_NO_MOVE = 1e-7


class _Ends:
    """The thresholds about each rating, less its fixed effects: S x rows each."""

    def __init__(self, above: NDArray[np.float64], below: NDArray[np.float64]) -> None:
        self.above = above
        self.below = below
        with np.errstate(divide="ignore"):  # thresholds that are one: no rating lies between
            self._gap = np.log(-np.expm1(below - above))

    def logs(self, shift: NDArray[np.float64] | float) -> NDArray[np.float64]:
        """Return the logs of the ratings' probabilities, where *shift* is what groups add.

        F(a) - F(b) = F(a)·[1 - F(b)]·[1 - exp(b - a)] for the logistic F, which loses no digits.
        """
        upper = np.logaddexp(0, shift - self.above)
        lower = np.logaddexp(0, self.below - shift)
        logs: NDArray[np.float64] = self._gap - upper - lower
        return logs


class _Likelihood:
    """The log-likelihood at many parameters at once: derivatives are taken numerically.

    Parameters are S x P: thresholds as the first and the logs of the steps to the next, then
    coefficients, then standard deviations of the random intercepts, whose sign does not matter, so
    that 0 is no border.
    """

    def __init__(
        self,
        categories: NDArray[np.intp],
        design: NDArray[np.float64],
        codes: Sequence[NDArray[np.intp]],
        points: int,
    ) -> None:
        # Equal ratings of equal rows in equal groups count several times; ordered by groups, sums
        # over a cell (the ratings that share all their groups) are those of slices.
        columns = [*codes, categories, *design.T]
        rows, self.times = np.unique(np.column_stack(columns), axis=0, return_counts=True)
        terms = len(codes)
        self.categories = rows[:, terms].astype(int)
        self.design = rows[:, terms + 1 :]
        self.borders = int(categories.max())
        self.share = np.bincount(categories) / len(categories)
        self.points = points
        self.sizes = [int(code.max()) + 1 for code in codes]
        cells, first, self.cell = np.unique(
            rows[:, :terms].astype(int), axis=0, return_index=True, return_inverse=True
        )
        self.starts = first
        starts = np.cumsum([0, *self.sizes])
        self.term = np.repeat(np.arange(terms), self.sizes)
        self.membership = np.zeros((len(cells), int(starts[-1])))
        for term in range(terms):
            self.membership[np.arange(len(cells)), starts[term] + cells[:, term]] = 1.0

    @property
    def start(self) -> NDArray[np.float64]:
        """Where to begin: the categories' shares, no fixed effects, groups that differ by 1."""
        reached = np.cumsum(self.share)[:-1]
        thresholds = np.log(reached / (1 - reached))
        steps = np.log(np.maximum(np.diff(thresholds), _SMALL_STEP))
        zeros = np.zeros(self.design.shape[1])
        return np.concatenate([thresholds[:1], steps, zeros, np.ones(len(self.sizes))])

    def natural(self, parameters: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return S x P parameters whose thresholds are thresholds."""
        made = parameters.copy()
        steps = np.exp(np.clip(parameters[:, 1 : self.borders], -_LARGEST_LOG, _LARGEST_LOG))
        made[:, 1 : self.borders] = parameters[:, :1] + np.cumsum(steps, axis=1)
        return made

    def __call__(self, parameters: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return S log-likelihoods of S x P parameters."""
        wide = max(len(self.times) * self.points, self.membership.shape[1] ** 2, 1)
        together = max(1, _MOST_NUMBERS // wide)
        parts = [
            self._values(self.natural(parameters[at : at + together]))
            for at in range(0, len(parameters), together)
        ]
        return np.concatenate(parts)

    def _values(self, parameters: NDArray[np.float64]) -> NDArray[np.float64]:
        beyond_all = np.full((len(parameters), 1), np.inf)
        thresholds = np.hstack([-beyond_all, parameters[:, : self.borders], beyond_all])
        width = self.design.shape[1]
        eta = parameters[:, self.borders : self.borders + width] @ self.design.T
        ends = _Ends(thresholds[:, self.categories + 1] - eta, thresholds[:, self.categories] - eta)
        if not self.sizes:
            fixed_only: NDArray[np.float64] = ends.logs(0.0) @ self.times
            return fixed_only
        scale = parameters[:, self.borders + width :][:, self.term]
        mode, height, information = self._mode(ends, scale)
        if len(self.sizes) == 1 and self.points > 1:
            spread = 1 / np.sqrt(np.diagonal(information, axis1=1, axis2=2))
            return self._quadrature(ends, scale, mode, spread)
        laplace: NDArray[np.float64] = height - np.linalg.slogdet(information)[1] / 2
        return laplace

    def _mode(
        self, ends: _Ends, scale: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Return the most likely groups' effects (in standard deviations), height, information.

        By Newton's method: the function is strictly concave.
        """
        effects = np.zeros_like(scale)
        height = self._height(ends, scale, effects)
        identity = np.eye(scale.shape[1])
        for _ in range(_MOST_STEPS):
            shift = self._shift(scale, effects)
            upper, lower = expit(ends.above - shift), expit(ends.below - shift)
            slope = self._by_cell(upper + lower - 1) @ self.membership * scale - effects
            weight = self._by_cell(upper * (1 - upper) + lower * (1 - lower))
            curved = self.membership.T @ (weight[:, :, None] * self.membership)
            information = identity + curved * scale[:, :, None] * scale[:, None, :]
            step = np.linalg.solve(information, slope[:, :, None])[:, :, 0]
            if np.sum(slope * step, axis=1).max() < _FLAT:
                break
            for _ in range(_MOST_HALVINGS):
                tried = self._height(ends, scale, effects + step)
                worse = ~(tried >= height - _ROUNDING)
                if not worse.any():
                    break
                step[worse] /= 2
            effects, height = effects + step, tried
        return effects, height, information

    def _height(
        self, ends: _Ends, scale: NDArray[np.float64], effects: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        shift = self._shift(scale, effects)
        rated = ends.logs(shift) @ self.times
        height: NDArray[np.float64] = rated - np.sum(effects**2, axis=1) / 2
        return height

    def _shift(
        self, scale: NDArray[np.float64], effects: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return what its groups add to each row."""
        return ((effects * scale) @ self.membership.T)[:, self.cell]

    def _by_cell(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        sums: NDArray[np.float64] = np.add.reduceat(values * self.times, self.starts, axis=-1)
        return sums

    def _quadrature(
        self,
        ends: _Ends,
        scale: NDArray[np.float64],
        mode: NDArray[np.float64],
        spread: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        """Integrate each group's likelihood over its effect, at points about its mode."""
        nodes, weights = np.polynomial.hermite.hermgauss(self.points)
        logs = []
        for node, weight in zip(nodes, weights, strict=True):
            effects = mode + math.sqrt(2) * node * spread
            shift = self._shift(scale, effects)
            rated = self._by_cell(ends.logs(shift))
            # A single random intercept has a cell per group, but in the order of the cells.
            prior = (effects @ self.membership.T) ** 2 / 2
            logs.append(rated - prior + node**2 + math.log(weight))
        sums = logsumexp(np.stack(logs), axis=0) + np.log(spread @ self.membership.T)
        total: NDArray[np.float64] = np.sum(sums - math.log(math.pi) / 2, axis=1)
        return total


_SMALL_STEP = 1e-3
_LARGEST_LOG = 30.0
_MOST_NUMBERS = 4_000_000
_MOST_STEPS = 100
_MOST_HALVINGS = 30
_FLAT = 1e-14
_ROUNDING = 1e-9
_SLOPE_STEP = 1e-5
_CURVE_STEP = 1e-3
_CONVERGED = 1e-8
_UNBOUNDED = 10.0
"""Groups that differ by so many log odds use a category each."""


def _maximise(
    likelihood: _Likelihood,
) -> tuple[NDArray[np.float64], NDArray[np.float64], float] | NoFit:
    """Return natural estimates, their covariance and the log-likelihood."""
    size = len(likelihood.start)
    near = np.vstack([np.zeros((1, size)), np.eye(size), -np.eye(size)])

    def slope(at: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        values = -np.nan_to_num(likelihood(at + _SLOPE_STEP * near), nan=-1e10, neginf=-1e10)
        up, down = values[1 : size + 1], values[size + 1 :]
        return float(values[0]), (up - down) / (2 * _SLOPE_STEP)

    solved: Any = minimize(slope, likelihood.start, jac=True, method="BFGS", options={"gtol": 1e-6})
    at: NDArray[np.float64] = solved.x
    sds = np.abs(at[size - len(likelihood.sizes) :])
    if sds.size and sds.max() > _UNBOUNDED:
        return NoFit(reason="the groups of raters share no category: how they differ has no bound")
    value, gradient = slope(at)
    information = _information(likelihood, at)
    try:
        np.linalg.cholesky(information)
    except np.linalg.LinAlgError:
        return NoFit(reason="the likelihood has no single highest point; simplify the model")
    step = np.linalg.solve(information, gradient)
    if gradient @ step > _CONVERGED:
        return NoFit(reason="the search for the highest likelihood did not end")
    inner = np.linalg.inv(information)
    jacobian = np.eye(size)
    steps = np.exp(at[1 : likelihood.borders])
    jacobian[: likelihood.borders, 0] = 1
    for border in range(1, likelihood.borders):
        jacobian[border : likelihood.borders, border] = steps[border - 1]
    return likelihood.natural(at[None])[0], jacobian @ inner @ jacobian.T, -value


def _information(likelihood: _Likelihood, at: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the observed information by second differences."""
    size = len(at)
    unit = _CURVE_STEP * np.eye(size)
    pairs = list(combinations(range(size), 2))
    tried = [at, *(at + unit), *(at - unit)]
    for first, second in pairs:
        both, apart = unit[first] + unit[second], unit[first] - unit[second]
        tried += [at + both, at - both, at + apart, at - apart]
    values = likelihood(np.array(tried))
    curved = np.diag(values[1 : size + 1] + values[size + 1 : 2 * size + 1] - 2 * values[0])
    for number, (first, second) in enumerate(pairs):
        corner = values[2 * size + 1 + 4 * number :][:4]
        curved[first, second] = curved[second, first] = (corner @ [1, 1, -1, -1]) / 4
    return -curved / _CURVE_STEP**2


@dataclass(frozen=True, slots=True, kw_only=True)
class MarginalMean:
    """An estimated marginal mean on the latent scale, from the mean of the thresholds."""

    name: str
    estimate: float
    se: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrast:
    """How two estimated marginal means differ."""

    first: str
    second: str
    estimate: float
    """The first's minus the second's."""
    se: float
    z: float
    p: float
    """Adjusted by Tukey's method for all pairs."""


def marginal_means(
    model: Clmm, grid: Mapping[str, NDArray[np.float64]], *, alpha: float = 0.05
) -> list[MarginalMean]:
    """Return the means at the rows of *grid*, as R's ``emmeans`` does for a clmm by default.

    Args:
        model: the fitted model.
        grid: rows of the design by name, p numbers each.
        alpha: probability that one of the intervals misses (Wald).
    """
    check_alpha(alpha)
    borders = len(model.thresholds)
    from_thresholds = np.full(borders, -1 / borders)
    made = []
    for name, row in grid.items():
        estimate, se = _combined(model, np.concatenate([from_thresholds, row]))
        half = two_sided_z(alpha) * se
        made.append(
            MarginalMean(
                name=name, estimate=estimate, se=se, low=estimate - half, high=estimate + half
            )
        )
    return made


def contrasts(model: Clmm, grid: Mapping[str, NDArray[np.float64]]) -> list[Contrast]:
    """Compare each two rows of *grid*; else as :func:`marginal_means`."""
    none = np.zeros(len(model.thresholds))
    made = []
    for (first, one), (second, other) in combinations(grid.items(), 2):
        estimate, se = _combined(model, np.concatenate([none, one - other]))
        z = estimate / se
        p = beyond(math.sqrt(2) * abs(z), len(grid), math.inf)
        made.append(Contrast(first=first, second=second, estimate=estimate, se=se, z=z, p=p))
    return made


def _combined(model: Clmm, weights: NDArray[np.float64]) -> tuple[float, float]:
    estimates = np.array([each.estimate for each in (*model.thresholds, *model.fixed)])
    return float(weights @ estimates), math.sqrt(float(weights @ model.covariance @ weights))
