"""How alike texts are by the n-grams of their words (XLingEval §4.1.1, Eq. 1)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from pytest_xling.metrics._readable import needs_of
from pytest_xling.metrics._words import words_or_why
from pytest_xling.records import Reading

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_xling.interfaces.metric import Better, Bounds, MetricKind, TextIn
    from pytest_xling.keys import JsonValue
    from pytest_xling.records import AnswerSet

__all__ = ["NgramSimilarity", "jaccard_of_pairs"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NgramSimilarity:
    """The mean Jaccard similarity of the sets of n-grams, over all pairs of a question's answers.

    A pair without any n-gram, such as two answers of emoji, has no similarity and is left out.

    Attributes:
        text_in: ``native`` reads answers as they are, ``english`` their translations.
    """

    kind: ClassVar[MetricKind] = "number"
    bounds: ClassVar[Bounds] = (0.0, 1.0)
    better: ClassVar[Better] = "higher"
    libraries: ClassVar[tuple[str, ...]] = ()
    unit: ClassVar[Literal["repeats"]] = "repeats"
    least: ClassVar[int] = 2
    fitted: ClassVar[bool] = False
    size: ClassVar[int]
    """Words in an n-gram."""

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
        similarities = jaccard_of_pairs(texts, size=self.size)
        pairs = math.comb(len(texts), 2)
        missing = pairs - len(similarities)
        ngram = "a word" if self.size == 1 else f"{self.size} words in a row"
        if not similarities:
            return Reading(value=None, reason=f"no answer has {ngram}")
        # fsum: the order of the answers must not show.
        value = math.fsum(similarities) / len(similarities)
        reason = f"{missing} of {pairs} pairs without {ngram}" if missing else ""
        return Reading(value=value, reason=reason)


def jaccard_of_pairs(texts: Sequence[Sequence[str]], *, size: int) -> list[float]:
    """Return the Jaccard similarity, 0 to 1, of each pair of texts that has an n-gram at all.

    Args:
        texts: the words of each.
        size: words in an n-gram; the number of distinct words to its power must be below 2**63.
    """
    import numpy as np  # noqa: PLC0415  loading the class must stay cheap

    known: dict[str, int] = {}
    numbered = [
        np.array([known.setdefault(word, len(known)) for word in text], dtype=np.int64)
        for text in texts
    ]
    distinct = []
    for text in numbered:
        count = max(len(text) - size + 1, 0)
        ngrams = np.zeros(count, dtype=np.int64)
        for place in range(size):
            ngrams = ngrams * len(known) + text[place : place + count]
        distinct.append(np.unique(ngrams))
    found, columns = np.unique(np.concatenate(distinct), return_inverse=True)
    sizes = np.array([len(ngrams) for ngrams in distinct])
    has = np.zeros((len(texts), len(found)), dtype=np.bool_)
    has[np.repeat(np.arange(len(texts)), sizes), columns] = True
    similarities: list[float] = []
    for row in range(len(texts) - 1):
        shared = (has[row] & has[row + 1 :]).sum(axis=1)
        union = sizes[row] + sizes[row + 1 :] - shared
        similarities += (shared[union > 0] / union[union > 0]).tolist()
    return similarities
