"""What annotators of empathy share: which texts they read, and the value they give."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pytest_xling.text.answer_text import ENGLISH, ReadingAnnotator, readable, unanswered
from pytest_xling.text.empathy import MECHANISMS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_xling.interfaces.metric import TextIn
    from pytest_xling.keys import JsonValue
    from pytest_xling.records import Answer
    from pytest_xling.text.empathy import Mechanism, Presence

BUNDLED_PAIRS: Final = Path(__file__).with_name("pairs.jsonl")
"""Labelled posts and responses, to train on and to measure on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """What somebody wrote who seeks support, and a response."""

    seeker: str
    response: str
    language: str
    """Code of the language the response should be in."""

    @property
    def texts(self) -> dict[str, str]:
        """Both texts by name."""
        return {"post": self.seeker, "response": self.response}


@dataclass(frozen=True, kw_only=True)  # two bases with slots cannot be combined
class PairAnnotator(ReadingAnnotator):
    """Reads an answer beside the post that it responds to."""

    aspects = MECHANISMS

    @staticmethod
    def label(value: JsonValue, aspect: str = "", /) -> str | None:
        """Return whether the mechanism called *aspect* is present."""
        read: Any = value
        presence: str | None = read[aspect]
        return presence

    def looks_at(self, answer: Answer) -> JsonValue:
        """Return the post and the response that are read, or why none are."""
        pair = pair_of(answer, text_in=self.text_in)
        return {"reason": pair} if isinstance(pair, str) else asdict(pair)


def pair_of(answer: Answer, *, text_in: TextIn) -> Pair | str:
    """Return what an annotator of empathy reads of *answer*; where it cannot, the reason in words.

    The post is the sample's prompt field ``question``. With ``text_in="english"`` it is
    ``question_english`` where the sample has that, and the response its annotation ``translate``.
    """
    if wrong := unanswered(answer):
        return wrong
    seeker = answer.sample.prompt.get("question", "")
    if not seeker.strip():
        return "the sample has no question, the post that is responded to"
    if text_in == "native" or answer.language == ENGLISH:
        return Pair(seeker=seeker, response=answer.text, language=answer.language)
    translated = readable(answer, text_in=text_in)
    if translated.text is None or not translated.text.strip():
        return f"no translation: {translated.reason or 'empty'}"
    english = answer.sample.prompt.get("question_english", "")
    return Pair(seeker=english or seeker, response=translated.text, language=ENGLISH)


def empathy_value(
    profile: Mapping[Mechanism, Presence | None],
    *,
    reason: str = "",
    reasoning: Mapping[Mechanism, str] | None = None,
    unparsed: bool = False,
) -> JsonValue:
    """Return the annotation every annotator of empathy gives.

    Args:
        profile: whether the response has each mechanism; None, or left out, where that is unknown.
        reason: why it is unknown.
        reasoning: the annotator's by mechanism, such as a judge's words or a probability.
        unparsed: there is an answer, and the annotator's own reply about it cannot be read.
    """
    told = reasoning or {}
    return {
        **{mechanism: profile.get(mechanism) for mechanism in MECHANISMS},
        "reason": reason,
        "reasoning": {mechanism: told.get(mechanism, "") for mechanism in MECHANISMS},
        "unparsed": unparsed,
    }
