"""Words of a text in any script, by ICU's rules (Unicode's UAX 29) and dictionaries.

ICU finds the words of scripts without spaces (Chinese, Japanese, Thai, Lao, Khmer, Burmese) with
dictionaries that travel with the package ``icu4py``, wherever such a script stands in a text.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING

import icu4py
from icu4py.breakers import WordBreaker

from pytest_xling.text.display import clean

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_PIECE = 1_000_000
"""Longer texts are read in pieces of at most this many characters, cut after a space where there
is one: ICU counts in 32 bits, and a gigabyte of model text is not worth more memory."""

_INVISIBLE = re.compile(
    "[\u00ad\u061c\u180e\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0001-\U000e007f]"
)
"""Marks without width or sound, which would make two words of one: soft hyphens, directions, tags.

The joiners U+200C and U+200D are not among them: Persian and the Indic scripts spell with them.
"""
_EMOJI = "\ufe0f"  # makes a picture of what stands before it, such as the letter ℹ or the digit 1
_LETTER_OR_DIGIT = re.compile(r"[^\W_]")
_DOTTED_I = str.maketrans({"I": "ı", "İ": "i"})
_WITH_DOTLESS_I = frozenset({"az", "tr"})
_CACHED_WORDS = 1 << 16
_LONGEST_CACHED = 64


def tokenizer() -> str:
    """Return the name and version of what finds the words, for signatures."""
    return f"icu {icu4py.icu_version}, nfkc, casefold"


def words(text: str, language: str) -> list[str]:
    """Return the words of *text*, in order, without punctuation, spaces, symbols and emoji.

    A word is what UAX 29 puts between two boundaries, where it has a letter or a digit: *don't*
    and *3.14* are one word, *follow-up* two, and so are 肺癌 and 的. Words are given so that those
    that differ in case, width or the shape of an apostrophe are equal: NFKC, then case folding
    (with the Turkish rules for ``tr`` and ``az``). Combining marks stay with their letters.

    Args:
        text: of any length.
        language: a code; ICU uses its rules for it, where it has some of its own.
    """
    dotless = language in _WITH_DOTLESS_I
    folded = []
    for piece in _pieces(_INVISIBLE.sub("", unicodedata.normalize("NFC", clean(text)))):
        for segment in WordBreaker(piece, language):
            fold = _fold if len(segment) <= _LONGEST_CACHED else _fold.__wrapped__
            if word := fold(segment, dotless):
                folded.append(word)
    return folded


@lru_cache(_CACHED_WORDS)
def _fold(segment: str, dotless: bool) -> str:  # noqa: FBT001  a cache key, not an interface
    """Return *segment* in the form in which equal words are equal; "" where it is no word."""
    if not _LETTER_OR_DIGIT.search(segment) or _EMOJI in segment:
        return ""
    if dotless:
        segment = segment.translate(_DOTTED_I)
    folded = unicodedata.normalize("NFKC", segment).casefold().replace("\u2019", "'")
    # NFKC makes a space and a mark of an accent that stands alone, such as ¸.
    folded = folded.replace(" ", "")
    # It takes the vowels am of Thai and Lao apart, too, which are written as one.
    folded = folded.replace("\u0e4d\u0e32", "\u0e33").replace("\u0ecd\u0eb2", "\u0eb3")
    # Markdown's emphasis: UAX 29 counts _ among the letters.
    return unicodedata.normalize("NFC", folded).strip("_")


def _pieces(text: str) -> Iterator[str]:
    start = 0
    while len(text) - start > MAX_PIECE:
        end = start + MAX_PIECE
        space = max(text.rfind(" ", start, end), text.rfind("\n", start, end))
        end = space + 1 if space >= start else end
        yield text[start:end]
        start = end
    yield text[start:]
