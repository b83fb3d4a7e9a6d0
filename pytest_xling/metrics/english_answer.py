"""Whether a question in another language is answered in English (CaLMQA, App. C.2, Figure 16)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pytest_xling.interfaces.metric import Flag
from pytest_xling.languages import find
from pytest_xling.records import Answer, Reading

__all__ = ["EnglishAnswer"]

_CLEAR = Reading(value=0.0)
_ENGLISH = Reading(value=None, reason="the question is in English")
_NO_LETTERS = Reading(value=None, reason="the answer holds no letters")


@dataclass(frozen=True, slots=True, kw_only=True)
class EnglishAnswer(Flag[Answer]):
    """Flags answers that langid finds to be English where the question is not.

    English can be told from any language, so those that cannot be identified themselves are
    scored as well. Answers to English questions get None.
    """

    name = "english_answer"
    version = "1"
    needs = ("language_id",)

    def read(self, answer: Answer, /) -> Reading:
        """Return the reading of one answer."""
        return _read(answer)


def _read(answer: Answer) -> Reading:
    expected = find(answer.language)
    if expected.code == "en":
        return _ENGLISH
    seen: Any = answer.annotations["language_id"].value
    if seen["language"] is None:
        return _NO_LETTERS
    if seen["langid"] != "en":
        return _CLEAR
    reason = f"answered in English, expected {expected.english_name} ({expected.code})"
    return Reading(value=1.0, reason=reason)
