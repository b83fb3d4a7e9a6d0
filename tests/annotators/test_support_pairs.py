"""The labelled pairs that measure annotators of support: well formed, balanced, no shortcuts."""

from __future__ import annotations

import re
from typing import Any, Final

import pytest

from pytest_xling.annotators.support import LABELS
from tests.annotators.labelled_pairs import (
    LANGUAGES,
    read_pairs,
    rows_by,
    rows_in,
    words,
)

SPLITS: Final = ("train", "held_out")

ROWS: Final = read_pairs("support")


def _is_supported(row: dict[str, Any]) -> bool:
    return bool(row["label"] == "supported")


@pytest.mark.parametrize("language", LANGUAGES)
def test_there_are_enough_pairs_and_both_labels(language: str) -> None:
    """60 a language, about a quarter of them not to test on, and half of each part supported."""
    rows = rows_in(ROWS, language)
    assert len(rows) >= 60
    assert 0.7 <= len(rows_in(ROWS, language, "held_out")) / len(rows) <= 0.8
    for split in SPLITS:
        part = rows_in(ROWS, language, split)
        assert 0.4 <= sum(map(_is_supported, part)) / len(part) <= 0.6


def test_the_text_does_not_tell_the_label() -> None:
    """A text has three to six claims, some supported and some not, all in one split."""
    for text, rows in rows_by("response", ROWS).items():
        assert (text, True) == (text, 3 <= len(rows) <= 6)
        assert set(LABELS) == {row["label"] for row in rows}


def test_some_texts_are_search_results() -> None:
    """A title and a snippet each; both labels as often, and no words shared that tell them."""
    rows = [row for row in ROWS if "\n" in row["response"]]
    for row in rows:
        results = [result.split("\n") for result in row["response"].split("\n\n")]
        assert (row["id"], "en", [2, 2, 2]) == (row["id"], row["language"], [*map(len, results)])
        assert not any(title.endswith(".") or not said.endswith(".") for title, said in results)
    held_out = [row for row in rows if row["split"] == "held_out"]
    assert len(held_out) >= 40
    assert 2 * sum(map(_is_supported, held_out)) == len(held_out)
    supported, unsupported = _shared(rows, "en")
    assert abs(supported - unsupported) < 0.05


def test_texts_are_passages_and_claims_are_sentences() -> None:
    """Two to eight sentences against one."""
    for row in ROWS:
        assert (row["id"], True) == (row["id"], 2 <= _sentences(row["response"]) <= 8)
        assert (row["id"], 1) == (row["id"], _sentences(row["claim"]))


def _sentences(text: str) -> int:
    """Return how many full stops end a sentence; decimal points and thousands do not."""
    return len(re.findall(r"[。।]|\.(?!\d)", text))


@pytest.mark.parametrize("language", LANGUAGES)
def test_shared_words_do_not_tell_the_label(language: str) -> None:
    """Of the words of a claim, the text has about as many whether it supports it or not."""
    supported, unsupported = _shared(rows_in(ROWS, language), language)
    assert abs(supported - unsupported) < 0.15


def _shared(rows: list[dict[str, Any]], language: str) -> tuple[float, float]:
    """Return the share of a claim's words that its text has: of supported and of other claims."""
    shares: dict[bool, list[float]] = {True: [], False: []}
    for row in rows:
        known = set(words(row["response"], language))
        claim = words(row["claim"].rstrip(".。।"), language)
        shares[_is_supported(row)].append(sum(word in known for word in claim) / len(claim))
    supported, unsupported = (sum(found) / len(found) for found in shares.values())
    return supported, unsupported
