"""Which text of an answer is read: its translation into English, or the answer itself."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_xling.records import Reading

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_xling.interfaces.metric import TextIn
    from pytest_xling.records import Answer

__all__ = ["ENGLISH", "Readable", "needs_of", "readable", "readable_or_why", "words_or_why"]

ENGLISH = "en"


@dataclass(frozen=True, slots=True, kw_only=True)
class Readable:
    """A text and the language it is in; without a text, the reason why there is none."""

    text: str | None
    language: str
    reason: str = ""


def needs_of(text_in: TextIn) -> tuple[str, ...]:
    """Return the annotators a metric that reads texts *text_in* needs."""
    return ("translate",) if text_in == "english" else ()


def readable(answer: Answer, *, text_in: TextIn) -> Readable:
    """Return what a metric reads of *answer*: in English, its annotation ``translate``."""
    if text_in == "native" or answer.language == ENGLISH:
        return Readable(text=answer.text, language=answer.language)
    translated: Any = answer.annotations["translate"].value
    return Readable(text=translated["text"], language=ENGLISH, reason=translated["reason"])


def readable_or_why(
    answers: Sequence[Answer], *, text_in: TextIn, least: int
) -> list[Readable] | Reading:
    """Return what a metric reads of *answers*, or why that is too little.

    Answers without a readable text (their translation is degenerate) are left out.

    Args:
        answers: of one set.
        text_in: which text.
        least: how many texts are needed.
    """
    texts = [readable(answer, text_in=text_in) for answer in answers]
    kept = [text for text in texts if text.text is not None and text.text.strip()]
    if len(kept) >= least:
        return kept
    reasons = Counter(text.reason or "empty text" for text in texts if text not in kept)
    why = "; ".join(f"{reason} ({n})" for reason, n in sorted(reasons.items()))
    return Reading(value=None, reason=f"only {len(kept)} of {len(texts)} answers readable: {why}")


def words_or_why(
    answers: Sequence[Answer], *, text_in: TextIn, least: int
) -> list[list[str]] | Reading:
    """Return the words of each readable answer, or why there are too few such answers.

    Args:
        answers: of one set.
        text_in: which text is read.
        least: how many are needed.
    """
    # Imported when there is something to score: ICU is 40 MB of libraries.
    from pytest_xling.text.words import words  # noqa: PLC0415

    texts = readable_or_why(answers, text_in=text_in, least=least)
    if isinstance(texts, Reading):
        return texts
    return [words(each.text or "", each.language) for each in texts]
