"""Whether an answer names the language of its question in English (CaLMQA, App. C.2)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from pytest_xling.interfaces.metric import Flag
from pytest_xling.languages import find
from pytest_xling.records import Answer, Reading

__all__ = ["NamesLanguage"]

_CLEAR = Reading(value=0.0)
_ENGLISH = Reading(value=None, reason="the question is in English")


@dataclass(frozen=True, slots=True, kw_only=True)
class NamesLanguage(Flag[Answer]):
    """Flags answers with the English name of their question's language, such as "Wolof".

    The paper takes it as a sign that a model knew the language and yet answered in another. The
    name is looked for as a whole word ("Samoans" is none), capitalised or all in capitals, since
    "from afar" names no language. Answers to English questions get None.
    """

    name = "names_language"
    version = "1"

    def read(self, answer: Answer, /) -> Reading:
        """Return the reading of one answer."""
        return _read(answer.text, answer.language)


def _read(text: str, code: str) -> Reading:
    name = _english_name(code)
    if name is None:
        return _ENGLISH
    if name not in text and name.upper() not in text:  # much faster than the pattern
        return _CLEAR
    if not _pattern(name).search(text):
        return _CLEAR
    return Reading(value=1.0, reason=f"names the language of the question: {name!r}")


@cache
def _english_name(code: str) -> str | None:
    language = find(code)
    return None if language.code == "en" else language.english_name


@cache
def _pattern(name: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{re.escape(name)}|{re.escape(name.upper())})\b", re.ASCII)
