"""How alike answers are as sentence embeddings (XLingEval §4.1.2, Eq. 2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_xling.encoders.metric import EncoderMetric
from pytest_xling.records import Reading

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from pytest_xling.records import AnswerSet


@dataclass(frozen=True, slots=True, kw_only=True)
class _SentenceSimilarity(EncoderMetric):
    """The mean cosine of the sentence embeddings of a set, of all pairs or of those across."""

    version = "1"
    bounds = (-1.0, 1.0)
    better = "higher"

    def score(self, answers: Sequence[AnswerSet]) -> list[Reading]:
        """Return the mean cosine of each set, over all pairs or those with the pivot's answers."""
        sets = [self._texts(each) for each in answers]
        # Each text is embedded once, however many answers and sets it is in.
        distinct = list(
            dict.fromkeys(
                text
                for sides in sets
                if not isinstance(sides, Reading)
                for side in sides
                for text in side
            )
        )
        if not distinct:
            return [reading for reading in sets if isinstance(reading, Reading)]
        embeddings = self.open().sentence_embeddings(distinct)
        vectors = dict(zip(distinct, embeddings, strict=True))
        return [
            sides if isinstance(sides, Reading) else Reading(value=_mean_cosine(*sides, vectors))
            for sides in sets
        ]

    def _texts(self, each: AnswerSet) -> tuple[list[str], list[str]] | Reading:
        sides = self.texts_or_why(each)
        if isinstance(sides, Reading):
            return sides
        own, pivot = ([text.text or "" for text in side] for side in sides)
        return own, pivot


@dataclass(frozen=True, slots=True, kw_only=True)
class SimSent(_SentenceSimilarity):
    """The mean cosine over all pairs of the answers to a question in one language."""

    name = "sim_sent"
    unit = "repeats"
    least = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class CrossSimSent(_SentenceSimilarity):
    """The mean cosine over all pairs of an answer and one in the pivot language.

    ``text_in=native`` needs an encoder that knows both languages.
    """

    name = "cross_sim_sent"
    unit = "pivot"


def _mean_cosine(
    own_texts: list[str], pivot_texts: list[str], vectors: dict[str, NDArray[np.float32]]
) -> float:
    """Return the mean over all pairs of *own_texts*, or of each with each of *pivot_texts*."""
    import numpy as np  # noqa: PLC0415  loading the class must stay cheap

    own, pivot = (
        np.array([vectors[text] for text in side], dtype=np.float64)
        for side in (own_texts, pivot_texts)
    )
    if len(pivot):
        mean = (own @ pivot.T).mean()
    else:
        mean = (own @ own.T)[np.triu_indices(len(own), k=1)].mean()
    # Vectors of length 1 in 32 bits may have a product of slightly more than 1.
    return float(np.clip(mean, -1.0, 1.0))
