"""Sentences of a text, by ``sentencex`` and its own fall-backs between languages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sentencex

from pytest_xling.text.clean import clean

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["MAX_PIECE", "sentences"]

MAX_PIECE = 10_000
"""Longer texts are split in pieces of at most this many characters, cut after a line or a space.

sentencex takes time quadratic in the number of open quotation marks: 5 s for 125,000 of them.
"""


def sentences(text: str, language: str) -> list[str]:
    """Return the sentences of *text*, stripped, in order, none empty.

    Args:
        text: of any length.
        language: a code; sentencex uses its rules for it, for a related language, or English's.
    """
    text = clean(text)
    pieces = (text,) if len(text) <= MAX_PIECE else _pieces(text)
    return [
        stripped
        for piece in pieces
        for sentence in sentencex.segment(language, piece)
        if (stripped := sentence.strip())
    ]


def _pieces(text: str) -> Iterator[str]:
    start = 0
    while len(text) - start > MAX_PIECE:
        limit = start + MAX_PIECE
        end = text.rfind("\n", start, limit) + 1 or text.rfind(" ", start, limit) + 1 or limit
        yield text[start:end]
        start = end
    yield text[start:]
