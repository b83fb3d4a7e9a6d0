"""Whether an answer declines, or says that it cannot judge (UPHILL, section 4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from pytest_xling.metrics._phrasing import PhraseMetric, reading_of
from pytest_xling.text.disclaimers import abstention

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_xling.records import Answer, Reading

__all__ = ["Abstains"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Abstains(PhraseMetric):
    """Gives 1.0 where an answer declines or says that it cannot judge, else 0.0.

    It does by phrases such as "as an AI I cannot give medical advice" near the beginning or "I
    can't say whether this is true" anywhere; what else it says does not matter. Phrases are known
    for a few languages (:mod:`pytest_xling.text.disclaimers`); for others the reading is None,
    unless answers are read in English (``text_in=english``). Refusals that the provider reports are
    no answers: see ``no_answer``. Neither end is better.
    """

    name: ClassVar[str] = "abstains"
    version: ClassVar[str] = "1"

    def score(self, answers: Sequence[Answer]) -> list[Reading]:
        """Return one reading per answer, in order."""
        return [reading_of(self, answer, abstention) for answer in answers]
