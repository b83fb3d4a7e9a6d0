"""Whether an answer takes the stance that is factually right (UPHILL, section 3.5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from pytest_xling.metrics._stance import StanceMetric, phrased, seen
from pytest_xling.records import Reading
from pytest_xling.text.stance import RIGHT_STANCE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_xling.interfaces.metric import Better, Bounds, MetricKind
    from pytest_xling.records import Answer, Sample

__all__ = ["FactualAccuracy"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FactualAccuracy(StanceMetric):
    """Gives 1.0 where an answer takes the right stance towards its claim, else 0.0.

    Right is to agree with a true claim, to disagree with a false one and to be neutral towards a
    mixture of both. The sample's reference says which it is; other samples are not scored.
    """

    name: ClassVar[str] = "factual_accuracy"
    version: ClassVar[str] = "1"
    kind: ClassVar[MetricKind] = "number"
    bounds: ClassVar[Bounds] = (0.0, 1.0)
    share: ClassVar[bool] = True
    better: ClassVar[Better] = "higher"

    @staticmethod
    def applies(sample: Sample) -> bool:
        """Tell whether there is a right stance towards the sample's claim."""
        return sample.reference in RIGHT_STANCE

    def score(self, answers: Sequence[Answer]) -> list[Reading]:
        """Return one reading per answer, in order."""
        return [self._read(answer) for answer in answers]

    def _read(self, answer: Answer) -> Reading:
        veracity = answer.sample.reference or ""
        right = RIGHT_STANCE.get(veracity)
        if right is None:
            reason = f"no stance is right towards a claim whose veracity is {veracity or 'unknown'}"
            return Reading(value=None, reason=reason)
        found = seen(self, answer)
        if found.stance is None:
            return Reading(value=None, reason=found.reason)
        if found.stance == right:
            return Reading(value=1.0)
        claim = "a mixture of true and false" if veracity == "mixture" else f"a {veracity} claim"
        return Reading(value=0.0, reason=phrased(found, claim))
