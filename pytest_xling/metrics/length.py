"""How many words the answers to a question have (XLingEval §4.1.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_xling.interfaces.metric import Number, TextIn
from pytest_xling.records import AnswerSet, Reading
from pytest_xling.text.answer_text import needs_of, words_or_why

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_xling.keys import JsonValue

__all__ = ["Length"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Length(Number[AnswerSet]):
    """The mean number of words, without punctuation and spaces, of the answers to a question.

    Languages differ in what they write as one word: compare them with ``text_in="english"``.

    Attributes:
        text_in: ``native`` reads answers as they are, ``english`` their translations.
    """

    name = "length"
    version = "1"
    bounds = (0.0, None)
    unit = "repeats"

    text_in: TextIn = "native"

    @property
    def needs(self) -> tuple[str, ...]:
        """The translation, where texts are read in English."""
        return needs_of(self.text_in)

    def signed(self) -> Mapping[str, JsonValue]:
        """Return what finds the words."""
        from pytest_xling.text.words import tokenizer  # noqa: PLC0415  ICU is 40 MB of libraries

        return {"words": tokenizer()}

    def read(self, each: AnswerSet, /) -> Reading:
        """Return the reading of one set."""
        texts = words_or_why(each.answers, text_in=self.text_in, least=self.least)
        if isinstance(texts, Reading):
            return texts
        return Reading(value=sum(map(len, texts)) / len(texts))
