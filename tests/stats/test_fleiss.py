"""Fleiss' κ against statsmodels, a published table and a simulation."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from statsmodels.stats import inter_rater

from pytest_xling.stats.kappa import fleiss_kappa
from pytest_xling.stats.rate_intervals import wilson_interval

LABELS = ("agree", "disagree", "neutral")
EQUAL = st.integers(2, 5).flatmap(
    lambda raters: st.lists(
        st.lists(st.sampled_from(LABELS), min_size=raters, max_size=raters), min_size=1, max_size=30
    )
)


@settings(max_examples=100, deadline=None)
@given(ratings=EQUAL)
def test_is_what_statsmodels_gives(ratings: list[list[str]]) -> None:
    """Where all items have as many labels, as statsmodels needs it."""
    assume(len({label for labels in ratings for label in labels}) > 1)
    table = np.array([[labels.count(label) for label in LABELS] for labels in ratings])
    expected = inter_rater.fleiss_kappa(table, method="fleiss")
    assert pytest.approx(float(expected)) == fleiss_kappa(ratings, resamples=10).value


def test_is_what_fleiss_table_has() -> None:
    """Ten subjects and 14 raters: κ is 0.210 (the worked example of Wikipedia's article)."""
    table = [
        (0, 0, 0, 0, 14),
        (0, 2, 6, 4, 2),
        (0, 0, 3, 5, 6),
        (0, 3, 9, 2, 0),
        (2, 2, 8, 1, 1),
        (7, 7, 0, 0, 0),
        (3, 2, 6, 3, 0),
        (2, 5, 3, 2, 2),
        (6, 5, 2, 1, 0),
        (0, 2, 2, 3, 7),
    ]
    ratings = [[str(label) for label, many in enumerate(row) for _ in range(many)] for row in table]
    found = fleiss_kappa(ratings)
    assert pytest.approx(0.210, abs=5e-4) == found.value
    assert pytest.approx(0.378, abs=5e-4) == found.agreement
    assert found.low is not None
    assert found.high is not None
    assert found.low < 0.210 < found.high


@settings(max_examples=50, deadline=None)
@given(ratings=EQUAL, seed=st.integers(0, 9), relabel=st.permutations(LABELS))
def test_laws(ratings: list[list[str]], seed: int, relabel: list[str]) -> None:
    """Order and names do not matter, items with one label do not count, ends are within -1 to 1."""
    found = fleiss_kappa(ratings, resamples=50)
    names = dict(zip(LABELS, relabel, strict=True))
    rng = random.Random(seed)  # noqa: S311  the same order every time
    mixed = [rng.sample([names[label] for label in labels], len(labels)) for labels in ratings]
    rng.shuffle(mixed)
    other = fleiss_kappa([*mixed, ["agree"], []], resamples=50)
    assert found.n == other.n == len(ratings)
    assert (found.value is None) == (other.value is None)
    if found.value is not None and other.value is not None:
        assert pytest.approx(found.value) == other.value
        assert found.value <= 1
    if found.low is not None and found.high is not None:
        assert -1 <= found.low <= found.high <= 1


def test_items_with_more_labels_count_no_more() -> None:
    """An item all agree on and one all differ on, however many labels: half agree."""
    found = fleiss_kappa([["a"] * 5, ["a", "b"]])
    # Labels: (1 + 1/2) / 2 are a, so chance is 0.75² + 0.25².
    assert 0.5 == found.agreement
    assert pytest.approx((0.5 - 0.625) / (1 - 0.625)) == found.value


def test_what_is_not_defined_has_a_reason() -> None:
    """No items, one label everywhere, one cluster."""
    assert "no item has two labels" == fleiss_kappa([["a"], []]).reason
    alike = fleiss_kappa([["a", "a"], ["a", "a"]])
    assert None is alike.value
    assert "all labels are 'a': κ is not defined" == alike.reason
    assert 1 == alike.agreement
    lonely = fleiss_kappa([["a", "b"], ["a", "a"]], clusters=["c", "c"])
    assert None is lonely.low
    assert "one cluster has no spread" == lonely.reason
    with pytest.raises(ValueError, match="2 items in 1 clusters"):
        fleiss_kappa([["a", "b"], ["a", "a"]], clusters=["c"])


def test_full_agreement_is_no_proof() -> None:
    """The bootstrap shows no spread there; the interval is Wilson's of the agreement."""
    found = fleiss_kappa([["a", "a"]] * 6 + [["b", "b"]] * 6)
    low, _ = wilson_interval(1.0, 12) or (0, 0)
    assert 1 == found.value == found.high
    assert pytest.approx((low - 0.5) / 0.5) == found.low


def test_the_interval_holds_the_truth_as_often_as_it_says() -> None:
    """Three raters who see the truth in 80 % of the cases, in clusters that share a hard part."""
    rng = random.Random(1)  # noqa: S311  a simulation
    # Two labels, each right with probability q: a pair agrees with q² + (1 - q)²; chance is 1/2.
    # Half of the clusters have q = 0.95 and half 0.65.
    agreed = sum(q * q + (1 - q) ** 2 for q in (0.95, 0.65)) / 2
    truth = (agreed - 0.5) / 0.5
    held = 0
    for number in range(200):
        ratings: list[list[str]] = []
        clusters: list[int] = []
        for cluster in range(40):
            q = rng.choice((0.95, 0.65))
            for _ in range(4):
                right = rng.choice("ab")
                wrong = "b" if right == "a" else "a"
                ratings.append([right if rng.random() < q else wrong for _ in range(3)])
                clusters.append(cluster)
        found = fleiss_kappa(ratings, clusters=clusters, resamples=300, seed=number)
        assert found.low is not None
        assert found.high is not None
        held += found.low <= truth <= found.high
    assert 180 <= held
