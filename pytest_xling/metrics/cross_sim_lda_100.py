"""How alike answers are to those in the pivot language, in topics: LDA with 100 (XLingEval)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from pytest_xling.metrics._topics import TopicSimilarity

__all__ = ["CrossSimLda100"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CrossSimLda100(TopicSimilarity):
    """The mean cosine over all pairs of an answer and one in the pivot language."""

    name: ClassVar[str] = "cross_sim_lda_100"
    version: ClassVar[str] = "1"
    unit: ClassVar[Literal["repeats", "pivot"]] = "pivot"
    least: ClassVar[int] = 1
    topics: ClassVar[int | None] = 100
