"""How alike answers are to those in the pivot language, as sentence embeddings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from pytest_xling.metrics._sentence_similarity import SentenceSimilarity, readings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_xling.records import AnswerSet, Reading

__all__ = ["CrossSimSent"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CrossSimSent(SentenceSimilarity):
    """The mean cosine over all pairs of an answer and one in the pivot language.

    ``text_in=native`` needs an encoder that knows both languages.
    """

    name: ClassVar[str] = "cross_sim_sent"
    version: ClassVar[str] = "1"
    unit: ClassVar[Literal["repeats", "pivot"]] = "pivot"
    least: ClassVar[int] = 1

    def score(self, sets: Sequence[AnswerSet]) -> list[Reading]:
        """Return one reading per set, in order."""
        return readings(self, sets)
