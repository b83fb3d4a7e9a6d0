"""How alike the answers to a question are in their topics: HDP (XLingEval §4.1.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from pytest_xling.metrics._topics import TopicSimilarity

__all__ = ["SimHdp"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SimHdp(TopicSimilarity):
    """The mean cosine over all pairs of answers, with a hierarchical Dirichlet process."""

    name: ClassVar[str] = "sim_hdp"
    version: ClassVar[str] = "1"
    unit: ClassVar[Literal["repeats", "pivot"]] = "repeats"
    least: ClassVar[int] = 2
    topics: ClassVar[int | None] = None
