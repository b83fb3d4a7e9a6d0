"""The words of ``yes_no.jsonl``, and how they are found in a clause.

A row of the file has the words of one kind in one language; ``correct{o,a}`` stands for two. The
language ``*`` is for signs that every language shares.
"""

from __future__ import annotations

import itertools
import json
import re
import unicodedata
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["Kind", "Lexicon", "Word", "languages", "lexicon", "plain"]

Kind: TypeAlias = Literal[
    "yes",  # opens or closes a clause as its verdict
    "no",
    "yes_alone",  # a verdict where it is the whole clause, and nothing elsewhere
    "no_alone",
    "soft",  # a yes where there is nothing else in the reply: "certainly"
    "right",  # says of the answer that it is right; may be negated
    "wrong",
    "negators",  # turn the judgement after them around
    "negators_after",  # turn the judgement before them around
    "aside",  # holds one of these words and means something else
    "asks",  # its clause repeats the question or the instruction
    "unsure",  # its clause says that there is no verdict
    "both",  # says yes and no at once
    "but",
    "although",
    "because",  # ends what a clause says
    "so",  # what follows is the conclusion
    "lead",  # may stand before a verdict and between a negator and its judgement
    "that",  # after a comma, goes on with what stands before it: "nicht, dass"
]

_FILE = Path(__file__).with_name("yes_no.jsonl")
_ALONE: frozenset[Kind] = frozenset({"yes_alone", "no_alone"})
_BRACES = re.compile(r"\{([^{}]*)\}")
# Letters that make a word longer: Latin, Cyrillic, Arabic, Devanagari, Bengali, Hangul. Python's \w
# lacks vowel signs, and has the characters of Chinese and Japanese, which part no words.
_LETTER = (
    "[a-z0-9\u00df-\u024f\u0400-\u052f\u0620-\u065f\u066e-\u06d3\u0900-\u0963\u0966-\u097f"
    "\u0980-\u09fe\u1e00-\u1eff\uac00-\ud7a3]"
)
_JOINED = re.compile(_LETTER)
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufe0e\ufe0f\ufeff]")
# What is often left out: the vowels and the lengthening of Arabic. A dotted capital of Turkish
# leaves its dot behind.
_MARKS = re.compile("[\u0640\u064b-\u0652\u0670]|(?<=i)\u0307")
# Letters that are often written for one another.
_ALIKE = str.maketrans(
    "\u2019\u2018\u0623\u0625\u0622\u0671\u0649\u0451",
    "''\u0627\u0627\u0627\u0627\u064a\u0435",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """Words of the lists, found in a clause."""

    kinds: frozenset[Kind]
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Lexicon:
    """The words of one language, English's and the signs that all share."""

    kinds: Mapping[str, frozenset[Kind]]
    pattern: re.Pattern[str]
    going_on: re.Pattern[str] | None
    """A comma whose clause goes on after it; None where no comma is like that."""

    def find(self, clause: str) -> list[Word]:
        """Return the words in *clause*, a :func:`plain` text; the longest where several begin.

        Those that only count where they are the whole clause are left out.
        """
        return [
            Word(kinds=self.kinds[found.group()], start=found.start(), end=found.end())
            for found in self.pattern.finditer(clause)
        ]


def plain(text: str) -> str:
    """Return *text* in one width, case and spelling, without invisible characters."""
    text = _INVISIBLE.sub("", unicodedata.normalize("NFKC", text)).casefold()
    return _MARKS.sub("", text).translate(_ALIKE)


@cache
def languages() -> frozenset[str]:
    """Return the codes of the languages that have words of their own."""
    return frozenset(row["language"] for row in _rows()) - {"*"}


@cache
def lexicon(language: str) -> Lexicon:
    """Return the words for *language* and English's; English's alone where it has none.

    Args:
        language: a code of the table of languages.
    """
    # A word that two languages have means what it does in this one.
    kinds = _words("en") | _words("*") | _words(language)
    inside = [word for word, of in kinds.items() if of - _ALONE]
    longest_first = sorted(inside, key=lambda word: (-len(word), word))
    letters = "|".join(_ending(word) for word in longest_first if _JOINED.match(word))
    others = "|".join(_ending(word) for word in longest_first if not _JOINED.match(word))
    that = "|".join(_ending(word) for word, of in kinds.items() if "that" in of)
    return Lexicon(
        kinds=kinds,
        pattern=re.compile(f"(?<!{_LETTER})(?:{letters})|{others}"),
        going_on=re.compile(f",(?=\\s*(?:{that}))") if that else None,
    )


def _words(language: str) -> dict[str, frozenset[Kind]]:
    kinds: dict[str, frozenset[Kind]] = {}
    for row in _rows():
        if row["language"] == language:
            kind: Kind = row["kind"]
            for word in _expanded(row["words"]):
                kinds[word] = kinds.get(word, frozenset()) | {kind}
    return kinds


@cache
def _rows() -> list[dict[str, Any]]:
    lines = _FILE.read_text(encoding="utf-8").splitlines()
    rows: list[dict[str, Any]] = [json.loads(line) for line in lines]
    unknown = {row["kind"] for row in rows} - set(get_args(Kind))
    assert not unknown, unknown  # noqa: S101  our own file
    return rows


def _expanded(words: Iterable[str]) -> Iterable[str]:
    for word in words:
        fixed, choices = _BRACES.sub("\0", word).split("\0"), _BRACES.findall(word)
        for chosen in itertools.product(*(choice.split(",") for choice in choices)):
            pairs = zip(fixed, (*chosen, ""), strict=True)
            yield plain("".join(itertools.chain.from_iterable(pairs)))


def _ending(word: str) -> str:
    """Return the pattern of *word*, not in the middle of a longer one."""
    return f"{re.escape(word)}(?!{_LETTER})" if _JOINED.match(word[-1]) else re.escape(word)
