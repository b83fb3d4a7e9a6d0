"""Whether a model takes the stance it takes in the pivot language."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from pytest_xling.metrics._stance import StanceMetric, majority
from pytest_xling.records import Reading

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_xling.interfaces.metric import Better, Bounds, MetricKind
    from pytest_xling.records import AnswerSet

__all__ = ["StanceAgreement"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StanceAgreement(StanceMetric):
    """Gives 1.0 where the stance is that of the pivot language at the same level, else 0.0.

    The stance in a language is the one that more of its repeats take than any other. Where there is
    a tie in either language, or no stance, the reading is None.
    """

    name: ClassVar[str] = "stance_agreement"
    version: ClassVar[str] = "1"
    kind: ClassVar[MetricKind] = "number"
    unit: ClassVar[Literal["pivot"]] = "pivot"
    least: ClassVar[int] = 1
    bounds: ClassVar[Bounds] = (0.0, 1.0)
    share: ClassVar[bool] = True
    better: ClassVar[Better] = "higher"

    def score(self, sets: Sequence[AnswerSet]) -> list[Reading]:
        """Return one reading per set, in order."""
        return [self._read(each) for each in sets]

    def _read(self, each: AnswerSet) -> Reading:
        here, there = majority(self, each.answers), majority(self, each.pivot)
        if here.stance is None:
            return Reading(value=None, reason=here.reason)
        pivot = each.pivot[0].language if each.pivot else "the pivot language"
        if there.stance is None:
            return Reading(value=None, reason=f"in {pivot}: {there.reason}")
        if here.stance == there.stance:
            return Reading(value=1.0)
        return Reading(value=0.0, reason=f"{here.stance}, where {pivot} has {there.stance}")
