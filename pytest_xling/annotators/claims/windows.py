"""The sentences of an answer in windows, and where they stand in the answer as it was given."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pytest_xling.text.sentences import sentences

_LINES = re.compile(r"\s*[\n\v\f\r\x1c-\x1e\x85\u2028\u2029]\s*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """A sentence and its place."""

    text: str
    line: int
    """Which line of the text it is in, from 0 on; lines without a sentence count."""
    number: int
    """Which sentence of its line it is, from 0 on."""
    of: int
    """How many its line has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """Sentences whose claims are asked for, and those around them."""

    before: tuple[str, ...]
    sentences: tuple[Sentence, ...]
    after: tuple[str, ...]


def windows(text: str, language: str, *, size: int, before: int, after: int) -> list[Window]:
    """Return the sentences of *text* by windows; none where it has no sentence.

    Args:
        text: of any length.
        language: its code.
        size: sentences of a window.
        before: sentences before a window that it comes with.
        after: sentences after it.
    """
    every = [
        Sentence(text=sentence, line=line, number=number, of=len(split))
        for line, split in enumerate(_lines(text, language))
        for number, sentence in enumerate(split)
    ]
    texts = tuple(sentence.text for sentence in every)
    return [
        Window(
            before=texts[max(start - before, 0) : start],
            sentences=tuple(every[start : start + size]),
            after=texts[start + size : start + size + after],
        )
        for start in range(0, len(every), size)
    ]


def native_sentence(sentence: Sentence, answer: str, language: str) -> str:
    """Return what a sentence of an answer's translation is a translation of.

    Translations keep lines where they are. Within a line the sentences correspond one to one where
    they are as many, and else by their relative place.

    Args:
        sentence: of the translation.
        answer: the answer as it was given.
        language: the code of its language.
    """
    lines = _lines(answer, language)
    if sentence.line >= len(lines) or not (own := lines[sentence.line]):
        return ""
    return own[sentence.number * len(own) // sentence.of]


def _lines(text: str, language: str) -> list[list[str]]:
    return [sentences(line, language) for line in _LINES.split(text.strip())]
