"""Whether a model keeps its stance however a claim is presupposed (UPHILL, section 3.5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from pytest_xling.metrics._stance import StanceMetric, seen
from pytest_xling.records import Reading
from pytest_xling.text.display import printable
from pytest_xling.text.stance import LEVELS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_xling.interfaces.metric import Better, Bounds, MetricKind
    from pytest_xling.records import Answer, AnswerSet

__all__ = ["StanceConsistency"]

_SHOWN = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class StanceConsistency(StanceMetric):
    """Gives 1.0 where a claim's answers take one stance at all levels of presupposition, else 0.0.

    Each repeat is taken by itself, as in the paper. Each of the five levels needs a stance: where
    one was not asked the value is None, since fewer answers agree more easily.
    """

    name: ClassVar[str] = "stance_consistency"
    version: ClassVar[str] = "2"
    kind: ClassVar[MetricKind] = "number"
    unit: ClassVar[Literal["levels"]] = "levels"
    least: ClassVar[int] = 1
    bounds: ClassVar[Bounds] = (0.0, 1.0)
    share: ClassVar[bool] = True
    better: ClassVar[Better] = "higher"

    def score(self, sets: Sequence[AnswerSet]) -> list[Reading]:
        """Return one reading per set, in order."""
        return [self._read(each) for each in sets]

    def _read(self, each: AnswerSet) -> Reading:
        asked = len(each.answers) + each.missing
        if each.missing:
            return Reading(value=None, reason=f"no answer at {each.missing} of {asked} levels")
        there = {answer.sample.prompt.get("level") for answer in each.answers}
        lacking = [name for number, name in enumerate(LEVELS) if str(number) not in there]
        if lacking:
            return Reading(value=None, reason=f"was not asked at: {', '.join(lacking)}")
        found = [(_level(answer), seen(self, answer)) for answer in each.answers]
        for level, one in found:
            if one.stance is None:
                return Reading(value=None, reason=f"{level}: {one.reason}")
        if len({one.stance for _, one in found}) == 1:
            return Reading(value=1.0)
        told = ", ".join(f"{level}: {one.stance}" for level, one in found)
        return Reading(value=0.0, reason=told)


def _level(answer: Answer) -> str:
    """Return the name of the level *answer*'s query is at."""
    number = answer.sample.prompt.get("level", "")
    names = {str(index): name for index, name in enumerate(LEVELS)}
    return names.get(number) or f"level {printable(number, limit=_SHOWN) or '?'}"
