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

    The integral over one random intercept is taken by adaptive Gauss–Hermite quadrature, over two
    by Laplace's approximation. Standard errors are of the observed information. A category that
    nobody used has no threshold.

    Args:
        ratings: whole numbers, n of them.
        fixed: columns of the design without an intercept, n numbers each, by name.
        random: the groups that the ratings belong to, n labels each, by name; of two the first is
            nested in the second (annotators in languages), with labels such as ``("hi", "ana")``.
        points: of the quadrature over one random intercept; 1 is Laplace's approximation.

    Returns:
        The model, or why there is none: one category, a separation, as many groups as ratings.

    Raises:
        ValueError: *points* is below 1, a column has another length than *ratings*, or *random* are
            more than two or not nested.
    """
    fixed, random = fixed or {}, random or {}
    if points < 1:
        msg = f"points must be at least 1, not {points!r}"
        raise ValueError(msg)
    columns = (*map(np.asarray, fixed.values()), *random.values())
    if any(len(column) != len(ratings) for column in columns):
        msg = "each column needs a value for each rating"
        raise ValueError(msg)
    labels = list(random.values())
    if len(labels) > 2 or (  # noqa: PLR2004  annotators and languages
        len(labels) > 1 and len(set(zip(*labels, strict=True))) > len(set(labels[0]))
    ):
        msg = "random intercepts are at most two, the first nested in the second"
        raise ValueError(msg)
    levels, categories = np.unique(np.asarray(ratings, dtype=int), return_inverse=True)
    design = _matrix(fixed, len(ratings))
    codes = [_codes(groups) for groups in labels]
    counts = [int(code.max()) + 1 if len(code) else 0 for code in codes]
    if reason := _why_unfit(levels, categories, design, dict(zip(random, counts, strict=True))):
        return NoFit(reason=reason)
    likelihood = _Likelihood(categories, design, codes, points)
    fitted = _maximise(likelihood)
    if isinstance(fitted, NoFit):
        return fitted
    estimates, covariance, value = fitted
    borders = len(levels) - 1
    names = [f"{low}|{high}" for low, high in pairwise(levels)]
    coefficients = [
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
        thresholds=tuple(coefficients[:borders]),
        fixed=tuple(coefficients[borders:]),
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


def _why_unfit(
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Mode:
    """The random effects where the likelihood of ratings and effects together is highest."""

    effects: NDArray[np.float64]
    """In standard deviations, S x groups."""
    height: NDArray[np.float64]
    information: NDArray[np.float64]
    """About each of the effects, S x groups."""
    log_information: NDArray[np.float64]
    """The logs of the determinants of the whole."""


class _Likelihood:
    """The log-likelihood at many parameters at once: derivatives are taken numerically.

    Parameters are S x P: thresholds as the first and the logs of the steps to the next, then
    coefficients, then standard deviations of the random intercepts, whose sign does not matter, so
    that 0 is no border.

    Args:
        categories: from 0 without a gap, n of them.
        design: n x p.
        codes: the groups of none, one or two random intercepts, the first nested in the second.
        points: of the quadrature over one.
    """

    def __init__(
        self,
        categories: NDArray[np.intp],
        design: NDArray[np.float64],
        codes: Sequence[NDArray[np.intp]],
        points: int,
    ) -> None:
        self.terms = len(codes)
        self.points = points
        self.borders = int(categories.max())
        self.share = np.bincount(categories) / len(categories)
        # An intercept that is not there is one of a single group with standard deviation 0. Equal
        # ratings of equal rows in a group count several times; sorted, the sums over groups, and
        # those over groups of groups, are sums of slices.
        one_group = np.zeros(len(categories), dtype=np.intp)
        inner, outer = [*codes, one_group, one_group][:2]
        columns = np.column_stack([outer, inner, categories, design])
        rows, self.times = np.unique(columns, axis=0, return_counts=True)
        self.categories = rows[:, 2].astype(int)
        self.design = rows[:, 3:]
        pairs, self.starts, self.group = np.unique(
            rows[:, :2], axis=0, return_index=True, return_inverse=True
        )
        _, self.outer_starts, self.parent = np.unique(
            pairs[:, 0], return_index=True, return_inverse=True
        )

    @property
    def start(self) -> NDArray[np.float64]:
        """Where to begin: the categories' shares, no fixed effects, groups that differ by 1."""
        reached = np.cumsum(self.share)[:-1]
        thresholds = np.log(reached / (1 - reached))
        steps = np.log(np.maximum(np.diff(thresholds), _SMALL_STEP))
        zeros = np.zeros(self.design.shape[1])
        return np.concatenate([thresholds[:1], steps, zeros, np.ones(self.terms)])

    def natural(self, parameters: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return S x P parameters whose thresholds are thresholds."""
        converted = parameters.copy()
        steps = np.exp(np.clip(parameters[:, 1 : self.borders], -_LARGEST_LOG, _LARGEST_LOG))
        converted[:, 1 : self.borders] = parameters[:, :1] + np.cumsum(steps, axis=1)
        return converted

    def __call__(self, parameters: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return S log-likelihoods of S x P parameters."""
        together = max(1, _MOST_NUMBERS // len(self.times))
        parts = [
            self._values(self.natural(parameters[start : start + together]))
            for start in range(0, len(parameters), together)
        ]
        return np.concatenate(parts)

    def _values(self, parameters: NDArray[np.float64]) -> NDArray[np.float64]:
        beyond_all = np.full((len(parameters), 1), np.inf)
        thresholds = np.hstack([-beyond_all, parameters[:, : self.borders], beyond_all])
        width = self.design.shape[1]
        eta = parameters[:, self.borders : self.borders + width] @ self.design.T
        ends = _Ends(thresholds[:, self.categories + 1] - eta, thresholds[:, self.categories] - eta)
        none = np.zeros((len(parameters), 2))
        sds = np.hstack([parameters[:, self.borders + width :], none])
        mode = self._mode(ends, sds[:, :1], sds[:, 1:2])
        if self.terms == 1 and self.points > 1:
            return self._quadrature(ends, sds[:, :1], mode)
        laplace: NDArray[np.float64] = mode.height - mode.log_information / 2
        return laplace

    def _mode(self, ends: _Ends, inner: NDArray[np.float64], outer: NDArray[np.float64]) -> _Mode:
        """Return the groups' most likely effects, by Newton's method: all is strictly concave.

        The information has an arrow's form within each outer group, and what is left of that
        group when its inner ones are eliminated (Schur's complement) is a number.
        """
        effects = np.zeros((len(inner), len(self.starts)))
        outer_effects = np.zeros((len(inner), len(self.outer_starts)))
        height = self._height(ends, inner, outer, effects, outer_effects)
        for _ in range(_MOST_STEPS):
            shift = self._shift(inner, outer, effects, outer_effects)[:, self.group]
            above, below = expit(ends.above - shift), expit(ends.below - shift)
            slope = self._by_group(above + below - 1)
            weight = self._by_group(above * (1 - above) + below * (1 - below))
            slopes = inner * slope - effects
            outer_slopes = outer * self._by_outer(slope) - outer_effects
            information = 1 + inner**2 * weight
            shared = inner * outer * weight
            left = 1 + outer**2 * self._by_outer(weight) - self._by_outer(shared**2 / information)
            outer_step = (outer_slopes - self._by_outer(shared * slopes / information)) / left
            step = (slopes - shared * outer_step[:, self.parent]) / information
            gain = np.sum(slopes * step, axis=1) + np.sum(outer_slopes * outer_step, axis=1)
            if gain.max() < _FLAT:
                break
            for _ in range(_MOST_HALVINGS):
                tried = self._height(ends, inner, outer, effects + step, outer_effects + outer_step)
                worse = ~(tried >= height - _ROUNDING)
                if not worse.any():
                    break
                step[worse] /= 2
                outer_step[worse] /= 2
            effects, outer_effects, height = effects + step, outer_effects + outer_step, tried
        logs = np.sum(np.log(information), axis=1) + np.sum(np.log(left), axis=1)
        return _Mode(effects=effects, height=height, information=information, log_information=logs)

    def _height(
        self,
        ends: _Ends,
        inner: NDArray[np.float64],
        outer: NDArray[np.float64],
        effects: NDArray[np.float64],
        outer_effects: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        shift = self._shift(inner, outer, effects, outer_effects)
        rated = ends.logs(shift[:, self.group]) @ self.times
        priors = np.sum(effects**2, axis=1) + np.sum(outer_effects**2, axis=1)
        height: NDArray[np.float64] = rated - priors / 2
        return height

    def _shift(
        self,
        inner: NDArray[np.float64],
        outer: NDArray[np.float64],
        effects: NDArray[np.float64],
        outer_effects: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        """Return what each group adds, its own effect and its parent's."""
        return inner * effects + outer * outer_effects[:, self.parent]

    def _by_group(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        sums: NDArray[np.float64] = np.add.reduceat(values * self.times, self.starts, axis=-1)
        return sums

    def _by_outer(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        sums: NDArray[np.float64] = np.add.reduceat(values, self.outer_starts, axis=-1)
        return sums

    def _quadrature(self, ends: _Ends, sd: NDArray[np.float64], mode: _Mode) -> NDArray[np.float64]:
        """Integrate each group's likelihood over its effect, at points about its mode."""
        nodes, weights = np.polynomial.hermite.hermgauss(self.points)
        spread = 1 / np.sqrt(mode.information)
        logs = []
        for node, weight in zip(nodes, weights, strict=True):
            effects = mode.effects + math.sqrt(2) * node * spread
            rated = self._by_group(ends.logs((sd * effects)[:, self.group]))
            logs.append(rated - effects**2 / 2 + node**2 + math.log(weight))
        sums = logsumexp(np.stack(logs), axis=0) + np.log(spread) - math.log(math.pi) / 2
        total: NDArray[np.float64] = np.sum(sums, axis=1)
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

    def slope(point: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        values = -np.nan_to_num(likelihood(point + _SLOPE_STEP * near), nan=-1e10, neginf=-1e10)
        up, down = values[1 : size + 1], values[size + 1 :]
        return float(values[0]), (up - down) / (2 * _SLOPE_STEP)

    solved: Any = minimize(slope, likelihood.start, jac=True, method="BFGS", options={"gtol": 1e-6})
    point: NDArray[np.float64] = solved.x
    sds = np.abs(point[size - likelihood.terms :])
    if sds.size and sds.max() > _UNBOUNDED:
        return NoFit(reason="the groups of raters share no category: how they differ has no bound")
    value, gradient = slope(point)
    information = _information(likelihood, point)
    try:
        np.linalg.cholesky(information)
    except np.linalg.LinAlgError:
        return NoFit(reason="the likelihood has no single highest point; simplify the model")
    step = np.linalg.solve(information, gradient)
    if gradient @ step > _CONVERGED:
        return NoFit(reason="the search for the highest likelihood did not end")
    inner = np.linalg.inv(information)
    jacobian = np.eye(size)
    steps = np.exp(point[1 : likelihood.borders])
    jacobian[: likelihood.borders, 0] = 1
    for border in range(1, likelihood.borders):
        jacobian[border : likelihood.borders, border] = steps[border - 1]
    return likelihood.natural(point[None])[0], jacobian @ inner @ jacobian.T, -value


def _information(likelihood: _Likelihood, point: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the observed information by second differences."""
    size = len(point)
    unit = _CURVE_STEP * np.eye(size)
    pairs = list(combinations(range(size), 2))
    tried = [point, *(point + unit), *(point - unit)]
    for first, second in pairs:
        both, apart = unit[first] + unit[second], unit[first] - unit[second]
        tried += [point + both, point - both, point + apart, point - apart]
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
    means = []
    for name, row in grid.items():
        estimate, se = _linear_combination(model, np.concatenate([from_thresholds, row]))
        half = two_sided_z(alpha) * se
        means.append(
            MarginalMean(
                name=name, estimate=estimate, se=se, low=estimate - half, high=estimate + half
            )
        )
    return means


def contrasts(model: Clmm, grid: Mapping[str, NDArray[np.float64]]) -> list[Contrast]:
    """Compare each two rows of *grid*; else as :func:`marginal_means`."""
    none = np.zeros(len(model.thresholds))
    differences = []
    for (first, first_row), (second, second_row) in combinations(grid.items(), 2):
        estimate, se = _linear_combination(model, np.concatenate([none, first_row - second_row]))
        z = estimate / se
        p = beyond(math.sqrt(2) * abs(z), len(grid), math.inf)
        differences.append(Contrast(first=first, second=second, estimate=estimate, se=se, z=z, p=p))
    return differences


def _linear_combination(model: Clmm, weights: NDArray[np.float64]) -> tuple[float, float]:
    estimates = np.array([each.estimate for each in (*model.thresholds, *model.fixed)])
    return float(weights @ estimates), math.sqrt(float(weights @ model.covariance @ weights))
