"""The language of a line of a few words, where independent identifiers agree on it.

Beside langid and CLD2 two more are asked, which come with the extra ``short-lines``: heliport
(HeLI-OTS: Jauhiainen et al., 2022) and lingua, on its low accuracy, which is its quick mode.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

from pytest_xling.errors import ConfigError
from pytest_xling.interfaces.annotator import versions_of
from pytest_xling.languages import find
from pytest_xling.text import langid
from pytest_xling.text.cld2 import detect
from pytest_xling.text.prose import names_aside
from pytest_xling.text.words import words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from heliport import Identifier
    from lingua import LanguageDetector

    from pytest_xling.languages import Language

_PACKAGES: Final = ("heliport", "lingua-language-detector")
_TOGETHER: Final = {"hbs": ("bs", "hr", "sr"), "msa": ("id", "ms")}
"""heliport has one code for languages that differ little."""
_FEWEST_WORDS: Final = 2


def identifiers() -> Mapping[str, str]:
    """Return the versions of the packages that are asked.

    Raises:
        ConfigError: one of them is not installed.
    """
    return versions_of(_PACKAGES, user="line_languages: short_lines", extra="short-lines")


def agreed(lines: Sequence[tuple[str, Language]]) -> list[str | None]:
    """Return the language of each line, as identifiers name it; None where they do not agree.

    It is the expected one where heliport says so, and CLD2 or lingua does. It is another one where
    all four say that, if it can be no other: a single word, or one beside names, is a word of many
    languages, and a few words are often right in all of a family.

    Args:
        lines: each with the language it should be in.

    Raises:
        ConfigError: heliport or lingua is not installed.
    """
    by_langid = langid.identify([text for text, _ in lines])
    return [_agreed(*line, by_langid=code) for line, code in zip(lines, by_langid, strict=True)]


def _agreed(text: str, expected: Language, *, by_langid: str) -> str | None:
    own = expected.identified_as
    heliport, lingua = _by_heliport(text), _by_lingua(text)
    cld2 = detect(text, best_effort=True).language
    if own in heliport:
        return own if own in {cld2, lingua} else None
    if lingua is None or lingua not in heliport or lingua != cld2:
        return None
    family = find(lingua).family
    alike = lingua in expected.close or family == expected.family or not family
    tokens = words(names_aside(text, expected.script), expected.code)
    if lingua != find(by_langid).identified_as or alike or len(tokens) < _FEWEST_WORDS:
        return None
    return lingua


def _by_heliport(text: str) -> tuple[str, ...]:
    code: str = _heliport().identify(text)
    return _TOGETHER.get(code) or _ours(code)


def _by_lingua(text: str) -> str | None:
    language = _lingua().detect_language_of(text)
    return None if language is None else find(language.iso_code_639_3.name).identified_as


@cache
def _ours(code: str) -> tuple[str, ...]:
    try:
        return (find(code).identified_as,)
    except ConfigError:  # "und", of what has no letters
        return ()


@cache
def _heliport() -> Identifier:
    """Load its model (2 s, once per process)."""
    identifiers()
    from heliport import Identifier  # noqa: PLC0415  an extra

    return Identifier()


@cache
def _lingua() -> LanguageDetector:
    """Return its detector, which loads a language's model when it first compares with it."""
    identifiers()
    from lingua import LanguageDetectorBuilder  # noqa: PLC0415  an extra

    return LanguageDetectorBuilder.from_all_languages().with_low_accuracy_mode().build()
