"""How alike the answers to a question are by their words (XLingEval §4.1.1, Eq. 1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pytest_xling.metrics._ngrams import NgramSimilarity

__all__ = ["Sim1Gram"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sim1Gram(NgramSimilarity):
    """The mean Jaccard similarity of the sets of words, over all pairs of answers."""

    name: ClassVar[str] = "sim_1gram"
    version: ClassVar[str] = "1"
    size: ClassVar[int] = 1
