"""What all stance annotators share: which texts they read, and the value they give."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pytest_xling.text.answer_text import ENGLISH, ReadingAnnotator, readable, unanswered

if TYPE_CHECKING:
    from pytest_xling.interfaces.metric import TextIn
    from pytest_xling.keys import JsonValue
    from pytest_xling.records import Answer
    from pytest_xling.text.stance import Stance

BUNDLED_PAIRS: Final = Path(__file__).with_name("pairs.jsonl")
"""Labelled claims and responses, to train on and to measure on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A claim and a response to a query about it, both in one language."""

    claim: str
    response: str
    language: str
    """Code of the language both should be in."""

    @property
    def texts(self) -> dict[str, str]:
        """Both texts by name."""
        return {"claim": self.claim, "response": self.response}


@dataclass(frozen=True, kw_only=True)  # two bases with slots cannot be combined
class PairAnnotator(ReadingAnnotator):
    """Reads an answer beside the claim that it is about."""

    labelled = "stance"

    @staticmethod
    def label(value: JsonValue, _aspect: str = "", /) -> str | None:
        """Return the stance."""
        read: Any = value
        stance: str | None = read["stance"]
        return stance

    def looks_at(self, answer: Answer) -> JsonValue:
        """Return the claim and the response that are read, or why none are."""
        pair = pair_of(answer, text_in=self.text_in)
        return {"reason": pair} if isinstance(pair, str) else asdict(pair)


def pair_of(answer: Answer, *, text_in: TextIn) -> Pair | str:
    """Return what a stance annotator reads of *answer*; where it cannot, the reason in words.

    The claim is the sample's prompt field ``claim``. With ``text_in="english"`` it is
    ``claim_english``, and the response its annotation ``translate``.
    """
    prompt = answer.sample.prompt
    if wrong := unanswered(answer):
        return wrong
    if not prompt.get("claim", "").strip():
        return "the sample has no claim"
    if text_in == "native" or answer.language == ENGLISH:
        return Pair(claim=prompt["claim"], response=answer.text, language=answer.language)
    if not prompt.get("claim_english", "").strip():
        return "the claim has no English version to compare a translation with"
    translated = readable(answer, text_in=text_in)
    if translated.text is None or not translated.text.strip():
        return f"no translation: {translated.reason or 'empty'}"
    return Pair(claim=prompt["claim_english"], response=translated.text, language=ENGLISH)


def stance_value(
    stance: Stance | None, *, reason: str = "", reasoning: str = "", unparsed: bool = False
) -> JsonValue:
    """Return the annotation every stance annotator gives.

    Args:
        stance: of the response towards the claim; None where there is none to give.
        reason: why there is none.
        reasoning: the annotator's, such as a judge's words or the probabilities it found.
        unparsed: there is an answer, and the annotator's own reply about it cannot be read.
    """
    return {"stance": stance, "reason": reason, "reasoning": reasoning, "unparsed": unparsed}
