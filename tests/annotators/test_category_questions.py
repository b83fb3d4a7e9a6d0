"""The labelled questions that measure judges of categories: well formed, and of each category."""

from __future__ import annotations

from collections import Counter
from typing import Final

import pytest

from pytest_xling.analysis.labelled import bundled_labels
from pytest_xling.text.categories import CATEGORIES
from tests.annotators.labelled_pairs import (
    LANGUAGES,
    near_duplicates,
    read_card,
    read_pairs,
)

ROWS: Final = read_pairs("category", file="questions")
SHOTS: Final = read_pairs("category", file="shots")


def test_they_are_questions() -> None:
    """Each ends as one."""
    assert all(row["question"].endswith(("?", "？")) for row in ROWS)


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_category_has_as_many(language: str) -> None:
    """Two, and three in English; the card says so."""
    counts = Counter(row["label"] for row in ROWS if row["language"] == language)
    each = 3 if language == "en" else 2
    assert dict.fromkeys(CATEGORIES, each) == counts
    assert f"| {language} | {counts.total()} | {each} |" in read_card("category")


def test_no_two_are_nearly_equal_and_none_is_shown_to_judges() -> None:
    """Each question is one of its own."""
    assert [*CATEGORIES] == [shot["category"] for shot in SHOTS]
    assert [] == near_duplicates([row["question"] for row in ROWS + SHOTS], 0.4)


def test_they_are_what_judges_are_measured_on() -> None:
    """Questions without answers, with the names of CaLMQA's data for labels."""
    labelled = bundled_labels("category")
    assert (len(ROWS), LANGUAGES) == (len(labelled.items), labelled.languages)
    assert [CATEGORIES[row["label"]] for row in ROWS] == [item.label for item in labelled.items]
    answer = labelled.items[0].answer
    assert {"question": ROWS[0]["question"]} == answer.sample.prompt
    assert "" == answer.text
