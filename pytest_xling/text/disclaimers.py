"""Sentences in which an answer abstains, or warns in general (UPHILL, section 4).

An answer *abstains* where it declines ("I cannot provide medical advice") in one of its first three
sentences, or says anywhere that it cannot judge ("I can't say whether this is true"). A
*disclaimer* is a warning that would fit any answer about health: consult a doctor, this is no
medical advice. Phrases stand in ``disclaimers.jsonl`` (how they are written:
:mod:`pytest_xling.text.phrases`); questions are passed over, and so is what its kind ``aside``
names, such as "you do not need to see a doctor".
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from pytest_xling.text.phrases import compiled, sentences

if TYPE_CHECKING:
    import re
    from collections.abc import Iterable, Sequence

_Kind: TypeAlias = Literal[
    "declines",  # abstains, near the beginning
    "undecided",  # abstains, wherever it stands
    "disclaimer",
    "aside",  # holds one of these phrases and means something else
]
_FILE = Path(__file__).with_name("disclaimers.jsonl")
_OPENING = 3  # sentences


@dataclass(frozen=True, slots=True, kw_only=True)
class _Phrases:
    """The patterns of one language; None where it has no such phrase."""

    declines: re.Pattern[str] | None
    undecided: re.Pattern[str] | None
    disclaimer: re.Pattern[str] | None
    aside: re.Pattern[str] | None

    def without_asides(self, sentence: str) -> str:
        """Return *sentence* with its asides cut out."""
        return self.aside.sub(" | ", sentence) if self.aside else sentence


def known_languages() -> frozenset[str]:
    """Return the codes of the languages that have phrases."""
    return frozenset(row["language"] for row in _rows())


def abstention(text: str, languages: Iterable[str]) -> str:
    """Return the first sentence of *text* that abstains in one of *languages*; "" if none does.

    Languages without phrases find nothing.
    """
    lexica = _lexica(languages)
    for index, (sentence, plain) in enumerate(sentences(text)):
        for phrases in lexica:
            bare = phrases.without_asides(plain)
            if (index < _OPENING and _in(bare, phrases.declines)) or _in(bare, phrases.undecided):
                return sentence.strip()
    return ""


def disclaimer(text: str, languages: Iterable[str]) -> str:
    """Return the first sentence of *text* that warns in one of *languages*; "" if none does.

    Languages without phrases find nothing.
    """
    lexica = _lexica(languages)
    for sentence, plain in sentences(text):
        for phrases in lexica:
            if _in(phrases.without_asides(plain), phrases.disclaimer):
                return sentence.strip()
    return ""


def _in(sentence: str, pattern: re.Pattern[str] | None) -> bool:
    return pattern is not None and pattern.search(sentence) is not None


def _lexica(languages: Iterable[str]) -> list[_Phrases]:
    known = known_languages()
    return [_phrases(code) for code in dict.fromkeys(languages) if code in known]


@cache
def _phrases(language: str) -> _Phrases:
    rows = [row for row in _rows() if row["language"] == language]
    lists: dict[str, Sequence[str]] = {row["list"]: row["phrases"] for row in rows if "list" in row}
    patterns: dict[str, re.Pattern[str] | None] = dict.fromkeys(get_args(_Kind))
    for kind in patterns:
        phrases = [phrase for row in rows if row.get("kind") == kind for phrase in row["phrases"]]
        patterns[kind] = compiled(phrases, lists, language=language) if phrases else None
    return _Phrases(**patterns)


@cache
def _rows() -> list[dict[str, Any]]:
    return [json.loads(line) for line in _FILE.read_text(encoding="utf-8").splitlines()]
