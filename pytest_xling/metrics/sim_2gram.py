"""How alike the answers to a question are by their word bigrams (XLingEval §4.1.1, Eq. 1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pytest_xling.metrics._ngrams import NgramSimilarity

__all__ = ["Sim2Gram"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sim2Gram(NgramSimilarity):
    """The mean Jaccard similarity of the sets of word bigrams, over all pairs of answers."""

    name: ClassVar[str] = "sim_2gram"
    version: ClassVar[str] = "1"
    size: ClassVar[int] = 2
