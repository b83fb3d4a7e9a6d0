"""Textual indicators of a model that is not at home in a language (CaLMQA, App. C.2)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

from pytest_xling.interfaces.metric import Flag
from pytest_xling.languages import find
from pytest_xling.records import Answer, Reading

if TYPE_CHECKING:
    import regex

_CLEAR = Reading(value=0.0)
_ENGLISH = Reading(value=None, reason="the question is in English")
_NO_LETTERS = Reading(value=None, reason="the answer holds no letters")


@dataclass(frozen=True, slots=True, kw_only=True)
class _HasEnglishWord(Flag[Answer]):
    """Flags answers to questions that are not in English with certain English words."""

    words: ClassVar[re.Pattern[str]]
    parts: ClassVar[tuple[str, ...]]
    """One of them is in all that is found: a plain search is ten times faster than the pattern, and
    few answers have one."""

    def read(self, answer: Answer, /) -> Reading:
        """Return the reading of one answer."""
        if find(answer.language).code == "en":
            return _ENGLISH
        if not any(part in answer.text for part in self.parts):
            return _CLEAR
        word = self.words.search(answer.text)
        return _CLEAR if word is None else Reading(value=1.0, reason=f"says {word.group()!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Apology(_HasEnglishWord):
    """Flags answers to non-English questions with an English word of apology.

    The paper counts answers with phrases like "sorry", "apologize" or "understand". Here: "sorry"
    and all words that begin with "apolog" or "understand", small, capitalised or in capitals; of
    the readings we tried this is among the closest to its figures. Answers to English questions
    get None: there these are ordinary words.
    """

    name = "apology"
    version = "1"
    words = re.compile(
        r"\b(?:[Ss]orry\b|SORRY\b|(?:[Aa]polog|APOLOG|[Uu]nderstand|UNDERSTAND)\w*)", re.ASCII
    )
    parts = ("orry", "polog", "nderstand", "ORRY", "POLOG", "NDERSTAND")


@dataclass(frozen=True, slots=True, kw_only=True)
class OffersTranslation(_HasEnglishWord):
    """Flags answers to non-English questions with a form of "translate" or "translation".

    The paper takes these terms as a sign that a model translates the question, or asks for its
    translation, rather than answering it. Here: whole English words, small, capitalised or in
    capitals. Answers to English questions get None: there these are ordinary words.
    """

    name = "offers_translation"
    version = "1"
    words = re.compile(
        r"\b(?:[Tt]ranslat(?:e[sd]?|ing|ions?)|TRANSLAT(?:E[SD]?|ING|IONS?))\b", re.ASCII
    )
    parts = ("ranslat", "RANSLAT")


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
        name = _english_name(answer.language)
        if name is None:
            return _ENGLISH
        if name not in answer.text and name.upper() not in answer.text:
            return _CLEAR
        if not _pattern(name).search(answer.text):
            return _CLEAR
        return Reading(value=1.0, reason=f"names the language of the question: {name!r}")


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
        expected = find(answer.language)
        if expected.code == "en":
            return _ENGLISH
        value: Any = answer.annotations["language_id"].value
        if value["language"] is None:
            return _NO_LETTERS
        if value["langid"] != "en":
            return _CLEAR
        reason = f"answered in English, expected {expected.english_name} ({expected.code})"
        return Reading(value=1.0, reason=reason)


@dataclass(frozen=True, slots=True, kw_only=True)
class Emoji(Flag[Answer]):
    """Flags answers with at least one emoji: a character shown as a picture (Unicode, UTS #51)."""

    name = "emoji"
    version = "1"
    libraries = ("regex",)

    def read(self, answer: Answer, /) -> Reading:
        """Return the reading of one answer."""
        if answer.text.isascii():
            return _CLEAR
        mark, sequence = _emoji_patterns()
        if not mark.search(answer.text):
            return _CLEAR
        emoji = sequence.search(answer.text)
        if emoji is None:
            return _CLEAR
        return Reading(value=1.0, reason=f"has {emoji.group()} ({_code_points(emoji.group())})")


@cache
def _emoji_patterns() -> tuple[regex.Pattern[str], regex.Pattern[str]]:
    """Return what all emoji have one of, which is found three times as fast, and what they are.

    Shown as a picture by default, unless a variation selector asks for text; shown as text by
    default (©, ™, ☺), unless one asks for a picture; a key cap. Never a bare digit.
    """
    import regex  # noqa: PLC0415  a stored run is judged without

    return regex.compile(r"[\p{Emoji_Presentation}\uFE0F]"), regex.compile(
        r"\p{Regional_Indicator}{2}|\p{Emoji_Presentation}(?!\uFE0E)"
        r"|\p{Extended_Pictographic}\uFE0F|[0-9#*]\uFE0F\u20E3"
    )


@cache
def _english_name(code: str) -> str | None:
    language = find(code)
    return None if language.code == "en" else language.english_name


@cache
def _pattern(name: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{re.escape(name)}|{re.escape(name.upper())})\b", re.ASCII)


def _code_points(text: str) -> str:
    return " ".join(f"U+{ord(character):04X}" for character in text)
