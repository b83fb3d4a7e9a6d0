"""Weighted precision, recall, F1 and κ against scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics as sklearn

from pytest_xling.stats.labelling import labelling, weighted_labelling
from pytest_xling.stats.rate_intervals import wilson_interval

LABELS = ("agree", "disagree", "neutral")
ITEMS = st.lists(
    st.tuples(
        st.sampled_from(LABELS), st.sampled_from(LABELS), st.sampled_from((0.5, 1.0, 7.0, 40.0))
    ),
    min_size=1,
    max_size=40,
)


@settings(max_examples=60, deadline=None)
@given(items=ITEMS)
def test_is_what_scikit_learn_gives(items: list[tuple[str, str, float]]) -> None:
    """With ``sample_weight``; what it calls NaN or warns of is None here."""
    known, given_, weights = (list(column) for column in zip(*items, strict=True))
    clusters = [str(number) for number in range(len(items))]
    found = weighted_labelling(
        known, given_, weights, labels=LABELS, clusters=clusters, resamples=20
    )
    expected = sklearn.precision_recall_fscore_support(
        known, given_, labels=list(LABELS), sample_weight=weights, zero_division=np.nan
    )
    for number, label in enumerate(found.labels):
        for measure, value in zip(
            (label.precision, label.recall, label.f1),
            (row[number] for row in expected[:3]),
            strict=True,
        ):
            if measure.value is not None:
                assert pytest.approx(value) == measure.value
            else:
                assert np.isnan(value)
        assert known.count(label.label) == label.support
    assert (
        pytest.approx(sklearn.accuracy_score(known, given_, sample_weight=weights))
        == found.accuracy.value
    )
    if found.kappa.value is not None and len(set(known + given_)) > 1:
        kappa = sklearn.cohen_kappa_score(known, given_, labels=list(LABELS), sample_weight=weights)
        assert pytest.approx(kappa) == found.kappa.value


@settings(max_examples=40, deadline=None)
@given(items=ITEMS)
def test_equal_weights_are_none(items: list[tuple[str, str, float]]) -> None:
    """All is then as in ``labelling``."""
    known, given_, _ = (list(column) for column in zip(*items, strict=True))
    lost = [None if number == 0 else label for number, label in enumerate(given_)]
    clusters = [str(number // 2) for number in range(len(items))]
    one = labelling(known, lost, labels=LABELS, clusters=clusters, resamples=50)
    other = weighted_labelling(
        known, lost, [2.0] * len(items), labels=LABELS, clusters=clusters, resamples=50
    )
    assert (one.n, one.missing) == (other.n, other.missing)
    for mine, theirs in ((one.accuracy, other.accuracy), (one.kappa, other.kappa)):
        assert (mine.value is None) == (theirs.value is None)
        if mine.value is not None and theirs.value is not None:
            assert pytest.approx(mine.value) == theirs.value
            # Where there is no spread, each falls back on an interval of its own.
            if 0 < mine.value < 1:
                assert pytest.approx((mine.low, mine.high)) == (theirs.low, theirs.high)


def test_where_all_match_it_is_not_certain() -> None:
    """Wilson's interval, of what the clusters with a label are worth."""
    found = weighted_labelling(
        ["a"] * 6 + ["b"] * 4,
        ["a"] * 6 + ["b"] * 4,
        [1.0] * 6 + [5.0] * 4,
        labels=["a", "b"],
        clusters=["c", "c", *map(str, range(8))],
    )
    of_a, of_b = found.labels
    size_of_a = 6**2 / (2**2 + 4)
    assert pytest.approx(wilson_interval(1.0, size_of_a)) == (of_a.recall.low, of_a.recall.high)
    assert pytest.approx(wilson_interval(1.0, 4)) == (of_b.f1.low, of_b.f1.high)
    size = 26**2 / (2**2 + 4 + 4 * 25)
    low, _ = wilson_interval(1.0, size) or (0, 0)
    assert pytest.approx(low) == found.accuracy.low
    chance = (6 / 26) ** 2 + (20 / 26) ** 2
    assert pytest.approx((low - chance) / (1 - chance)) == found.kappa.low


def test_no_items_and_nonsense() -> None:
    """Nothing is defined of none; labels and weights are checked."""
    found = weighted_labelling([], [], [], labels=LABELS, clusters=[])
    assert (0, None, None) == (found.n, found.accuracy.value, found.kappa.value)
    with pytest.raises(ValueError, match="labels are agree, disagree, neutral, not 'maybe'"):
        weighted_labelling(["maybe"], ["agree"], [1], labels=LABELS, clusters=["a"])
    with pytest.raises(ValueError, match="a weight is above 0"):
        weighted_labelling(["agree"], ["agree"], [-1], labels=LABELS, clusters=["a"])
