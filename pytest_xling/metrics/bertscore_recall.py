"""How much of an answer is found in earlier answers to the question: recall of BERTScore."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from pytest_xling.metrics._bertscore import BertScoreParameters, readings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_xling.records import AnswerSet, Reading

__all__ = ["BertScoreRecall"]


@dataclass(frozen=True, slots=True, kw_only=True)
class BertScoreRecall(BertScoreParameters):
    """The mean recall of BERTScore over all pairs of the answers to a question in one language.

    Of two answers the earlier repeat is the candidate and the later one the reference, as where
    the pairs i < j are given to bert-score. Both ways round precision and recall would be equal.
    """

    name: ClassVar[str] = "bertscore_recall"
    version: ClassVar[str] = "1"
    unit: ClassVar[Literal["repeats", "pivot"]] = "repeats"
    least: ClassVar[int] = 2

    def score(self, sets: Sequence[AnswerSet]) -> list[Reading]:
        """Return one reading per set, in order."""
        return readings(self, sets, part="recall")
