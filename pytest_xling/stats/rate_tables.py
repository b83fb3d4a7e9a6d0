"""Rates of flags by a judge's labels of all answers and people's of few, of many runs at once.

People's labels are a simple random sample, or one stratified by what the judge says. In both cases
the rate at which people would flag answers is

    p = Σ Wₛ pₛ,   Wₛ: share of answers of which the judge says s,   pₛ: share of them people flag.

This is the estimator of Rogan and Gladen (1978) with predictive values, measured on this very run,
in place of sensitivity and specificity; and that of prediction-powered inference with the best λ
(PPI++, Angelopoulos et al. 2023; stratified, Fisch et al. 2024). Their intervals are normal, and
miss far too often where few are flagged (docs/corrected.md; Lang and Reiczigel 2014 found the same
of Rogan and Gladen's). Here an end is the rate P that a test just does not reject. It is Rao's, as
in Wilson's interval: the pₛ are the likeliest that give P, and with them the estimate varies by

    V(P) = Σ Wₛ² pₛ(1 - pₛ)/nₛ + Σ Wₛ(pₛ - P)²/N,

the second part because other questions could have been asked. It is taken to be distributed like a
rate of P(1 - P)/V(P) independent answers, whose tails are exact (Clopper and Pearson). With one
stratum this is the interval that gates use of flags.

Of a stratified sample the upper end would so miss in .3 % of runs where 2.5 are meant, and good
models would not pass. There it is a quantile of Σ Wₛ pₛ, with each pₛ drawn from a beta
distribution of its labels and the Wₛ from one of all answers (Jeffreys' priors, which give the
upper end more weight the more are flagged: as exact where all are).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[np.float64]

_HALVINGS, _STEPS = 8, 50
"""How often what an end is sought among is halved before steps go along a line, and the most of
both."""
_FLATTEST, _STEEPEST = -12.0, 30.0
"""Logarithms of the multipliers among which an end is sought, per label."""
_DRAWS = 512
"""How many sums of betas the upper end of a stratified sample is a quantile of."""
_LEAST = 8
"""Labels of each stratum, or all of its answers, from which on priors are taken for little."""
_NEAR = 1e-9
_RAREST = 1e-300


@dataclass(frozen=True, slots=True, kw_only=True)
class RateEstimates:
    """Of each run a rate with its interval."""

    value: Array
    low: Array
    high: Array
    error: Array
    """Standard errors."""
    influence: Array
    """Runs x clusters: what each adds to the error."""


@dataclass(frozen=True, kw_only=True)
class RateTables:
    """Counts: runs x clusters x strata, but for the weights.

    What does not depend on alpha is computed once.
    """

    raised: Array
    """Labelled answers that people flagged."""
    labels: Array
    answers: Array
    """All of them, those labelled, too."""
    weights: Array
    """Runs x strata: how many answers a label stands for where the judge is not asked."""

    def alone(self, *, alpha: float) -> RateEstimates:
        """Return what the labels say alone: exact intervals of their effective size."""
        rate, size, _, influence = self._weighted
        low, high = _exact(rate, size, alpha), 1 - _exact(1 - rate, size, alpha)
        # One more that is flagged, so that none does not look certain.
        error = np.sqrt((rate * (1 - rate) + 1 / size) / size)
        return RateEstimates(value=rate, low=low, high=high, error=error, influence=influence)

    def upper(self, own: Array, alone: Array, *, alpha: float) -> Array:
        """Return the lower of two upper ends, that of the labels *alone* at least as if none were.

        With its first flag a weighted rate may be worth more labels than without, and end lower.
        """
        by_cluster = np.einsum("rcs,rs->rc", self.labels, self.weights)
        size = by_cluster.sum(axis=1) ** 2 / (by_cluster**2).sum(axis=1)
        unflagged = 1 - (alpha / 2) ** (1 / np.minimum(size, self.labels.sum(axis=(1, 2))))
        ends: Array = np.minimum(own, np.maximum(alone, unflagged))
        return ends

    def corrected(self, *, alpha: float) -> RateEstimates:
        """Return what labels and judge say; every stratum needs a label."""
        return self.expected(self.labels.sum(axis=1), alpha=alpha)

    def expected(self, labels: Array, *, alpha: float) -> RateEstimates:
        """Return what so many *labels* (runs x strata) would say if as often flagged."""
        effects, error, influence = self._clustered
        x, n, shares, total_weight = self._sums
        low, high = _ends(x / n * labels, labels, (shares, total_weight, effects), alpha)
        value = (shares * x / n).sum(axis=1)
        if (tail := alpha / 2 * _DRAWS) >= 1:
            upper = _between(self._draws(labels), _DRAWS - tail - 0.5)
            high = np.where(self.stratified, np.maximum(upper, value), high)
        return RateEstimates(value=value, low=low, high=high, error=error, influence=influence)

    @cached_property
    def stratified(self) -> NDArray[np.bool_]:
        """Whether a label stands for more answers in one stratum than in another, by run.

        Not where a stratum has few labels: what the priors add would be more than they know.
        """
        apart: NDArray[np.bool_] = np.ptp(self.weights, axis=1) > _NEAR * self.weights.max(axis=1)
        least = np.clip(self.answers.sum(axis=1), 1, _LEAST)
        known: NDArray[np.bool_] = (self.labels.sum(axis=1) >= least).all(axis=1)
        return apart & known

    def _draws(self, labels: Array) -> Array:
        """Return sorted draws of the rate by so many labels; 0 of runs that are not stratified."""
        from scipy.special import betaincinv  # noqa: PLC0415  as below

        effects, _, _ = self._clustered
        x, n, shares, total_weight = self._sums
        own = np.diagonal(effects, axis1=1, axis2=2)
        # What strata share within clusters makes all of them worth less.
        fit = (x + self._weighted[0][:, None]) / (n + 1)
        apart = _variance(fit, n, shares, total_weight, np.eye(own.shape[1]) * own[:, None])
        together = np.maximum(_variance(fit, n, shares, total_weight, effects), apart)
        worth = ((apart + _NEAR**2) / (together + _NEAR**2))[:, None]
        lean = (1 + x / n) / 2
        flagged = worth * labels / own[:, :-1] * (x / n) + lean
        clean = worth * labels / own[:, :-1] * (1 - x / n) + (1 - lean)
        answers = worth * shares * (total_weight / own[:, -1])[:, None] + 0.5
        points = iter(_points(2 * x.shape[1] - 1))
        total, remaining = np.zeros((len(x), _DRAWS)), np.ones((len(x), _DRAWS))
        each = np.flatnonzero(self.stratified)
        for s in range(x.shape[1]):
            a, b = flagged[each, s, None], np.maximum(clean[each, s, None], _NEAR)
            part, rest = remaining[each], answers[each, s + 1 :].sum(axis=1, keepdims=True)
            if s + 1 < x.shape[1]:
                part = part * betaincinv(answers[each, s, None], rest, next(points))
            total[each] += part * betaincinv(a, b, next(points))
            remaining[each] -= part
        return np.sort(total, axis=1)

    @cached_property
    def _sums(self) -> tuple[Array, Array, Array, Array]:
        """Return flags, labels and shares (runs x strata), and how many answers there are."""
        answers = self.answers.sum(axis=1)
        answer_total = answers.sum(axis=1)
        return (
            self.raised.sum(axis=1),
            self.labels.sum(axis=1),
            answers / answer_total[:, None],
            answer_total,
        )

    @cached_property
    def _weighted(self) -> tuple[Array, Array, Array, Array]:
        """Return of the labels alone rate, effective size, ICC, and what each cluster adds.

        Rate and size are those of :func:`pytest_xling.stats.rate_intervals.weighted_rate`.
        """
        x, n, _, _ = self._sums
        w = self.weights
        whole = (w * n).sum(axis=1)
        rate = (w * x).sum(axis=1) / whole
        off = np.einsum("rcs,rs->rc", self.raised - rate[:, None, None] * self.labels, w)
        squares = (np.einsum("rcs,rs->rc", self.labels, w) ** 2).sum(axis=1)
        alike = squares / whole
        varied = (off**2).sum(axis=1) + alike**2
        size = np.minimum(whole * (whole * rate * (1 - rate) + alike) / varied, n.sum(axis=1))
        single = (w * w * n).sum(axis=1)
        independent = (w * w * _squares(x, n, rate[:, None])).sum(axis=1) + alike * single / whole
        mates = squares / single - 1  # labels that share a label's cluster
        icc = np.clip((varied / independent - 1) / np.maximum(mates, _NEAR), 0, 1)
        return rate, size, np.where(mates > _NEAR, icc, 1.0), off / whole[:, None]

    @cached_property
    def _clustered(self) -> tuple[Array, Array, Array]:
        """Return design effects, standard errors, and what each cluster adds to the error.

        Design effects (runs x strata + 1 x strata + 1) are of the labels in each stratum and, last,
        of the judge's shares. On the diagonal stands how much more a rate varies than one of as
        many independent answers, beside it how two vary together. In each one more cluster is
        thought added, as in :mod:`pytest_xling.stats.clusters`, its answers as alike as labels are
        without the judge: where the judge leaves nothing to explain, nothing else tells.
        """
        x, n, shares, total_weight = self._sums
        rate, _, icc, _ = self._weighted
        rates = x / n
        away = rates - (shares * rates).sum(axis=1, keepdims=True)
        judge = (self.answers * away[:, None]).sum(axis=2, keepdims=True)
        off = np.concatenate([self.raised - rates[:, None] * self.labels, judge], axis=2)
        together = np.column_stack(
            [
                (self.labels**2).sum(axis=1) / n,
                (self.answers.sum(axis=2) ** 2).sum(axis=1) / total_weight,
            ]
        )
        # A label of the added cluster is off by 1, its answers by as much as what the judge says.
        furthest = np.maximum(np.abs(away).max(axis=1), _NEAR)
        added = together * np.column_stack([np.ones_like(n), furthest**2])
        single = np.column_stack(
            [_squares(x, n, rates), total_weight * (shares * away**2).sum(axis=1)]
        )
        root = np.sqrt(single + added)
        effects = np.einsum("rcs,rct->rst", off, off)
        diagonal = np.arange(effects.shape[1])
        effects[:, diagonal, diagonal] += added * (1 + icc[:, None] * (together - 1))
        effects /= root[:, :, None] * root[:, None, :]
        effects[:, diagonal, diagonal] = np.maximum(effects[:, diagonal, diagonal], 1)
        # One more label of each stratum, flagged as often as all are: none is not certain.
        fit = (x + rate[:, None]) / (n + 1)
        error = np.sqrt(_variance(fit, n, shares, total_weight, effects))
        each = np.column_stack([shares / n, 1 / total_weight])
        return effects, error, np.einsum("rcs,rs->rc", off, each)


def _squares(x: Array, n: Array, rate: Array) -> Array:
    """Return the sum of (y - rate)² over n answers of which x are flagged."""
    return x * (1 - rate) ** 2 + (n - x) * rate**2


def _variance(rates: Array, labels: Array, shares: Array, total: Array, effects: Array) -> Array:
    """Return V(P), with what clusters do to it."""
    away = rates - (shares * rates).sum(axis=1, keepdims=True)
    own = shares**2 * rates * (1 - rates) / labels
    parts = np.maximum(np.column_stack([own, (shares * away**2).sum(axis=1) / total]), 0)
    root = np.sqrt(parts)
    clustered = np.einsum("rs,rst,rt->r", root, effects, root)
    variance: Array = np.maximum(clustered, parts.sum(axis=1))
    return variance


def _exact(rate: Array, size: Array, alpha: float) -> Array:
    """Return the lower ends of rates of so many independent answers (Clopper and Pearson)."""
    from scipy.special import betaincinv  # noqa: PLC0415  slow to import, not before it is needed

    flags = np.maximum(rate * size, _NEAR)
    low = betaincinv(flags, np.maximum(size - flags, 0) + 1, alpha / 2)
    ends: Array = np.where(rate > 0, np.minimum(low, rate), 0.0)
    return ends


def _points(dimensions: int) -> Array:
    """Return points that fill a cube evenly: multiples of powers of a root (Roberts 2018)."""
    root = 2.0
    for _ in range(50):
        root = (1 + root) ** (1 / (dimensions + 1))
    steps = root ** -np.arange(1.0, dimensions + 1)
    points: Array = (0.5 + steps[:, None] * np.arange(1, _DRAWS + 1)) % 1
    return points


def _between(sorted_draws: Array, place: float) -> Array:
    """Return what stands at *place* of each row, between its neighbours where it is no integer."""
    below = int(place)
    above = min(below + 1, sorted_draws.shape[1] - 1)
    drawn: Array = sorted_draws[:, below] + (place - below) * (
        sorted_draws[:, above] - sorted_draws[:, below]
    )
    return drawn


def _ends(
    raised: Array, labels: Array, population: tuple[Array, Array, Array], alpha: float
) -> tuple[Array, Array]:
    """Return the lower and the upper end of each run's rate.

    Args:
        raised: labels flagged, runs x strata.
        labels: how many there are.
        population: shares of strata, how many answers there are, and design effects.
        alpha: both tails.
    """
    both = tuple(np.concatenate([part, part]) for part in population)
    counts, labels = np.concatenate([raised, labels - raised]), np.concatenate([labels, labels])
    low, high = np.split(_lower(counts, labels, (both[0], both[1], both[2]), alpha), 2)
    return low, 1 - high


def _lower(
    raised: Array, labels: Array, population: tuple[Array, Array, Array], alpha: float
) -> Array:
    """Return the lowest rate that so many raised flags do not rule out.

    The likeliest pₛ of which Σ Wₛ pₛ = P solve xₛ/pₛ - (nₛ - xₛ)/(1 - pₛ) = λ Wₛ, a quadratic for
    each. So λ is sought rather than P, which falls as it rises.
    """
    from scipy.special import betainc  # noqa: PLC0415  slow to import, not before it is needed

    shares, total, effects = population
    estimate = (shares * raised / labels).sum(axis=1)
    least, most = np.full(len(raised), _FLATTEST), np.full(len(raised), _STEEPEST)
    within, without = np.ones(len(raised)), -np.ones(len(raised))
    before = np.zeros(len(raised), dtype=np.bool_)
    for step in range(_STEPS):
        share = 0.5 if step < _HALVINGS else within / (within - without)
        point = least + (most - least) * share
        pull = (np.exp(point) * labels.sum(axis=1))[:, None] * shares
        root = np.sqrt((labels - pull) ** 2 + 4 * pull * (labels - raised))
        rates = 2 * raised / (labels + pull + root)
        limit = (shares * rates).sum(axis=1)
        variance = np.maximum(_variance(rates, labels, shares, total, effects), _NEAR**2)
        size = np.maximum(limit * (1 - limit), _NEAR**2) / variance
        flags = np.maximum(estimate * size, _NEAR)
        chance = betainc(flags, np.maximum(size - flags, 0) + 1, limit)  # of so many or more
        off = np.log(np.maximum(chance, _RAREST) / (alpha / 2))
        beyond = (off < 0) & (estimate - limit > _NEAR)
        # By the Illinois method: an end that stays a second time gets half the say.
        half = np.where((beyond == before) & (step > _HALVINGS), 0.5, 1.0)
        within = np.where(beyond, within * half, np.maximum(off, _NEAR))
        without = np.where(beyond, np.minimum(off, -_NEAR), without * half)
        before = beyond
        least, most = np.where(beyond, least, point), np.where(beyond, point, most)
        if np.all((np.abs(off) < _NEAR) | (most - least < _NEAR) | (estimate <= 0)):
            break
    ends: Array = np.where(estimate > 0, np.minimum(limit, estimate), 0.0)
    return ends
