"""Whether a model is wrong about an answer it is shown (XLingEval, section 5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from pytest_xling.metrics._verdict import gold_of, verdict_of
from pytest_xling.records import Reading

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_xling.interfaces.metric import MetricKind
    from pytest_xling.records import Answer

__all__ = ["Misjudged"]

_CLEAR = Reading(value=0.0)
_WORDS = {True: "right", False: "wrong"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Misjudged:
    """Flags replies whose verdict is not the sample's reference, "right" or "wrong".

    No verdict is as bad as the wrong one, refusals and filtered answers included: who asked does
    not know. (XLingEval's released code drops them.) An API error says nothing about the model and
    gets None, and so do samples without such a reference, and replies in a language without words
    for yes and no (:mod:`pytest_xling.text.yes_no`).
    """

    name: ClassVar[str] = "misjudged"
    version: ClassVar[str] = "2"
    kind: ClassVar[MetricKind] = "flag"
    needs: ClassVar[tuple[str, ...]] = ()
    libraries: ClassVar[tuple[str, ...]] = ()
    scores_missing: ClassVar[bool] = True

    def score(self, answers: Sequence[Answer]) -> list[Reading]:
        """Return one reading per answer, in order."""
        return [_read(answer) for answer in answers]


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
