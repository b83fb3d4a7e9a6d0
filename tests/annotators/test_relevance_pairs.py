"""The labelled pairs that measure the judge of relevance: well formed, balanced, no shortcuts."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any, Final

import pytest

from pytest_xling.annotators.language_evidence import LanguageEvidence
from pytest_xling.metrics.repetition import Repetition
from pytest_xling.metrics.wrong_language import WrongLanguage
from tests.annotators.labelled_pairs import (
    LANGUAGES,
    correlation,
    read_card,
    read_pairs,
    rows_by,
    rows_in,
    words,
)
from tests.answers import annotated_answer

SPLITS: Final = ("train", "held_out")
NEGATIONS: Final = {
    "en": {"not", "no", "never", "nobody", "nothing", "neither", "nor", "cannot"},
    "es": {"no", "nada", "nunca", "nadie", "ni", "sin"},
    "hi": {"नहीं", "न", "मत"},
    "zh": {"不", "没", "别"},
}

ROWS: Final = read_pairs("relevance")


def _is_relevant(row: dict[str, Any]) -> bool:
    return bool(row["label"] == "relevant")


@pytest.mark.parametrize("language", LANGUAGES)
def test_there_are_enough_pairs(language: str) -> None:
    """Most in English, in which translated answers are judged; at least 12 not to test on."""
    assert len(rows_in(ROWS, language, "held_out")) >= (60 if language == "en" else 40)
    assert len(rows_in(ROWS, language, "train")) >= 12


def test_the_question_does_not_tell_the_label() -> None:
    """Half of its answers are relevant, all are in one split, and its English version is one."""
    for question, rows in rows_by("question", ROWS).items():
        assert (question, True) == (question, len(rows) in {2, 4})
        assert len(rows) == 2 * sum(map(_is_relevant, rows))
        assert (question, 1) == (question, len({row.get("question_english") for row in rows}))


def test_an_answer_to_two_questions_has_both_labels() -> None:
    """Relevant to the one, beside the point of the other, both in one split."""
    answers = defaultdict(list)
    for row in ROWS:
        answers[row["response"]].append(row)
    twice = [rows for rows in answers.values() if len(rows) > 1]
    assert len(twice) >= 30
    for rows in twice:
        assert 2 == len({row["question"] for row in rows}) == len(rows)
    same = [rows for rows in twice if 1 == len({row["label"] for row in rows})]
    assert len(same) <= 2


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_negation_tells_little(language: str) -> None:
    """Neither "no" nor "never" is what makes an answer irrelevant."""
    rows = rows_in(ROWS, language)
    # Of Chinese, whose words are pairs of characters, what holds one.
    negated = [
        any(n in row["response"] for n in NEGATIONS["zh"])
        if language == "zh"
        else not NEGATIONS[language].isdisjoint(words(row["response"], language))
        for row in rows
    ]
    assert abs(correlation(negated, [_is_relevant(row) for row in rows])) < 0.2


def test_no_answer_has_a_surface_issue() -> None:
    """Nobody is asked about those that have one: they would measure nothing."""
    texts, languages = ([row[key] for row in ROWS] for key in ("response", "language"))
    answers = [
        annotated_answer(text, language, {"language_evidence": seen})
        for text, language, seen in zip(
            texts, languages, LanguageEvidence().annotate(texts, languages), strict=True
        )
    ]
    for metric in (WrongLanguage(), Repetition()):
        assert 1.0 not in {reading.value for reading in metric.score(answers)}


def test_the_card_counts_all_answers() -> None:
    """And questions, and the texts that answer two of them."""
    card = read_card("relevance")
    both = Counter(row["response"] for row in ROWS).values()
    assert f"{len(ROWS)} answers to {len(rows_by('question', ROWS))} questions" in card
    assert f"of {len(both)} texts {sum(count == 2 for count in both)} answers" in card
