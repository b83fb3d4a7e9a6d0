"""Read the stance a judge replied, leniently, and never one it only repeats.

A chat model's reply is read in this order (UPHILL's released code has the steps; our safeguards are
our own):

1. a stance alone ("Disagree."); else JSON objects, wherever they stand;
2. a literal of Python's, where no JSON has the key;
3. the key and what follows it ("**Stance:** disagree"), outside of objects;
4. where none of these has the key, words that name a stance ("it does not agree with the claim").
   That is a guess, and not ``sure``.

Neither agree nor disagree is neutral where the judge says so ("mixed", "partially agrees",
"unsure"). No stance are: nothing, several that differ, a double negation, what was cut off before
it, and what repeats the instructions or a text that was to be judged.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_xling.annotators.stance.llm.reply_objects import json_objects, literal_entries
from pytest_xling.annotators.stance.llm.reply_words import (
    bare_stance,
    mentions,
    plain,
    value_stance,
)
from pytest_xling.text.clean import clean
from pytest_xling.text.display import shorten

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_xling.annotators.stance.llm.reply_words import Mention, Says
    from pytest_xling.text.stance import Stance

__all__ = ["Judgement", "continued", "judgement"]

_LONGEST = 100_000
_LONGEST_REASONING = 4_000
_LONGEST_VALUE = 200
_STANCE_KEYS = ("stance", "agreement", "label", "verdict", "postura", "立场", "立場", "रुख")
_REASONING_KEYS = ("reasoning", "reason", "explanation", "razonamiento", "理由", "तर्क", "कारण")
_THOUGHTS = re.compile(r"<(?P<end>/?)(?:think|thinking|thought)>", re.IGNORECASE)
# What we fence is none of the judge's words, whether or not the judge closes the fence again.
_FENCED = re.compile(r"<<<BEGIN ([^\n<>]{0,100})>>>.*?(?:<<<END \1>>>|\Z)", re.DOTALL)
_KEY = re.compile(
    r"(?<![\w\u0900-\u0963])(?:stance|agreement|label|verdict|postura|रुख|立场|立場)"
    r"(?: of the response| towards? the claim)?\s*(?:[:=→]|->)\s*(?P<value>[^,;}\n.。]{1,80})"
)
# So much beside a stance, and no less, must have been shown to the judge for it to be a repetition.
_CONTEXT = 12
_LEAST_CONTEXT = 6
_FIRST_WORDS: dict[str, Stance] = {
    "agree": "agree",
    "agrees": "agree",
    "disagree": "disagree",
    "disagrees": "disagree",
    "neutral": "neutral",
    "neither": "neutral",
}
_REPEATS = "it repeats what it was given"
_SEVERAL = "it names no single stance"
_NONE = "it names no stance"


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """A stance and why, or what is wrong with the reply."""

    stance: Stance | None = None
    reasoning: str = ""
    wrong: str = ""
    """In words of ours: nothing of the reply is in it."""
    sure: bool = False
    """Whether the reply names the stance where it should, or names nothing else."""


def judgement(reply: str, *, given: Sequence[str] = (), cut: bool = False) -> Judgement:
    """Read a chat model's reply.

    Args:
        reply: anything.
        given: the instructions and the texts the judge was shown.
        cut: whether the reply ended at the token limit.
    """
    if len(reply) > _LONGEST:
        return Judgement(wrong=f"it has more than {_LONGEST} characters")
    text = _FENCED.sub(" ", _without_thoughts(clean(reply))).strip()
    if not text:
        return Judgement(wrong="it is empty")
    flat = plain(text)
    if bare := bare_stance(flat):
        return Judgement(stance=bare, sure=True)
    shown = [_joined(plain(clean(source))) for source in given]
    if _repeated(flat, shown):
        return Judgement(wrong=_REPEATS)
    return _spelled_out(text, shown, cut=cut)


def continued(reply: str) -> Judgement:
    """Read how a base model continued ``Stance of the response:``; only the first word counts."""
    words = re.findall(r"\w+", reply.partition("\n")[0].casefold())
    stance = _FIRST_WORDS.get(words[0]) if words else None
    return Judgement(
        stance=stance, sure=stance is not None, wrong="" if stance else "its first word is none"
    )


def _spelled_out(text: str, shown: Sequence[str], *, cut: bool) -> Judgement:
    """Read a reply that is more than a stance."""
    entries, rest = _entries(text, shown)
    named = [_read(held) for key, held in entries if key in _STANCE_KEYS]
    named += _keyed(plain(rest), shown, cut=cut)
    if named:
        reasoning = _reasoning(entries) or shorten(rest.strip(), limit=_LONGEST_REASONING)
        return _decided(named, reasoning=reasoning)
    if cut or "{" in rest:
        return Judgement(wrong=_NONE)
    return _guess(rest, shown)


def _without_thoughts(text: str) -> str:
    """Return *text* without what the judge thinks first; nothing where that has no end.

    The prompt of some models begins the thoughts, so that only their end is in the reply.
    """
    begins = text.lstrip().startswith(("{", "[", "```"))
    tag = None if begins else _THOUGHTS.search(text)
    if tag is None:
        return text
    if tag["end"]:
        return text[tag.end() :]
    if text[: tag.start()].strip():
        return text
    end = next((each for each in _THOUGHTS.finditer(text) if each["end"]), None)
    return text[end.end() :] if end else ""


def _entries(text: str, shown: Sequence[str]) -> tuple[list[tuple[str, Any]], str]:
    """Return plain keys, and values, of the objects in *text*, and what is outside of them.

    Objects that stand in a text the judge was shown are somebody else's.
    """
    found: list[tuple[str, Any]] = []
    outside: list[str] = []
    place = 0
    for each in json_objects(text):
        outside.append(text[place : each.start])
        place = each.end
        if not _repeated(plain(text[each.start : each.end]), shown):
            found += [(plain(key), held) for key, held in each.entries]
    rest = " ".join([*outside, text[place:]])
    if any(key in _STANCE_KEYS for key, _ in found):
        return found, rest
    literal = [(plain(key), held) for key, held in literal_entries(rest)]
    if any(key in _STANCE_KEYS for key, _ in literal):
        return literal, f"{rest[: rest.find('{')]} {rest[rest.rfind('}') + 1 :]}"
    return [], rest


def _keyed(flat: str, shown: Sequence[str], *, cut: bool) -> list[Says | None]:
    """Return what stands behind each key in plain text, unless it is repeated."""
    found: list[Says | None] = []
    for match in _KEY.finditer(flat):
        value = match["value"]
        named = next(mentions(value), None)
        end = match.start("value") + (named.end if named else len(value))
        unfinished = cut and match.end() == len(flat)
        if not unfinished and not _repeated(flat[match.start() : end], shown):
            found.append(value_stance(value))
    return found


def _read(value: Any) -> Says | None:  # noqa: ANN401  any JSON
    """Return the stance in the value of a key."""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if not isinstance(value, str) or len(value) > _LONGEST_VALUE:
        return None
    return value_stance(plain(value))


def _reasoning(entries: Iterable[tuple[str, Any]]) -> str:
    for key, value in entries:
        if key in _REASONING_KEYS and isinstance(value, str):
            return shorten(clean(value).strip(), limit=_LONGEST_REASONING)
    return ""


def _decided(found: Iterable[Says | None], *, reasoning: str = "", sure: bool = True) -> Judgement:
    """Return the one stance of *found*, or why there is none."""
    said = {each for each in found if each is not None}
    if not said:
        return Judgement(wrong=_NONE)
    (first, *others) = said
    if others or first == "unclear":
        return Judgement(wrong=_SEVERAL)
    return Judgement(stance=first, reasoning=reasoning, sure=sure)


def _guess(rest: str, shown: Sequence[str]) -> Judgement:
    """Return the one stance that is named anywhere in the judge's own words."""
    flat = plain(rest)
    named = list(mentions(flat))
    own = [mention.says for mention in named if not _quoted(flat, mention, shown)]
    if named and not own:
        return Judgement(wrong=_REPEATS)
    reasoning = shorten(rest.strip(), limit=_LONGEST_REASONING)
    return _decided(own, reasoning=reasoning, sure=False)


def _quoted(flat: str, mention: Mention, shown: Sequence[str]) -> bool:
    """Tell whether a mention was shown with what is before it here, or with what is after it."""
    before = flat[max(0, mention.start - _CONTEXT) : mention.end]
    after = flat[mention.start : mention.end + _CONTEXT]
    least = mention.end - mention.start + _LEAST_CONTEXT
    return any(len(part) >= least and _repeated(part, shown) for part in (before, after))


def _repeated(part: str, shown: Sequence[str]) -> bool:
    joined = _joined(part)
    return any(joined in text for text in shown)


def _joined(flat: str) -> str:
    """Return plain text with all white space made one space."""
    return " ".join(flat.split())
