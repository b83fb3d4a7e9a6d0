"""Whether an answer warns in general, such as to see a doctor (UPHILL, section 4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from pytest_xling.metrics._phrasing import PhraseMetric, reading_of
from pytest_xling.text import disclaimers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_xling.records import Answer, Reading

__all__ = ["Disclaimer"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Disclaimer(PhraseMetric):
    """Gives 1.0 where an answer has a warning that would fit any other, else 0.0.

    Such as to consult a doctor, or that this is no medical advice; what doctors think or do
    ("doctors advise against it") is none. Phrases are known for a few languages
    (:mod:`pytest_xling.text.disclaimers`); for others the reading is None, unless answers are read
    in English (``text_in=english``). Neither end is better.
    """

    name: ClassVar[str] = "disclaimer"
    version: ClassVar[str] = "1"

    def score(self, answers: Sequence[Answer]) -> list[Reading]:
        """Return one reading per answer, in order."""
        return [reading_of(self, answer, disclaimers.disclaimer) for answer in answers]
