"""How alike answers are to those in the pivot language, token by token: F1 of BERTScore."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from pytest_xling.metrics._bertscore import BertScoreParameters, readings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_xling.records import AnswerSet, Reading

__all__ = ["CrossBertScore"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CrossBertScore(BertScoreParameters):
    """The mean F1 of BERTScore over all pairs of an answer and one in the pivot language.

    Answers are candidates and those in the pivot language references. ``text_in=native`` needs an
    encoder that knows both languages.
    """

    name: ClassVar[str] = "cross_bertscore"
    version: ClassVar[str] = "1"
    unit: ClassVar[Literal["repeats", "pivot"]] = "pivot"
    least: ClassVar[int] = 1

    def score(self, sets: Sequence[AnswerSet]) -> list[Reading]:
        """Return one reading per set, in order."""
        return readings(self, sets, part="f1")
