"""Sentence splitting."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_xling.text.sentences import MAX_PIECE, cut, sentences

ANY_TEXT = st.text(st.characters(exclude_categories=()))


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("Dr. Ana came. She left!", "en", ["Dr. Ana came.", "She left!"]),
        ("यह एक है। वह दो है।", "hi", ["यह एक है।", "वह दो है।"]),
        ("这是一。那是二。", "zh", ["这是一。", "那是二。"]),
        ("Mbili. Tatu.", "bal", ["Mbili.", "Tatu."]),
        (" \n ", "en", []),
    ],
)
def test_splits(text: str, language: str, expected: list[str]) -> None:
    """Each language's full stops end sentences; unknown languages fall back on English."""
    assert expected == sentences(text, language)


@given(ANY_TEXT, st.sampled_from(["en", "th", "zh", "rn", ""]))
def test_loses_no_word(text: str, language: str) -> None:
    """Sentences put together are the text but for white space, and none is empty."""
    found = sentences(text, language)
    cleaned = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    assert "".join(cleaned.split()) == "".join("".join(found).split())
    assert all(found)


def test_long_text_is_split_in_pieces() -> None:
    """Sentences of a long text are the same as those of a short one."""
    text = "This is one sentence. " * (3 * MAX_PIECE // 22)
    assert ["This is one sentence."] * (3 * MAX_PIECE // 22) == sentences(text, "en")


@settings(deadline=None, max_examples=20)
@given(st.integers(0, MAX_PIECE), st.sampled_from(["word ", "नमस्ते ", "字", "«a "]))
def test_a_sentence_longer_than_a_piece_is_cut_but_kept(short: int, piece: str) -> None:
    """Nothing is lost where even one sentence is too long."""
    text = piece * ((2 * MAX_PIECE + short) // len(piece))
    assert "".join(text.split()) == "".join("".join(sentences(text, "en")).split())


@pytest.mark.slow
@pytest.mark.parametrize("piece", ["«", "“a. ", "a", ". "])
def test_long_hostile_text_takes_no_quadratic_time(piece: str) -> None:
    """Open quotation marks, on which sentencex alone is quadratic, are read in pieces, and end."""
    text = piece * (200_000 // len(piece))
    sentences(text, "en")


@given(st.text(st.sampled_from("ab ,;。字\n")), st.integers(1, 12))
def test_a_cut_sentence_is_kept(sentence: str, most: int) -> None:
    """No piece is too long or empty, and none of the text is lost but white space."""
    pieces = cut(sentence, most)
    assert all(0 < len(piece) <= most for piece in pieces)
    assert "".join(sentence.split()) == "".join("".join(pieces).split())


def test_a_sentence_is_cut_where_it_has_a_sign() -> None:
    """After a sign before a comma, and after a comma before a space; else anywhere."""
    assert ["aaa, a;", "aa, a a"] == cut("aaa, a; aa, a a", 9)
    assert ["aaaa,", "a aaa"] == cut("aaaa, a aaa", 8)
    assert ["aaaa", "aa"] == cut("aaaaaa", 4)
