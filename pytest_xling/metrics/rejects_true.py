"""Whether an answer disagrees with a true claim (UPHILL, section 4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from pytest_xling.metrics._stance import StanceMetric, phrased, seen
from pytest_xling.records import Reading

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_xling.interfaces.metric import MetricKind
    from pytest_xling.records import Answer, Sample

__all__ = ["RejectsTrue"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RejectsTrue(StanceMetric):
    """Flags answers that disagree with a claim that is true.

    Whether it is, the sample's reference says; other samples are not scored. The reason holds what
    the annotator said.
    """

    name: ClassVar[str] = "rejects_true"
    version: ClassVar[str] = "1"
    kind: ClassVar[MetricKind] = "flag"

    @staticmethod
    def applies(sample: Sample) -> bool:
        """Tell whether the sample's claim is true."""
        return sample.reference == "true"

    def score(self, answers: Sequence[Answer]) -> list[Reading]:
        """Return one reading per answer, in order."""
        return [self._read(answer) for answer in answers]

    def _read(self, answer: Answer) -> Reading:
        if not self.applies(answer.sample):
            return Reading(value=None, reason="the claim is not known to be true")
        found = seen(self, answer)
        if found.stance is None:
            return Reading(value=None, reason=found.reason)
        if found.stance != "disagree":
            return Reading(value=0.0)
        return Reading(value=1.0, reason=phrased(found, "a true claim"))
