"""Words that tell the stance a text takes: it refutes, supports, hedges, negates and so on.

The words are those of ``stance_cues.jsonl``, by language: English, Spanish, Hindi, Chinese. They
are a lexicon of ours; where a language has none there is nothing to count.
"""

from __future__ import annotations

import itertools
import json
import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, get_args

from pytest_xling.text.yes_no import plain

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

__all__ = ["CUES", "FILE", "Cue", "count_cues", "languages"]

Cue: TypeAlias = Literal[
    "refutes",  # the claim is false, or nothing speaks for it
    "supports",  # the claim is true, or something speaks for it
    "hedges",  # it may be, it depends, nobody knows
    "negates",  # negators, wherever they stand
    "reports",  # what others say is told
    "contrasts",  # the writer turns against what was said
    "refuses",  # the writer will not say, or sends the reader to a doctor
    "opens_yes",  # the text begins with a yes
    "opens_no",
]

CUES: Final[tuple[Cue, ...]] = get_args(Cue)

FILE: Final = Path(__file__).with_suffix(".jsonl")
_BRACES = re.compile(r"\{([^{}]*)\}")
# What makes a word longer: letters of the Latin script and of Devanagari with its vowel signs.
# The characters of Chinese part no words.
_LETTER = "[a-z0-9\u00df-\u024f\u0900-\u0963\u0966-\u097f]"
_JOINED = re.compile(_LETTER)
_BEFORE_WORDS = re.compile(r"[\W_]*")

# Of cues that compete the longest counts: "no doubt" supports, and does not refute by its "no".
_COMPETING: Final[tuple[tuple[Cue, ...], ...]] = (
    ("refutes", "supports", "hedges"),
    ("negates",),
    ("reports", "contrasts"),
    ("refuses",),
)
_OPENING: Final[tuple[Cue, ...]] = ("opens_yes", "opens_no")


@cache
def languages() -> frozenset[str]:
    """Return the codes of the languages that have a lexicon."""
    return frozenset(language for language, _ in _words())


def count_cues(text: str, languages: Collection[str], *, known: str = "") -> Mapping[Cue, int]:
    """Count the cues in *text*.

    Args:
        text: of any length.
        languages: whose words to look for; those without a lexicon add nothing.
        known: words of this text do not count, as often as they stand there: those of a claim that
            the text repeats are not its own. Negators always count.

    Returns:
        The number of each cue; ``opens_yes`` and ``opens_no`` are 0 or 1.
    """
    wanted = tuple(sorted(set(languages)))
    text, known = plain(text), plain(known)
    counts: Counter[Cue] = Counter(dict.fromkeys(CUES, 0))
    for cues in _COMPETING:
        words = _cue_words(text, wanted, cues)
        if known and cues != ("negates",):
            words -= _cue_words(known, wanted, cues)
        for word, number in words.items():
            for cue in cues:
                if word in _of(wanted, cue):
                    counts[cue] += number
    counts.update(dict.fromkeys(_opening(text, wanted), 1))
    return counts


def _cue_words(text: str, wanted: tuple[str, ...], cues: tuple[Cue, ...]) -> Counter[str]:
    pattern = _pattern(wanted, cues)
    return Counter() if pattern is None else Counter(pattern.findall(text))


def _opening(text: str, wanted: tuple[str, ...]) -> Iterator[Cue]:
    pattern = _pattern(wanted, _OPENING)
    before = _BEFORE_WORDS.match(text)
    if pattern is None or before is None:
        return
    if (opening := pattern.match(text, before.end())) is not None:
        for cue in _OPENING:
            if opening.group() in _of(wanted, cue):
                yield cue


@cache
def _pattern(wanted: tuple[str, ...], cues: tuple[Cue, ...]) -> re.Pattern[str] | None:
    words = frozenset[str]().union(*(_of(wanted, cue) for cue in cues))
    if not words:
        return None
    longest_first = sorted(words, key=lambda word: (-len(word), word))
    # Neighbours share the look at what is around: to compile it for each word takes long.
    groups = itertools.groupby(longest_first, _around)
    return re.compile(
        "|".join(
            f"{before}(?:{'|'.join(map(re.escape, group))}){after}"
            for (before, after), group in groups
        )
    )


def _around(word: str) -> tuple[str, str]:
    """Return what must be before and after *word*, which is not inside a longer one."""
    before = f"(?<!{_LETTER})" if _JOINED.match(word[0]) else ""
    after = f"(?!{_LETTER})" if _JOINED.match(word[-1]) else ""
    return before, after


@cache
def _of(wanted: tuple[str, ...], cue: Cue) -> frozenset[str]:
    return frozenset[str]().union(*(_words().get((language, cue), ()) for language in wanted))


@cache
def _words() -> dict[tuple[str, Cue], frozenset[str]]:
    words: dict[tuple[str, Cue], frozenset[str]] = {}
    for line in FILE.read_text(encoding="utf-8").splitlines():
        row: dict[str, Any] = json.loads(line)
        cue: Cue = row["kind"]
        assert cue in CUES, cue  # noqa: S101  our own file
        words[row["language"], cue] = frozenset(
            plain(expanded) for word in row["words"] for expanded in _expanded(word)
        )
    return words


def _expanded(word: str) -> Iterator[str]:
    """Yield what ``disproven{,s}`` stands for: a word for each choice."""
    fixed, choices = _BRACES.sub("\0", word).split("\0"), _BRACES.findall(word)
    for chosen in itertools.product(*(choice.split(",") for choice in choices)):
        pairs = zip(fixed, (*chosen, ""), strict=True)
        yield "".join(itertools.chain.from_iterable(pairs)).strip()
