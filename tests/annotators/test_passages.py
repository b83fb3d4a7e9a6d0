"""Texts are taken apart and put together."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_xling.annotators.translate.passages import Passages
from pytest_xling.text.display import clean
from pytest_xling.text.sentences import sentences

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=200)


@settings(deadline=None, max_examples=30)
@given(ANY_TEXT, st.integers(10, 50))
def test_untouched_passages_are_the_text(text: str, size: int) -> None:
    """Taking apart and putting together loses nothing but white space; no piece is too long."""
    passages = Passages.of(text, split=lambda line: sentences(line, "es"), max_chars=size)
    joined = passages.joined({})
    assert "".join(clean(text).split()) == "".join(joined.split())
    assert all(len(piece) <= size for _, line in passages.lines for piece in line)
