"""Whether an answer apologises or says it does not understand (CaLMQA, App. C.2)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pytest_xling.interfaces.metric import Flag
from pytest_xling.languages import find
from pytest_xling.records import Answer, Reading

__all__ = ["Apology"]

_TERMS = re.compile(
    r"\b(?:[Ss]orry\b|SORRY\b|(?:[Aa]polog|APOLOG|[Uu]nderstand|UNDERSTAND)\w*)",
    re.ASCII,
)
# A plain search for a part is ten times faster than the pattern, and few answers have one.
_PARTS = ("orry", "polog", "nderstand", "ORRY", "POLOG", "NDERSTAND")
_CLEAR = Reading(value=0.0)
_ENGLISH = Reading(value=None, reason="the question is in English")


@dataclass(frozen=True, slots=True, kw_only=True)
class Apology(Flag[Answer]):
    """Flags answers to non-English questions with an English word of apology.

    The paper counts answers with phrases like "sorry", "apologize" or "understand". Here: "sorry"
    and all words that begin with "apolog" or "understand", small, capitalised or in capitals; of
    the readings we tried this is among the closest to its figures. Answers to English questions
    get None: there these are ordinary words.
    """

    name = "apology"
    version = "1"

    def read(self, answer: Answer, /) -> Reading:
        """Return the reading of one answer."""
        return _read(answer.text, answer.language)


def _read(text: str, language: str) -> Reading:
    if find(language).code == "en":
        return _ENGLISH
    found = _TERMS.search(text) if any(part in text for part in _PARTS) else None
    if found is None:
        return _CLEAR
    return Reading(value=1.0, reason=f"says {found.group()!r}")
