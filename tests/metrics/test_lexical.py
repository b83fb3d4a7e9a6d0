"""Similarity by words, pairs of words, and length."""

from __future__ import annotations

import itertools
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import jaccard

from pytest_xling.metrics.length import Length
from pytest_xling.metrics.ngrams import Sim1Gram, Sim2Gram, jaccard_of_pairs
from pytest_xling.records import AnswerSet, Reading
from pytest_xling.text.words import words
from tests.answers import annotated_answer

if TYPE_CHECKING:
    from collections.abc import Sequence


WORDS = st.lists(st.sampled_from(["a", "b", "c", "d", "的", "क्या"]), max_size=8)
TEXTS = st.lists(st.one_of(WORDS.map(" ".join), st.text(max_size=12)), min_size=2, max_size=5)
METRICS = (Length, Sim1Gram, Sim2Gram)
ALL = ("length", "sim_1gram", "sim_2gram")


def answers(*texts: str, language: str = "en") -> AnswerSet:
    """Return a set of answers."""
    return AnswerSet(answers=tuple(annotated_answer(text, language) for text in texts))


def value(metric: Length | Sim1Gram | Sim2Gram, *texts: str, language: str = "en") -> float | None:
    """Return what *metric* says of one set."""
    (reading,) = metric.score([answers(*texts, language=language)])
    assert reading.value is not None or reading.reason
    return reading.value


def by_scipy(texts: Sequence[str], size: int) -> list[float]:
    """Return the similarity of all pairs with an n-gram, by scipy."""
    ngrams = [
        set(zip(*(words(text, "en")[start:] for start in range(size)), strict=False))
        for text in texts
    ]
    found = []
    for left, right in itertools.combinations(ngrams, 2):
        if known := left | right:
            in_left, in_right = ([ngram in side for ngram in known] for side in (left, right))
            found.append(1 - float(jaccard(in_left, in_right)))
    return found


@pytest.mark.parametrize(
    ("metric", "texts", "expected"),
    [
        # {the, cat, sat} and {the, cat, ran}: 2 of 4; neighbours: 1 of 3.
        (Sim1Gram(), ("The cat sat.", "the cat ran!"), 1 / 2),
        (Sim2Gram(), ("The cat sat.", "the cat ran!"), 1 / 3),
        # A set, not a bag: repeating a word changes nothing.
        (Sim1Gram(), ("no no no", "no"), 1.0),
        # a|b 1/3, a|c 0, b|c 1/3.
        (Sim1Gram(), ("x y", "y z", "z w"), 2 / 9),
        (Sim2Gram(), ("x y z", "x y z", "z y x"), 1 / 3),
        (Length(), ("One, two: three.", "one"), 2.0),
        (Length(), ("Don't — stop!", "😀"), 1.0),
    ],
)
def test_by_hand(metric: Sim1Gram, texts: tuple[str, ...], expected: float) -> None:
    """Small cases, counted by hand."""
    assert expected == pytest.approx(value(metric, *texts))


def test_in_four_languages() -> None:
    """Words are those of the script: 'smoking harms the lungs' and the same of the heart."""
    assert value(Sim1Gram(), "Fumar daña los pulmones", "fumar daña el corazón") == 2 / 6
    assert value(Sim1Gram(), "吸烟伤害肺部。", "吸烟伤害心脏。", language="zh") == 2 / 4
    assert value(Sim1Gram(), "धूम्रपान से फेफड़े", "धूम्रपान से हृदय", language="hi") == 2 / 4
    assert value(Length(), "吸烟伤害肺部。", language="zh") == 3.0
    assert value(Length(), "धूम्रपान से फेफड़े।", language="hi") == 3.0


@pytest.mark.parametrize("size", [1, 2])
@settings(deadline=None, max_examples=40)
@given(texts=TEXTS)
def test_is_what_scipy_says(size: int, texts: list[str]) -> None:
    """An independent program computes the same similarity for each pair."""
    ours = jaccard_of_pairs([words(text, "en") for text in texts], size=size)
    assert by_scipy(texts, size) == pytest.approx(ours)


@pytest.mark.parametrize("metric", [Sim1Gram(), Sim2Gram()])
@settings(deadline=None)
@given(texts=TEXTS, data=st.data())
def test_laws_of_similarity(metric: Sim1Gram, texts: list[str], data: st.DataObject) -> None:
    """From 0 to 1, exactly 1 for equal answers, and the same in whatever order they come."""
    found = value(metric, *texts)
    assert found is None or 0.0 <= found <= 1.0
    assert found == value(metric, *data.draw(st.permutations(texts)))
    assert value(metric, texts[0], texts[0]) in {1.0, None}


@pytest.mark.parametrize(
    ("metric", "texts", "expected"),
    [
        (Sim1Gram(), ("😀", "🎉🎉"), Reading(value=None, reason="no answer has a word")),
        (
            Sim2Gram(),
            ("yes", "no", "maybe"),
            Reading(value=None, reason="no answer has 2 words in a row"),
        ),
        # The pairs of the word with each emoji are unlike; those of two emoji have no likeness.
        (
            Sim1Gram(),
            ("yes", "😀", "🎉"),
            Reading(value=0.0, reason="1 of 3 pairs without a word"),
        ),
        (Sim1Gram(), ("yes 是 हाँ", "हाँ 是 yes"), Reading(value=1.0)),
        (Length(), ("😀", "?!"), Reading(value=0.0)),
    ],
)
def test_answers_without_words(metric: Sim1Gram, texts: tuple[str, ...], expected: Reading) -> None:
    """Emoji, single words and mixed scripts: a value where there is one, else the reason."""
    assert [expected] == metric.score([answers(*texts)])


def test_long_answers() -> None:
    """Ten answers of 5,000 words: what is shared by all is found, not only sampled."""
    texts = [" ".join(f"w{n} x{repeat}n{n}" for n in range(2_500)) for repeat in range(10)]
    # 2,500 shared words, 2,500 of its own each.
    assert value(Sim1Gram(), *texts) == pytest.approx(1 / 3)
    assert value(Sim2Gram(), *texts) == 0.0
    assert value(Length(), *texts) == 5_000.0


def test_loading_is_cheap() -> None:
    """The classes are there without numpy, ICU or tomotopy."""
    topics = [f"{cross}sim_{model}" for cross in ("", "cross_") for model in ("lda_20", "hdp")]
    code = (
        "import sys; from pytest_xling.registry import load\n"
        f"for name in {[*ALL, *topics]}: load('metric', name)()\n"
        "print(sorted({'numpy', 'icu4py', 'tomotopy', 'scipy'} & set(sys.modules)))"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=300
    )
    assert run.stdout.strip() == "[]"
