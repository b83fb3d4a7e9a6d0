"""Whether a model says neither that an answer is right nor that it is wrong."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_xling.interfaces.metric import Flag
from pytest_xling.records import Answer, Reading
from pytest_xling.text.verdict import verdict_of

__all__ = ["UnknownVerdict"]

_CLEAR = Reading(value=0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownVerdict(Flag[Answer]):
    """Flags replies in which no verdict can be read, and those that are none.

    XLingEval drops such replies from its scores (section 5); how many they are then matters. A
    refusal or a filtered answer counts, with that as its reason. An API error says nothing about
    the model and gets None, and so does a reply in a language without words for yes and no
    (:mod:`pytest_xling.text.yes_no`).
    """

    name = "unknown_verdict"
    version = "2"
    scores_missing = True

    def read(self, answer: Answer, /) -> Reading:
        """Return the reading of one answer."""
        return _read(answer)


def _read(answer: Answer) -> Reading:
    verdict = verdict_of(answer)
    if verdict.right is not None:
        return _CLEAR
    return Reading(value=None if verdict.unread else 1.0, reason=verdict.reason)
