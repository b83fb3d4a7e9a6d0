"""Languages of sentences."""

from __future__ import annotations

from typing import Any

import langid
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_xling.annotators.sentence_languages import SentenceLanguages
from pytest_xling.errors import ConfigError
from pytest_xling.keys import canonical_json

GERMAN = "Das ist ein ganz gewöhnlicher deutscher Satz."
SPANISH = "Esta es una frase bastante corriente en español."
ANY_TEXT = st.text(st.characters(exclude_categories=()))


@pytest.mark.slow
def test_counts_sentences_as_langid_would() -> None:
    """Each sentence counts once, under the code langid gives it."""
    assert ["de", "es"] == [langid.classify(text)[0] for text in (GERMAN, SPANISH)]
    text = f"{GERMAN} {SPANISH} {GERMAN}\n\n1.\n\n---"
    expected = {"counts": {"de": 2, "es": 1}, "known": True, "read": len(text)}
    assert [expected] == SentenceLanguages().annotate([text], ["de"])


def test_says_which_languages_langid_does_not_know() -> None:
    """Wolof is not among langid's 97 languages."""
    values: list[Any] = SentenceLanguages().annotate([GERMAN, GERMAN], ["wo", "de"])
    assert [False, True] == [value["known"] for value in values]


def test_no_sentence_with_letters() -> None:
    """Numbers and signs are no sentence of any language."""
    values: list[Any] = SentenceLanguages().annotate(["", "42. 43.", "!?"], ["de"] * 3)
    assert [{}, {}, {}] == [value["counts"] for value in values]


def test_reads_no_more_than_it_says() -> None:
    """Only the first characters of a very long text count, and the value says how many."""
    text = f"{GERMAN} {SPANISH}"
    expected = {"counts": {"de": 1}, "known": True, "read": len(GERMAN)}
    assert [expected] == SentenceLanguages(max_chars=len(GERMAN)).annotate([text], ["de"])
    with pytest.raises(ConfigError, match="max_chars must be at least 1"):
        SentenceLanguages(max_chars=0)


@settings(deadline=None, max_examples=40)
@given(st.lists(st.tuples(ANY_TEXT, st.sampled_from(["de", "hi", "wo", "th"])), max_size=6))
def test_batch_is_as_one_by_one_and_plain_json(pairs: list[tuple[str, str]]) -> None:
    """Any text gets a value that JSON can hold, and the same one in any batch."""
    annotator = SentenceLanguages()
    texts, codes = [text for text, _ in pairs], [code for _, code in pairs]
    batch = annotator.annotate(texts, codes)
    assert [annotator.annotate([text], [code])[0] for text, code in pairs] == batch
    canonical_json(batch)
