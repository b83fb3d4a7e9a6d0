"""How alike the answers to a question are, as sentence embeddings (XLingEval §4.1.2, Eq. 2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from pytest_xling.metrics._sentence_similarity import SentenceSimilarity, readings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_xling.records import AnswerSet, Reading

__all__ = ["SimSent"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SimSent(SentenceSimilarity):
    """The mean cosine over all pairs of the answers to a question in one language."""

    name: ClassVar[str] = "sim_sent"
    version: ClassVar[str] = "1"
    unit: ClassVar[Literal["repeats", "pivot"]] = "repeats"
    least: ClassVar[int] = 2

    def score(self, sets: Sequence[AnswerSet]) -> list[Reading]:
        """Return one reading per set, in order."""
        return readings(self, sets)
