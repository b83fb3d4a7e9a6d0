"""What is checked of a set: the claims of each answer against the answer beside it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_xling.interfaces.annotator import Annotator
from pytest_xling.text.answer_text import needs_of, readable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_xling.interfaces.metric import TextIn
    from pytest_xling.judging.support import Support
    from pytest_xling.keys import JsonValue
    from pytest_xling.records import Answer, AnswerSet

__all__ = ["Check", "SupportAnnotator", "checks_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """A claim, and the text that is to support it."""

    claim: str
    text: str
    language: str
    """The code of the text's language."""


@dataclass(frozen=True, kw_only=True)  # two bases with slots cannot be combined
class SupportAnnotator(Annotator):
    """Checks the claims of each answer of a set against the pivot's answer, and the other way.

    The first answer is compared with the pivot's first, and so on. A value has ``own``, the claims
    of the answers, and ``pivot``, those of the pivot's, each with whether it is ``supported``, the
    ``p`` of that, what is ``wrong`` where it is not known, and what :class:`Claims` says of it.
    Where an answer has no claims there are none of either, and ``reason`` says why.
    """

    called = "the judge of claims"
    of_sets = True

    text_in: TextIn = "native"
    """``english``: translations are compared."""

    @property
    def needs(self) -> tuple[str, ...]:
        """The claims, and the translation where texts are read in English."""
        return ("claims", *needs_of(self.text_in))

    def looks_at(self, answers: AnswerSet, /) -> JsonValue:
        """Return the claims and the texts of both sides."""
        return {
            "own": [self._side(answer) for answer in answers.answers],
            "pivot": [self._side(answer) for answer in answers.pivot],
        }

    def _side(self, answer: Answer) -> JsonValue:
        return [
            answer.annotations["claims"].value,
            readable(answer, text_in=self.text_in).text,
            answer.language,
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Claimed:
    """A claim as the annotator of claims has it, and the check of it."""

    claim: Mapping[str, JsonValue]
    check: Check


@dataclass(frozen=True, slots=True, kw_only=True)
class Checks:
    """What is to be checked of a set, or why nothing is."""

    own: Sequence[_Claimed] = ()
    pivot: Sequence[_Claimed] = ()
    reason: str = ""

    @property
    def all(self) -> list[Check]:
        """Every check, none twice."""
        return list(dict.fromkeys(each.check for each in (*self.own, *self.pivot)))

    def value(self, outcomes: Mapping[Check, Support]) -> JsonValue:
        """Return the annotation, given how each check came out."""
        sides: dict[str, JsonValue] = {
            name: [
                {
                    **each.claim,
                    "supported": outcomes[each.check].supported,
                    "p": outcomes[each.check].p,
                    "wrong": outcomes[each.check].wrong,
                }
                for each in side
            ]
            for name, side in (("own", self.own), ("pivot", self.pivot))
        }
        return {**sides, "reason": self.reason}


def checks_of(answers: AnswerSet, *, text_in: TextIn) -> Checks:
    """Return what is to be checked of a set, or why nothing is."""
    own: list[_Claimed] = []
    pivot: list[_Claimed] = []
    for answer, other in zip(answers.answers, answers.pivot, strict=False):
        for side, place, of, against in (
            (own, "", answer, other),
            (pivot, "pivot: ", other, answer),
        ):
            claims: Any = of.annotations["claims"].value
            if not claims["claims"]:
                return Checks(reason=place + (claims["reason"] or "no claims"))
            text = readable(against, text_in=text_in)
            side += [
                _Claimed(
                    claim=claim,
                    check=Check(claim=claim["text"], text=text.text or "", language=text.language),
                )
                for claim in claims["claims"]
            ]
    return Checks(own=own, pivot=pivot)
