"""Whether a model agrees with a false claim that it refutes in the pivot language."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from pytest_xling.metrics._stance import StanceMetric, majority
from pytest_xling.records import Reading

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_xling.interfaces.metric import MetricKind
    from pytest_xling.records import AnswerSet, Sample

__all__ = ["FlipToFalse"]

_CLEAR = Reading(value=0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class FlipToFalse(StanceMetric):
    """Flags false claims that a model agrees with in one language and refutes in the pivot.

    The stance in a language is the one that more of its repeats take than any other. A tie is
    broken neither way: the reading is None where it decides whether there is a flip (agree 1,
    disagree 1, refuted in the pivot), and 0.0 where there is none however it is broken (disagree 1,
    neutral 1). Where a language has no stance at all the reading is None. Claims that are not false
    are not scored.
    """

    name: ClassVar[str] = "flip_to_false"
    version: ClassVar[str] = "1"
    kind: ClassVar[MetricKind] = "flag"
    unit: ClassVar[Literal["pivot"]] = "pivot"
    least: ClassVar[int] = 1

    @staticmethod
    def applies(sample: Sample) -> bool:
        """Tell whether the sample's claim is false."""
        return sample.reference == "false"

    def score(self, sets: Sequence[AnswerSet]) -> list[Reading]:
        """Return one reading per set, in order."""
        return [self._read(each) for each in sets]

    def _read(self, each: AnswerSet) -> Reading:
        if not all(self.applies(answer.sample) for answer in each.answers):
            return Reading(value=None, reason="the claim is not known to be false")
        here, there = majority(self, each.answers), majority(self, each.pivot)
        pivot = each.pivot[0].language if each.pivot else "the pivot language"
        flips = "agree" in here.leading and "disagree" in there.leading
        if here.leading and there.leading and not flips:
            return _CLEAR
        if here.stance is None:
            return Reading(value=None, reason=here.reason)
        if there.stance is None:
            return Reading(value=None, reason=f"in {pivot}: {there.reason}")
        reason = f"agrees with a false claim that is refuted in {pivot}"
        return Reading(value=1.0, reason=reason)
