"""How alike the answers to a question are, token by token: F1 of BERTScore (XLingEval §4.1.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from pytest_xling.metrics._bertscore import BertScoreParameters, readings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_xling.records import AnswerSet, Reading

__all__ = ["BertScore"]


@dataclass(frozen=True, slots=True, kw_only=True)
class BertScore(BertScoreParameters):
    """The mean F1 of BERTScore over all pairs of the answers to a question in one language.

    F1 is the harmonic mean of precision and recall of a pair; it is the same whichever answer is
    the candidate. XLingEval takes bert-base-uncased, its last layer, rescaled, in English:
    ``encoder=bert-base-uncased``, ``rescale=true``, ``text_in=english``.
    """

    name: ClassVar[str] = "bertscore"
    version: ClassVar[str] = "1"
    unit: ClassVar[Literal["repeats", "pivot"]] = "repeats"
    least: ClassVar[int] = 2

    def score(self, sets: Sequence[AnswerSet]) -> list[Reading]:
        """Return one reading per set, in order."""
        return readings(self, sets, part="f1")
