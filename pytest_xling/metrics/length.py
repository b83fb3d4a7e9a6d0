"""How many words the answers to a question have (XLingEval §4.1.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from pytest_xling.metrics._readable import needs_of
from pytest_xling.metrics._words import words_or_why
from pytest_xling.records import Reading

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_xling.interfaces.metric import Bounds, MetricKind, TextIn
    from pytest_xling.keys import JsonValue
    from pytest_xling.records import AnswerSet

__all__ = ["Length"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Length:
    """The mean number of words, without punctuation and spaces, of the answers to a question.

    Languages differ in what they write as one word: compare them with ``text_in="english"``.

    Attributes:
        text_in: ``native`` reads answers as they are, ``english`` their translations.
    """

    name: ClassVar[str] = "length"
    version: ClassVar[str] = "1"
    kind: ClassVar[MetricKind] = "number"
    bounds: ClassVar[Bounds] = (0.0, None)
    libraries: ClassVar[tuple[str, ...]] = ()
    unit: ClassVar[Literal["repeats"]] = "repeats"
    least: ClassVar[int] = 1
    fitted: ClassVar[bool] = False

    text_in: TextIn = "native"

    @property
    def needs(self) -> tuple[str, ...]:
        """The translation, where texts are read in English."""
        return needs_of(self.text_in)

    def signed(self) -> Mapping[str, JsonValue]:
        """Return what finds the words."""
        from pytest_xling.text.words import tokenizer  # noqa: PLC0415  ICU is 40 MB of libraries

        return {"words": tokenizer()}

    def score(self, sets: Sequence[AnswerSet]) -> list[Reading]:
        """Return one reading per set, in order."""
        return [self._reading(each) for each in sets]

    def _reading(self, answers: AnswerSet) -> Reading:
        texts = words_or_why(answers.answers, text_in=self.text_in, least=self.least)
        if isinstance(texts, Reading):
            return texts
        return Reading(value=sum(map(len, texts)) / len(texts))
