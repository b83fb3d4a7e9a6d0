"""Whether an answer names the language of its question in English (CaLMQA, App. C.2)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, ClassVar

from pytest_xling.languages import find
from pytest_xling.records import Reading

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_xling.interfaces.metric import MetricKind
    from pytest_xling.records import Answer

__all__ = ["NamesLanguage"]

_CLEAR = Reading(value=0.0)
_ENGLISH = Reading(value=None, reason="the question is in English")


@dataclass(frozen=True, slots=True, kw_only=True)
class NamesLanguage:
    """Flags answers with the English name of their question's language, such as "Wolof".

    The paper takes it as a sign that a model knew the language and yet answered in another. The
    name is looked for as a whole word ("Samoans" is none), capitalised or all in capitals, since
    "from afar" names no language. Answers to English questions get None.
    """

    name: ClassVar[str] = "names_language"
    version: ClassVar[str] = "1"
    kind: ClassVar[MetricKind] = "flag"
    needs: ClassVar[tuple[str, ...]] = ()
    libraries: ClassVar[tuple[str, ...]] = ()
    scores_missing: ClassVar[bool] = False

    def score(self, answers: Sequence[Answer]) -> list[Reading]:
        """Return one reading per answer, in order."""
        return [_read(answer.text, answer.language) for answer in answers]


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
