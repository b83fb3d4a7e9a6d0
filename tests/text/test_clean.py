"""Cleaning of surrogates."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pytest_xling.text.display import clean

ANY_TEXT = st.text(st.characters(exclude_categories=()))
HIGH = range(0xD800, 0xDC00)
LOW = range(0xDC00, 0xE000)


def by_hand(text: str) -> str:
    """Join pairs and replace lone surrogates, one character after the other."""
    out = []
    place = 0
    while place < len(text):
        code = ord(text[place])
        following = ord(text[place + 1]) if place + 1 < len(text) else 0
        if code in HIGH and following in LOW:
            out.append(chr(0x10000 + ((code - 0xD800) << 10) + (following - 0xDC00)))
            place += 2
            continue
        out.append("\ufffd" if code in HIGH or code in LOW else text[place])
        place += 1
    return "".join(out)


@given(ANY_TEXT)
def test_agrees_with_joining_by_hand(text: str) -> None:
    """Pairs become one character and lone halves U+FFFD, wherever they stand."""
    assert by_hand(text) == clean(text)


@given(ANY_TEXT)
def test_result_can_be_encoded_and_stays(text: str) -> None:
    """What comes out is valid UTF-8, and cleaning it again changes nothing."""
    once = clean(text)
    once.encode()
    assert once == clean(once)


def test_valid_text_is_returned_as_it_is() -> None:
    """Text without surrogates is the same object: nothing is copied."""
    text = "नमस्ते \ufeff\x00 😀"
    assert clean(text) is text


def test_pair_given_as_two_code_points_is_joined() -> None:
    """What JSON escapes leave as two halves is one emoji again."""
    assert "a😀b" == clean("a\ud83d\ude00b")
