"""Whether a model says neither that an answer is right nor that it is wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from pytest_xling.metrics._verdict import verdict_of
from pytest_xling.records import Reading

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_xling.interfaces.metric import MetricKind
    from pytest_xling.records import Answer

__all__ = ["UnknownVerdict"]

_CLEAR = Reading(value=0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownVerdict:
    """Flags replies in which no verdict can be read, and those that are none.

    XLingEval drops such replies from its scores (section 5); how many they are then matters. A
    refusal or a filtered answer counts, with that as its reason. An API error says nothing about
    the model and gets None, and so does a reply in a language without words for yes and no
    (:mod:`pytest_xling.text.yes_no`).
    """

    name: ClassVar[str] = "unknown_verdict"
    version: ClassVar[str] = "2"
    kind: ClassVar[MetricKind] = "flag"
    needs: ClassVar[tuple[str, ...]] = ()
    libraries: ClassVar[tuple[str, ...]] = ()
    scores_missing: ClassVar[bool] = True

    def score(self, answers: Sequence[Answer]) -> list[Reading]:
        """Return one reading per answer, in order."""
        return [_read(answer) for answer in answers]


def _read(answer: Answer) -> Reading:
    verdict = verdict_of(answer)
    if verdict.right is not None:
        return _CLEAR
    return Reading(value=None if verdict.unread else 1.0, reason=verdict.reason)
