"""Sentences of a text, by ``sentencex`` and its own fall-backs between languages."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import sentencex

from pytest_xling.text.display import clean

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_PIECE = 10_000
"""Longer texts are split in pieces of at most this many characters.

sentencex takes time quadratic in the number of open quotation marks: 5 s for 125,000 of them. The
last sentence of a piece is read again with the next, so only a sentence that is longer than this
is itself cut, after a line or a space where it has one.
"""
# After these a sentence that is too long is cut, best first.
_PLACES = (re.compile(r"[;；:：。।॥]\s*"), re.compile(r"[,，、،]\s*"), re.compile(r"\s+"))


def sentences(text: str, language: str) -> list[str]:
    """Return the sentences of *text*, stripped, in order, none empty.

    Args:
        text: of any length.
        language: a code; sentencex uses its rules for it, for a related language, or English's.
    """
    text = clean(text)
    split = sentencex.segment(language, text) if len(text) <= MAX_PIECE else _split(text, language)
    return [stripped for sentence in split if (stripped := sentence.strip())]


def _split(text: str, language: str) -> Iterator[str]:
    start = 0
    while len(text) - start > MAX_PIECE:
        piece = text[start : start + MAX_PIECE]
        *whole, last = sentencex.segment(language, piece)
        begun = len(piece) - len(last)  # where the sentence that may go on begins
        if whole and piece.endswith(last) and begun:
            yield from whole
            start += begun
        else:
            size = piece.rfind("\n") + 1 or piece.rfind(" ") + 1 or MAX_PIECE
            yield piece[:size]
            start += size
    yield from sentencex.segment(language, text[start:])


def cut(sentence: str, max_chars: int) -> list[str]:
    """Return *sentence* in pieces of at most *max_chars* characters, stripped, none empty.

    It is cut in the latter half of what fits, after a sign or else a space, where there is one.
    """
    pieces = []
    while len(sentence) > max_chars:
        place = _place(sentence, max_chars)
        pieces.append(sentence[:place].strip())
        sentence = sentence[place:].strip()
    return [piece for piece in (*pieces, sentence) if piece]


def _place(sentence: str, size: int) -> int:
    for places in _PLACES:
        ends = [place.end() for place in places.finditer(sentence, size // 2, size)]
        if ends:
            return ends[-1]
    return size
