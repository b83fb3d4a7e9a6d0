"""How alike the answers to a question are in their topics: LDA with 20 (XLingEval §4.1.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from pytest_xling.metrics._topics import TopicSimilarity

__all__ = ["SimLda20"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SimLda20(TopicSimilarity):
    """The mean cosine over all pairs of answers, with latent Dirichlet allocation."""

    name: ClassVar[str] = "sim_lda_20"
    version: ClassVar[str] = "1"
    unit: ClassVar[Literal["repeats", "pivot"]] = "repeats"
    least: ClassVar[int] = 2
    topics: ClassVar[int | None] = 20
