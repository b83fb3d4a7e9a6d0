"""The labelled questions that measure judges of categories: well formed, and of each category."""

from __future__ import annotations

import json
from collections import Counter
from importlib import resources
from typing import Any, Final

import pytest

from pytest_xling.analysis.labelled import bundled_labels
from pytest_xling.text.categories import CATEGORIES
from tests.annotators.labelled_pairs import (
    LANGUAGES,
    SCRIPTS,
    latin_languages,
    near_duplicates,
    read_card,
    script_share,
)

FIELDS: Final = ["id", "language", "split", "question", "label"]


def _read(name: str) -> list[dict[str, Any]]:
    file = resources.files("pytest_xling.annotators") / "category" / name
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


ROWS: Final = _read("questions.jsonl")
SHOTS: Final = _read("shots.jsonl")


def test_every_row_has_the_fields_and_closed_values() -> None:
    """A reader may rely on the fields, their order, and the sets their values come from."""
    assert [f"c{number:03d}" for number in range(1, len(ROWS) + 1)] == [row["id"] for row in ROWS]
    bad = [
        row["id"]
        for row in ROWS
        if list(row) != FIELDS
        or row["question"].strip() != row["question"]
        or not row["question"].endswith(("?", "？"))
        or row["language"] not in LANGUAGES
        or row["label"] not in CATEGORIES
        or row["split"] != "test"
    ]
    assert bad == []


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


def test_they_are_in_their_languages() -> None:
    """By script, and English and Spanish by an independent language identifier."""
    for row in ROWS:
        share = script_share(row["question"], SCRIPTS[row["language"]])
        assert (row["id"], True) == (row["id"], share > 0.9)
    latin = [row for row in ROWS if SCRIPTS[row["language"]] == "LATIN"]
    found = latin_languages(row["question"] for row in latin)
    assert [row["language"] for row in latin] == found


def test_they_are_what_judges_are_measured_on() -> None:
    """Questions without answers, with the names of CaLMQA's data for labels."""
    labelled = bundled_labels("category")
    assert (len(ROWS), LANGUAGES) == (len(labelled.items), labelled.languages)
    assert [CATEGORIES[row["label"]] for row in ROWS] == [item.label for item in labelled.items]
    answer = labelled.items[0].answer
    assert {"question": ROWS[0]["question"]} == answer.sample.prompt
    assert "" == answer.text
