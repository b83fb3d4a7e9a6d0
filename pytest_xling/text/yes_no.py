"""Whether a reply says yes or no, in its language or in English."""

from __future__ import annotations

import itertools
import json
import re
import unicodedata
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

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
            Word(kinds=self.kinds[match.group()], start=match.start(), end=match.end())
            for match in self.pattern.finditer(clause)
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
    inside = [word for word, meanings in kinds.items() if meanings - _ALONE]
    longest_first = sorted(inside, key=lambda word: (-len(word), word))
    letters = _any_of(word for word in longest_first if _JOINED.match(word))
    others = _any_of(word for word in longest_first if not _JOINED.match(word))
    that = _any_of(word for word, meanings in kinds.items() if "that" in meanings)
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


def _any_of(words: Iterable[str]) -> str:
    """Return the pattern of any of *words*, the first that fits, not in the middle of a longer one.

    Neighbours share the look at what follows: to compile it for each word takes a second.
    """
    return "|".join(
        f"(?:{'|'.join(map(re.escape, group))}){f'(?!{_LETTER})' if joined else ''}"
        for joined, group in itertools.groupby(words, lambda word: bool(_JOINED.match(word[-1])))
    )


# Letters, and the signs that can be a verdict.
_WORD = re.compile("[^\\W\\d_]|[✅✔☑👍✓🆗❌✖✗✘👎🚫❎√×]")
_CLAUSE_EDGES = " \t\r'-/+&%@^0123456789"
_PARTICLES: frozenset[Kind] = frozenset({"yes", "no"})
_JUDGEMENTS: frozenset[Kind] = frozenset({"right", "wrong"})
_NEGATORS: frozenset[Kind] = frozenset({"negators", "negators_after"})
_LEADS: frozenset[Kind] = frozenset({"lead", "so", "but"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """What one clause says."""

    yes: bool | None = None
    """True for yes, False for no."""
    mixed: bool = False
    """Whether it says both."""
    opens: bool = False
    """Whether that is what it begins with, but for words such as "I think the answer is"."""
    alone: bool = False
    """Whether there is nothing else in it, or that is how it ends."""
    soft: bool = False
    """Whether it is no more than "certainly" or the like."""
    filler: bool = False
    """Whether a verdict may still follow as if it were not there."""
    both: bool = False
    """Whether it is "yes and no" or the like."""
    so: bool = False
    """Whether it is, or follows, the announcement of a conclusion."""
    but: bool = False
    sentence: int = 0
    """Which sentence it is in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Vote:
    """One word that says yes or no."""

    yes: bool
    words: range
    """Which of the words found in the clause say it."""


def has_words(text: str) -> bool:
    """Tell whether there is a letter in *text*, or a sign that can be a verdict."""
    return _WORD.search(text) is not None


def read_clause(text: str, words: Lexicon) -> Clause:
    """Return what *text*, a plain clause with words in it, says."""
    seen = words.find(text)
    kinds: frozenset[Kind] = frozenset().union(*(word.kinds for word in seen))
    first = seen[0].kinds if seen else kinds
    clause = Clause(so="so" in kinds, but="but" in first)
    if kinds & {"asks", "both", "unsure"} or first & {"although", "because"}:
        return replace(clause, both="both" in kinds, filler="asks" in kinds)
    for index, word in enumerate(seen):
        if "because" in word.kinds:
            text, seen = text[: word.start], seen[:index]
            break
    lead = _lead(text, seen)
    for whole in (text, text[seen[lead - 1].end :] if lead else text):
        of = words.kinds.get(whole.strip(_CLAUSE_EDGES), frozenset())
        if "soft" in of:
            return replace(clause, soft=True)
        if of & {"yes_alone", "no_alone"}:
            return replace(clause, yes="yes_alone" in of, opens=True, alone=True)
    opened = not has_words(text[seen[lead - 1].end if lead else 0 : _start(text, seen, lead)])
    if opened and lead == len(seen):
        return replace(clause, filler=True)
    votes = [*_judgements(text, seen), *_particles(text, seen, lead if opened else None)]
    if len({vote.yes for vote in votes}) != 1:
        return replace(clause, mixed=bool(votes))
    begins = opened and any(vote.words[0] == lead for vote in votes)
    ends = any(_is_particle(seen, v) and not has_words(text[_end(seen, v) :]) for v in votes)
    return replace(
        clause,
        yes=votes[0].yes,
        opens=begins,
        alone=ends or _covers(text, seen, votes),
    )


def _lead(text: str, words: Sequence[Word]) -> int:
    """Return how many of the words found stand before a verdict."""
    end = 0
    for index, word in enumerate(words):
        plain_lead = word.kinds & _LEADS and not word.kinds & (_PARTICLES | _JUDGEMENTS)
        if not plain_lead or has_words(text[end : word.start]):
            return index
        end = word.end
    return len(words)


def _start(text: str, words: Sequence[Word], index: int) -> int:
    return words[index].start if index < len(words) else len(text)


def _end(words: Sequence[Word], vote: _Vote) -> int:
    return words[vote.words[-1]].end


def _is_particle(words: Sequence[Word], vote: _Vote) -> bool:
    return bool(words[vote.words[-1]].kinds & _PARTICLES)


def _judgements(text: str, words: Sequence[Word]) -> Iterable[_Vote]:
    """Return what is said to be right or wrong; each negator before or after turns it around."""
    for index, word in enumerate(words):
        if not word.kinds & _JUDGEMENTS:
            continue
        yes, first, last = "right" in word.kinds, index, index
        for back in _reach(text, words, range(index - 1, -1, -1)):
            kinds = words[back].kinds
            beside = back == index - 1 and "no" in kinds and "negators_after" not in kinds
            if "negators" in kinds or beside:
                yes, first = not yes, back
        for on in _reach(text, words, range(index + 1, len(words))):
            if "negators_after" in words[on].kinds:
                yes, last = not yes, on
        yield _Vote(yes=yes, words=range(first, last + 1))


def _reach(text: str, words: Sequence[Word], away: range) -> Iterable[int]:
    """Go *away* from a judgement, through words that may part it from its negator, to one."""
    for index in away:
        left, right = sorted((index, index - away.step))
        if has_words(text[words[left].end : words[right].start]):
            return
        yield index
        if not words[index].kinds & (_LEADS | _NEGATORS):
            return


def _particles(text: str, words: Sequence[Word], opening: int | None) -> Iterable[_Vote]:
    """Return the yes or no at the beginning (the word *opening*) and at the end of a clause."""
    judging = {i for vote in _judgements(text, words) for i in vote.words}
    for index, word in enumerate(words):
        if index in judging or not word.kinds & _PARTICLES:
            continue
        after = text[word.end : _start(text, words, index + 1)]
        begins = index == opening and ("yes" in word.kinds or not has_words(after))
        # "No evidence shows that" says no more than that, nor does "There is no cure".
        if begins or (index == len(words) - 1 and not has_words(after)):
            yield _Vote(yes="yes" in word.kinds, words=range(index, index + 1))


def _covers(text: str, words: Sequence[Word], votes: Iterable[_Vote]) -> bool:
    """Tell whether *votes* and words that may stand before them make up the clause."""
    voting = {index for vote in votes for index in vote.words}
    end = 0
    for index, word in enumerate(words):
        if has_words(text[end : word.start]) or not (index in voting or word.kinds & _LEADS):
            return False
        end = word.end
    return not has_words(text[end:])


_END = 2_000  # characters that are read at either end of a longer reply
_SHORTEST_ECHO = 20  # an answer that is asked about may itself be no more than "No"
_THOUGHT = "</think>"
_KEY = re.compile(r"""["'][^"'\n]{1,40}["']\s*:""")
# HTML, LaTeX, and the colours of a terminal.
_TAG = re.compile(r"</?[a-z][^<>\n]{0,40}>|\\[a-z]+|\x1b\[[0-?]{0,20}[a-z]")
_MARKUP = re.compile(r"[\"“”«»„「」『』\[\]{}<>|\\*_`#~$=¡]|(?<!\w)'|'(?!\w)")
_SENTENCE = re.compile(r"([.!?。．！？।॥;；؛؟\n]+)")
_CLAUSE = re.compile(r"([,:，、،()（）：—–…]| -+ )")
_EDGES = " \t\r\n.,:;!?¿，。：；！？।、،؛؟()（）-"
_YES: frozenset[Kind] = frozenset({"yes", "yes_alone", "soft", "right"})
_NO: frozenset[Kind] = frozenset({"no", "no_alone", "wrong"})
_LETTERS = re.compile(r"[^\W\d_]+")
_FEW = 4  # words of which langid can tell little
# How much of a judgement a token must hold to begin it; of a yes or no, one letter is enough.
_SHORTEST_LATIN, _SHORTEST = 3, 2


@dataclass(frozen=True, slots=True, kw_only=True)
class YesNo:
    """What a reply says."""

    yes: bool | None
    """True for yes, False for no."""
    why: str = ""
    """Why it is neither; reads on from "the reply"."""
    unread: bool = False
    """Whether it is in a language without words, so that nobody knows what it says."""


def yes_or_no(text: str, language: str, *, echo: Sequence[str] = ()) -> YesNo:
    """Return what the reply *text* says; of a very long one its beginning and its end are read.

    Args:
        text: anything, of any length.
        language: code of the language it should be in; English is always understood.
        echo: parts of the prompt that a reply may repeat.
    """
    prepared = _prepared(text, echo)
    if language not in languages() and not _is_english(prepared):
        why = "is not in English, and no words for yes and no are known in its language"
        return YesNo(yes=None, why=why, unread=True)
    clauses = list(_clauses(prepared, lexicon(language)))
    if any(clause.both for clause in clauses):
        return YesNo(yes=None, why="says yes and no at once")
    telling = [clause for clause in clauses if not clause.filler and not clause.soft]
    if any(clause.yes is not None or clause.mixed for clause in telling):
        return _decided(telling)
    if any(clause.soft for clause in clauses) and not telling:
        return YesNo(yes=True)
    return YesNo(yes=None, why="says neither yes nor no")


def _is_english(text: str) -> bool:
    """Tell whether plain *text* is in English, or holds no letters at all.

    Of a few words each must be one of the English lists: "no" and "to" are Polish, too.
    """
    letters = _LETTERS.findall(text)
    if len(letters) <= _FEW:
        known = {part for word in lexicon("en").kinds for part in _LETTERS.findall(word)}
        return known.issuperset(letters)
    from pytest_xling.text.langid import identify  # noqa: PLC0415  numpy, for rare languages

    return identify([text]) == ["en"]


def _decided(clauses: Sequence[Clause]) -> YesNo:
    """Return what clauses say of which one at least says something: rules 2 to 4."""
    decided = [clause for clause in clauses if clause.yes is not None]
    opening, closing = clauses[0], decided[-1] if decided else Clause()
    concluded = closing.so and (closing.opens or closing.alone)
    if opening.opens and not (concluded and closing.yes != opening.yes):
        if _turns(*clauses[:2]):
            return YesNo(yes=None, why="contradicts itself")
        return YesNo(yes=opening.yes)
    agreed = len({clause.yes for clause in decided}) == 1 and not any(c.mixed for c in clauses)
    if closing.alone or concluded or agreed:
        return YesNo(yes=closing.yes)
    return YesNo(yes=None, why="says both yes and no")


@lru_cache(maxsize=1 << 14)  # the likeliest first tokens are the same few again and again
def begins(token: str, language: str) -> bool | None:
    """Return whether a reply's first token begins a yes (True) or a no; None: neither, or unclear.

    Args:
        token: as a tokenizer gives it, such as ``" Yes"``, ``"▁No"`` or ``"सह"``.
        language: one of :func:`languages`; English is always understood.
    """
    start = _MARKUP.sub("", plain(token.replace("▁", " ").replace("Ġ", " "))).strip(_EDGES)
    if not start:
        return None
    kinds = lexicon(language).kinds
    exact = kinds.get(start, frozenset())
    if exact & (_YES | _NO):
        return bool(exact & _YES)
    begun = [
        meanings
        for word, meanings in kinds.items()
        if meanings & (_YES | _NO) and " " not in word and word.startswith(start)
    ]
    enough = len(start) >= (_SHORTEST_LATIN if start.isascii() else _SHORTEST)
    sides = {bool(meanings & _YES) for meanings in begun}
    if len(sides) == 1 and (enough or any(meanings & _PARTICLES for meanings in begun)):
        return sides.pop()
    return None


def _turns(opening: Clause, following: Clause | None = None) -> bool:
    """Tell whether the clause after *opening*, in its sentence, says the opposite."""
    return (
        following is not None
        and following.sentence == opening.sentence
        and following.opens
        and not following.but
        and following.yes != opening.yes
    )


def _prepared(text: str, echo: Sequence[str]) -> str:
    """Return *text* as plain words and punctuation."""
    for part in echo:
        if len(part) >= _SHORTEST_ECHO:
            text = text.replace(part, "\n")
    # A single character may be eighteen in plain text.
    text = _ends(plain(_ends(text.rpartition(_THOUGHT)[2].strip())))
    return _MARKUP.sub(" ", _TAG.sub(" ", _KEY.sub(" ", text)))


def _ends(text: str) -> str:
    return text if len(text) <= 2 * _END else f"{text[:_END]}\n{text[-_END:]}"


def _clauses(text: str, words: Lexicon) -> Iterator[Clause]:
    """Go through the clauses of *text* that hold words."""
    parts = _SENTENCE.split(text)
    so = False
    for number, (sentence, end) in enumerate(zip(parts[::2], [*parts[1::2], ""], strict=True)):
        whole = words.going_on.sub(" ", sentence) if words.going_on else sentence
        pieces = _CLAUSE.split(whole)
        asked = ("?" in end or "؟" in end) and "¿" not in sentence
        read: list[tuple[Clause, str]] = []
        for piece, mark in zip(pieces[::2], [*pieces[1::2], ""], strict=True):
            if not has_words(piece):
                continue
            # Spanish says where a question begins, and a reply may be cut off before it ends.
            asked = asked or "¿" in piece
            clause = Clause(filler=True) if asked else read_clause(piece, words)
            so = so or clause.so
            read.append((replace(clause, sentence=number, so=so), mark))
        for index, (clause, mark) in enumerate(read):
            # "Correct: no" is a label and a verdict.
            if mark != ":" or all(after.yes is None for after, _ in read[index + 1 :]):
                yield clause
        so = so and bool(read) and read[-1][1] == ":"
