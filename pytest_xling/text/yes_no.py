"""Whether a reply says yes or no, in its language or in English.

First the shown reasoning of models that show it, JSON's keys, mark-up, quotes and what repeats the
prompt are set aside, and the text is cut into sentences and clauses. A clause has a verdict where
it begins or ends with a yes or no, is one, or judges: "is correct", "no es correcta", "不正确",
"सही नहीं". Questions, clauses that repeat the choice ("yes or no") or doubt ("not sure", "partly
correct") have none, nor have those that grant something ("although …"). Then the first rule that
applies decides:

1. "Yes and no", or the like, is neither.
2. The opening: a reply whose first clause begins with a verdict ("Yes, but …", "The answer is not
   correct, because …") says that. Yet where it closes with a stated conclusion ("So, final answer:
   no"), that counts; and where the next clause of its first sentence says the opposite without a
   "but" ("Yes, it is wrong") it contradicts itself.
3. The closing: where the last verdict stands alone in its clause or is a stated conclusion ("…, so
   it is wrong"), that counts.
4. What all verdicts agree on; "certainly" and its like only where there is nothing else.

Otherwise the reply says neither, or both, and nothing is guessed.

Sixteen languages have words of their own (``yes_no.jsonl``). In any other a reply in English is
read; what is not English is *unread*: whether it says yes or no is not known.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from pytest_xling.text._yes_no_clause import Clause, has_words, read_clause
from pytest_xling.text._yes_no_words import languages, lexicon, plain

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_xling.text._yes_no_words import Kind, Lexicon

__all__ = ["YesNo", "begins", "languages", "yes_or_no"]

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
_PARTICLES: frozenset[Kind] = frozenset({"yes", "no"})
_LETTERS = re.compile(r"[^\W\d_]+")
_FEW = 4  # words of which langid can tell little
# How much of a judgement a token must hold to begin it; of a yes or no, one letter is enough.
_SHORTEST_LATIN, _SHORTEST = 3, 2


@dataclass(frozen=True, slots=True, kw_only=True)
class YesNo:
    """What a reply says."""

    said: bool | None
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
        return YesNo(said=None, why=why, unread=True)
    clauses = list(_clauses(prepared, lexicon(language)))
    if any(clause.both for clause in clauses):
        return YesNo(said=None, why="says yes and no at once")
    told = [clause for clause in clauses if not clause.filler and not clause.soft]
    if any(clause.said is not None or clause.mixed for clause in told):
        return _decided(told)
    if any(clause.soft for clause in clauses) and not told:
        return YesNo(said=True)
    return YesNo(said=None, why="says neither yes nor no")


def _is_english(text: str) -> bool:
    """Tell whether plain *text* is in English, or holds no letters at all.

    Of a few words each must be one of the English lists: "no" and "to" are Polish, too.
    """
    found = _LETTERS.findall(text)
    if len(found) <= _FEW:
        known = {part for word in lexicon("en").kinds for part in _LETTERS.findall(word)}
        return known.issuperset(found)
    from pytest_xling.text.langid import identify  # noqa: PLC0415  numpy, for rare languages

    return identify([text]) == ["en"]


def _decided(told: Sequence[Clause]) -> YesNo:
    """Return what clauses say of which one at least says something: rules 2 to 4."""
    said = [clause for clause in told if clause.said is not None]
    opening, closing = told[0], said[-1] if said else Clause()
    concluded = closing.so and (closing.opens or closing.alone)
    if opening.opens and not (concluded and closing.said != opening.said):
        if _turns(*told[:2]):
            return YesNo(said=None, why="contradicts itself")
        return YesNo(said=opening.said)
    agreed = len({clause.said for clause in said}) == 1 and not any(c.mixed for c in told)
    if closing.alone or concluded or agreed:
        return YesNo(said=closing.said)
    return YesNo(said=None, why="says both yes and no")


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
        of
        for word, of in kinds.items()
        if of & (_YES | _NO) and " " not in word and word.startswith(start)
    ]
    enough = len(start) >= (_SHORTEST_LATIN if start.isascii() else _SHORTEST)
    sides = {bool(of & _YES) for of in begun}
    if len(sides) == 1 and (enough or any(of & _PARTICLES for of in begun)):
        return sides.pop()
    return None


def _turns(opening: Clause, following: Clause | None = None) -> bool:
    """Tell whether the clause after *opening*, in its sentence, says the opposite."""
    return (
        following is not None
        and following.sentence == opening.sentence
        and following.opens
        and not following.but
        and following.said != opening.said
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
            if mark != ":" or all(after.said is None for after, _ in read[index + 1 :]):
                yield clause
        so = so and bool(read) and read[-1][1] == ":"
