"""The labelled answers that measure the judge of correctness: balanced, without shortcuts."""

from __future__ import annotations

from collections import Counter
from typing import Final

import pytest

from pytest_xling.annotators.correctness_label import LABELS
from tests.annotators.labelled_pairs import (
    LANGUAGES,
    correlation,
    read_card,
    read_pairs,
    rows_by,
    rows_in,
)

SPLITS: Final = ("train", "held_out")

ROWS: Final = read_pairs("correctness_label")


@pytest.mark.parametrize("language", LANGUAGES)
def test_there_are_enough_answers(language: str) -> None:
    """Of each label 10 to measure on in each language, most in English; 8 to choose on."""
    counts = Counter(row["label"] for row in rows_in(ROWS, language, "held_out"))
    assert min(counts.values()) >= (14 if language == "en" else 10)
    assert len(rows_in(ROWS, language, "train")) >= 8


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_question_does_not_tell_the_label(language: str) -> None:
    """Each has all four once, two references, and is in one split."""
    for question, rows in rows_by("question", rows_in(ROWS, language)).items():
        assert (question, sorted(LABELS)) == (question, sorted(row["label"] for row in rows))
        assert 2 == len({row["reference"] for row in rows})
        assert 1 == len({row["question_id"] for row in rows})


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_answer_alone_does_not_tell_who_says_more(language: str) -> None:
    """The same is more comprehensive beside one reference and less beside the other."""
    for rows in rows_by("question", rows_in(ROWS, language)).values():
        of = {row["label"]: row for row in rows}
        more, less = of["more_comprehensive"], of["less_comprehensive"]
        assert more["response"] == less["response"]
        assert more["reference"] != less["reference"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_most_dissimilar_answers_are_those_to_another_question(language: str) -> None:
    """In one split: nothing to be measured on occurs among what may be chosen on."""
    answers = rows_by("response", rows_in(ROWS, language))
    dissimilar = [row for row in rows_in(ROWS, language) if row["label"] == "dissimilar"]
    borrowed = [
        row
        for row in dissimilar
        if len({other["question"] for other in answers[row["response"]]}) == 2
    ]
    assert len(borrowed) >= 0.75 * len(dissimilar)


@pytest.mark.parametrize("label", LABELS)
@pytest.mark.parametrize("language", LANGUAGES)
def test_who_says_more_tells_little(language: str, label: str) -> None:
    """The answer's length beside its reference's is no label, though one of them is about it."""
    rows = rows_in(ROWS, language)
    longer = [len(row["response"]) - len(row["reference"]) for row in rows]
    assert abs(correlation(longer, [row["label"] == label for row in rows])) < 0.36


def test_the_card_counts_all_answers() -> None:
    """And questions."""
    questions = sum(len(rows_by("question", rows_in(ROWS, language))) for language in LANGUAGES)
    card = read_card("correctness_label")
    assert f"{len(ROWS)} answers to {questions} questions" in card
