"""Do 95 % intervals of a fixed effect hold it in 93 to 97 % of drawn data sets?"""

from __future__ import annotations

import numpy as np
import pytest

from pytest_xling.stats.clmm import Clmm, fit_clmm
from pytest_xling.stats.distributions import two_sided_z

pytestmark = pytest.mark.slow

THRESHOLDS = np.array([-1.5, -0.5, 0.6, 1.8])
EFFECT = 0.7
EACH = 8
"""Ratings by each annotator, half of them with the effect."""


def coverage(draws: int, *, languages: int, annotators: int, points: int) -> float:
    """Return the share of *draws* whose interval holds the effect."""
    rng = np.random.default_rng(14)
    groups = languages * annotators
    x = np.tile(np.arange(EACH) % 2, groups).astype(float)
    annotator = np.repeat(np.arange(groups), EACH)
    language = annotator // annotators
    random = {"annotator": annotator.tolist()}
    if languages > 1:
        random["language"] = language.tolist()
    held = 0
    for _ in range(draws):
        eta = EFFECT * x + rng.normal(0, 0.9, groups)[annotator]
        eta += rng.normal(0, 0.7, languages)[language] if languages > 1 else 0
        above = rng.logistic(size=len(x)) + eta
        ratings = 1 + np.searchsorted(THRESHOLDS, above)
        fit = fit_clmm(ratings.tolist(), fixed={"x": x}, random=random, points=points)
        assert isinstance(fit, Clmm)
        half = two_sided_z(0.05) * fit.fixed[0].se
        held += abs(fit.fixed[0].estimate - EFFECT) <= half
    return held / draws


def test_of_one_random_intercept() -> None:
    """By quadrature."""
    assert 0.93 <= coverage(1000, languages=1, annotators=15, points=7) <= 0.97


def test_of_nested_random_intercepts() -> None:
    """By Laplace's approximation."""
    assert 0.93 <= coverage(400, languages=6, annotators=4, points=1) <= 0.97
