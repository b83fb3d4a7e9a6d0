"""What one clause of a reply says: yes, no, both or nothing."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_xling.text._yes_no_words import Kind, Lexicon, Word

__all__ = ["Clause", "has_words", "read_clause"]

# Letters, and the signs that can be a verdict.
_WORD = re.compile("[^\\W\\d_]|[✅✔☑👍✓🆗❌✖✗✘👎🚫❎√×]")
_EDGES = " \t\r'-/+&%@^0123456789"
_PARTICLES: frozenset[Kind] = frozenset({"yes", "no"})
_JUDGEMENTS: frozenset[Kind] = frozenset({"right", "wrong"})
_NEGATORS: frozenset[Kind] = frozenset({"negators", "negators_after"})
_LEADS: frozenset[Kind] = frozenset({"lead", "so", "but"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """What one clause says."""

    said: bool | None = None
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

    said: bool
    words: range
    """Which of the words found in the clause say it."""


def has_words(text: str) -> bool:
    """Tell whether there is a letter in *text*, or a sign that can be a verdict."""
    return _WORD.search(text) is not None


def read_clause(text: str, words: Lexicon) -> Clause:
    """Return what *text*, a plain clause with words in it, says."""
    found = words.find(text)
    kinds: frozenset[Kind] = frozenset().union(*(word.kinds for word in found))
    first = found[0].kinds if found else kinds
    said = Clause(so="so" in kinds, but="but" in first)
    if kinds & {"asks", "both", "unsure"} or first & {"although", "because"}:
        return replace(said, both="both" in kinds, filler="asks" in kinds)
    for index, word in enumerate(found):
        if "because" in word.kinds:
            text, found = text[: word.start], found[:index]
            break
    lead = _lead(text, found)
    for whole in (text, text[found[lead - 1].end :] if lead else text):
        of = words.kinds.get(whole.strip(_EDGES), frozenset())
        if "soft" in of:
            return replace(said, soft=True)
        if of & {"yes_alone", "no_alone"}:
            return replace(said, said="yes_alone" in of, opens=True, alone=True)
    opened = not has_words(text[found[lead - 1].end if lead else 0 : _start(text, found, lead)])
    if opened and lead == len(found):
        return replace(said, filler=True)
    votes = [*_judgements(text, found), *_particles(text, found, lead if opened else None)]
    if len({vote.said for vote in votes}) != 1:
        return replace(said, mixed=bool(votes))
    begins = opened and any(vote.words[0] == lead for vote in votes)
    ends = any(_is_particle(found, v) and not has_words(text[_end(found, v) :]) for v in votes)
    return replace(
        said,
        said=votes[0].said,
        opens=begins,
        alone=ends or _covers(text, found, votes),
    )


def _lead(text: str, found: Sequence[Word]) -> int:
    """Return how many of the words found stand before a verdict."""
    end = 0
    for index, word in enumerate(found):
        plain_lead = word.kinds & _LEADS and not word.kinds & (_PARTICLES | _JUDGEMENTS)
        if not plain_lead or has_words(text[end : word.start]):
            return index
        end = word.end
    return len(found)


def _start(text: str, found: Sequence[Word], index: int) -> int:
    return found[index].start if index < len(found) else len(text)


def _end(found: Sequence[Word], vote: _Vote) -> int:
    return found[vote.words[-1]].end


def _is_particle(found: Sequence[Word], vote: _Vote) -> bool:
    return bool(found[vote.words[-1]].kinds & _PARTICLES)


def _judgements(text: str, found: Sequence[Word]) -> Iterable[_Vote]:
    """Return what is said to be right or wrong; each negator before or after turns it around."""
    for index, word in enumerate(found):
        if not word.kinds & _JUDGEMENTS:
            continue
        said, first, last = "right" in word.kinds, index, index
        for back in _reach(text, found, range(index - 1, -1, -1)):
            kinds = found[back].kinds
            beside = back == index - 1 and "no" in kinds and "negators_after" not in kinds
            if "negators" in kinds or beside:
                said, first = not said, back
        for on in _reach(text, found, range(index + 1, len(found))):
            if "negators_after" in found[on].kinds:
                said, last = not said, on
        yield _Vote(said=said, words=range(first, last + 1))


def _reach(text: str, found: Sequence[Word], away: range) -> Iterable[int]:
    """Go *away* from a judgement, through words that may part it from its negator, to one."""
    for index in away:
        left, right = sorted((index, index - away.step))
        if has_words(text[found[left].end : found[right].start]):
            return
        yield index
        if not found[index].kinds & (_LEADS | _NEGATORS):
            return


def _particles(text: str, found: Sequence[Word], opening: int | None) -> Iterable[_Vote]:
    """Return the yes or no at the beginning (the word *opening*) and at the end of a clause."""
    judging = {i for vote in _judgements(text, found) for i in vote.words}
    for index, word in enumerate(found):
        if index in judging or not word.kinds & _PARTICLES:
            continue
        after = text[word.end : _start(text, found, index + 1)]
        begins = index == opening and ("yes" in word.kinds or not has_words(after))
        # "No evidence shows that" says no more than that, nor does "There is no cure".
        if begins or (index == len(found) - 1 and not has_words(after)):
            yield _Vote(said="yes" in word.kinds, words=range(index, index + 1))


def _covers(text: str, found: Sequence[Word], votes: Iterable[_Vote]) -> bool:
    """Tell whether *votes* and words that may stand before them make up the clause."""
    said = {index for vote in votes for index in vote.words}
    end = 0
    for index, word in enumerate(found):
        if has_words(text[end : word.start]) or not (index in said or word.kinds & _LEADS):
            return False
        end = word.end
    return not has_words(text[end:])
