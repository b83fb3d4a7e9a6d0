"""The questions of another run."""

from __future__ import annotations

import numpy as np

from pytest_xling.stats.resampling import other_run_weights, resampled_weights, unseen_bad

STRATA = [np.arange(0, 30), np.arange(30, 40)]


def test_as_many_from_each_stratum() -> None:
    """Weights are whole numbers that add up to the questions wanted of each."""
    random = np.random.default_rng(1)
    again = resampled_weights(random, STRATA, size=45, resamples=20)
    other = other_run_weights(random, STRATA, size=45, sizes=[15, 5], resamples=20)
    for weights, sizes in ((again, (30, 10)), (other, (15, 5))):
        assert (20, 45) == weights.shape
        assert all(weights[:, :30].sum(axis=1) == sizes[0])
        assert all(weights[:, 30:40].sum(axis=1) == sizes[1])
        assert weights[:, 40:].sum() == 0


def test_another_run_varies_by_both_samples() -> None:
    """Its mean varies by 1/known + 1/size: which questions were seen is chance, too."""
    random = np.random.default_rng(2)
    values = random.normal(size=50)
    one = [np.arange(50)]
    variance = values.var() / 50
    again = resampled_weights(random, one, size=50, resamples=20_000) @ values / 50
    other = other_run_weights(random, one, size=50, sizes=[25], resamples=20_000) @ values / 25
    assert abs(again.var() / variance - 1) < 0.05
    assert abs(other.var() / (3 * variance) - 1) < 0.06


def test_unseen_questions_are_as_jeffreys_has_them() -> None:
    """Half a question of those at hand on average, scaled to the other run."""
    random = np.random.default_rng(3)
    found = unseen_bad(random, known=20, size=40, resamples=50_000)
    assert abs(found.mean() - 40 * 0.5 / 20.5) < 0.03
    assert found.min() == 0
