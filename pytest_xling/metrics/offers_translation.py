"""Whether an answer talks of translating (CaLMQA, App. C.2)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pytest_xling.interfaces.metric import Flag
from pytest_xling.languages import find
from pytest_xling.records import Answer, Reading

__all__ = ["OffersTranslation"]

_TERMS = re.compile(
    r"\b(?:[Tt]ranslat(?:e[sd]?|ing|ions?)|TRANSLAT(?:E[SD]?|ING|IONS?))\b", re.ASCII
)
_CLEAR = Reading(value=0.0)
_ENGLISH = Reading(value=None, reason="the question is in English")


@dataclass(frozen=True, slots=True, kw_only=True)
class OffersTranslation(Flag[Answer]):
    """Flags answers to non-English questions with a form of "translate" or "translation".

    The paper takes these terms as a sign that a model translates the question, or asks for its
    translation, rather than answering it. Here: whole English words, small, capitalised or in
    capitals. Answers to English questions get None: there these are ordinary words.
    """

    name = "offers_translation"
    version = "1"

    def read(self, answer: Answer, /) -> Reading:
        """Return the reading of one answer."""
        return _read(answer.text, answer.language)


def _read(text: str, language: str) -> Reading:
    if find(language).code == "en":
        return _ENGLISH
    # Most answers have neither, which a plain search tells much faster than the pattern.
    found = _TERMS.search(text) if "ranslat" in text or "RANSLAT" in text else None
    if found is None:
        return _CLEAR
    return Reading(value=1.0, reason=f"says {found.group()!r}")
