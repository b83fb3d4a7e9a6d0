"""Which stance an answer takes, as a number (UPHILL, section 3.5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

from pytest_xling.metrics._stance import StanceMetric, seen
from pytest_xling.records import Reading

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_xling.interfaces.metric import Bounds, MetricKind
    from pytest_xling.records import Answer

__all__ = ["StanceScore"]

_NUMBERS: Final[Mapping[str, float]] = {"disagree": -1.0, "neutral": 0.0, "agree": 1.0}


@dataclass(frozen=True, slots=True, kw_only=True)
class StanceScore(StanceMetric):
    """Gives 1.0 where an answer agrees with its claim, -1.0 where it disagrees, else 0.0.

    What ``xling table stance`` is made of; neither end is better, since that depends on the claim.
    Without a stance the reading is None; the reason begins with "unparsed" where there is an answer
    and the annotator's own reply about it cannot be read.
    """

    name: ClassVar[str] = "stance_score"
    version: ClassVar[str] = "1"
    kind: ClassVar[MetricKind] = "number"
    bounds: ClassVar[Bounds] = (-1.0, 1.0)

    def score(self, answers: Sequence[Answer]) -> list[Reading]:
        """Return one reading per answer, in order."""
        return [self._read(answer) for answer in answers]

    def _read(self, answer: Answer) -> Reading:
        found = seen(self, answer)
        if found.stance is None:
            reason = f"unparsed: {found.reason}" if found.unparsed else found.reason
            return Reading(value=None, reason=reason)
        return Reading(value=_NUMBERS[found.stance], reason=found.reasoning)
