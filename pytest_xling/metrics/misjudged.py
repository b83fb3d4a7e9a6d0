"""Whether a model is wrong about an answer it is shown (XLingEval, section 5)."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_xling.interfaces.metric import Flag
from pytest_xling.records import Answer, Reading
from pytest_xling.text.verdict import gold_of, verdict_of

__all__ = ["Misjudged"]

_CLEAR = Reading(value=0.0)
_WORDS = {True: "right", False: "wrong"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Misjudged(Flag[Answer]):
    """Flags replies whose verdict is not the sample's reference, "right" or "wrong".

    No verdict is as bad as the wrong one, refusals and filtered answers included: who asked does
    not know. (XLingEval's released code drops them.) An API error says nothing about the model and
    gets None, and so do samples without such a reference, and replies in a language without words
    for yes and no (:mod:`pytest_xling.text.yes_no`).
    """

    name = "misjudged"
    version = "2"
    scores_missing = True

    def read(self, answer: Answer, /) -> Reading:
        """Return the reading of one answer."""
        return _read(answer)


def _read(answer: Answer) -> Reading:
    gold = gold_of(answer)
    if gold is None:
        reason = "the sample's reference is neither 'right' nor 'wrong'"
        return Reading(value=None, reason=reason)
    verdict = verdict_of(answer)
    if verdict.unread:
        return Reading(value=None, reason=verdict.reason)
    if verdict.right is None:
        return Reading(value=1.0, reason=f"no verdict: {verdict.reason}")
    if verdict.right == gold:
        return _CLEAR
    reason = f"says {_WORDS[verdict.right]} of an answer that is {_WORDS[gold]}"
    return Reading(value=1.0, reason=reason)
