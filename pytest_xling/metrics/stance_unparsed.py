"""Whether the annotator's own reply about a stance cannot be read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from pytest_xling.metrics._stance import StanceMetric, seen
from pytest_xling.records import Reading

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_xling.interfaces.metric import MetricKind
    from pytest_xling.records import Answer

__all__ = ["StanceUnparsed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StanceUnparsed(StanceMetric):
    """Flags answers whose stance the annotator gave in words that cannot be read.

    That is the annotator's fault, not the model's: UPHILL counts such answers as neutral, here they
    have no stance, and this says how many there are. Where the annotator was not asked, as without
    an answer or its translation, the reading is None.
    """

    name: ClassVar[str] = "stance_unparsed"
    version: ClassVar[str] = "1"
    kind: ClassVar[MetricKind] = "flag"

    def score(self, answers: Sequence[Answer]) -> list[Reading]:
        """Return one reading per answer, in order."""
        return [self._read(answer) for answer in answers]

    def _read(self, answer: Answer) -> Reading:
        found = seen(self, answer)
        if found.unparsed:
            return Reading(value=1.0, reason=found.reason)
        if found.stance is None:
            return Reading(value=None, reason=found.reason)
        return Reading(value=0.0)
