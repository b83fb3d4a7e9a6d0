"""Which words of a judge's reply name a stance, in English and the languages we ship."""

from __future__ import annotations

import json
import re
import unicodedata
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from pytest_xling.text.stance import STANCES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_xling.text.stance import Stance

__all__ = ["Mention", "Says", "bare_stance", "mentions", "plain", "value_stance"]

Says: TypeAlias = "Stance | Literal['unclear']"
"""``unclear`` is what names a stance and takes it back: "does not disagree"."""

_WORDS = Path(__file__).with_name("reply_words.jsonl")
_NOTHING: Final = "nothing"
"""What names a stance and says nothing of this one: "whether it agrees", "experts agree"."""
_UNSPACED = {"zh"}
# Combining marks of Devanagari are letters to a reader, and none to `re`.
_LETTER = r"[\w\u0900-\u0963]"
_MARKUP = re.compile(r"[*_`#~\"“”„«»「」『』]|(?<!\w)'|'(?!\w)")
_BLANK = re.compile(r"[^\S\n]+")
_EDGES = " \t\r\n.,:;!?¡¿()[]{}<>|/\\-–—。，、：；！？।（）【】"
_HEAD = re.compile(r"[.,;:(—–。，；：（\n]| - ")
_LONGEST_BARE = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """Words that name a stance, and where they stand."""

    says: Says
    start: int
    end: int


def plain(text: str) -> str:
    """Return *text* as it is compared: lower case, without mark-up, quotes or invisible letters."""
    text = unicodedata.normalize("NFKC", text).replace("’", "'")
    text = "".join(letter for letter in text if unicodedata.category(letter) != "Cf")
    return _BLANK.sub(" ", _MARKUP.sub(" ", text.casefold())).strip()


def mentions(text: str) -> Iterator[Mention]:
    """Find all that names a stance in plain *text*.

    At each place the first pattern of the file that fits counts, and what it covers is not looked
    at again: "does not agree" holds no "agree".
    """
    pattern, says = _lexicon("anywhere")
    for match in pattern.finditer(text):
        found = says[match.lastgroup or ""]
        if found != _NOTHING:
            yield Mention(says=_said(found), start=match.start(), end=match.end())


def bare_stance(text: str) -> Stance | None:
    """Return the stance plain *text* names if it does nothing else: "Disagree.", "mixed"."""
    stripped = text.strip(_EDGES)
    if not stripped or len(stripped) > _LONGEST_BARE:
        return None
    # More words count here than in a sentence, where "both" may be about anything.
    for where in ("anywhere", "value"):
        pattern, says = _lexicon(where)
        found = pattern.fullmatch(stripped)
        if found and (stance := says[found.lastgroup or ""]) in STANCES:
            return _stance(stance)
    return None


def value_stance(text: str) -> Says | None:
    """Return the stance plain *text* names where nothing but a stance is asked for.

    ``unclear`` where it names two or takes one back; None where it names none, or all of them as
    the schema does.
    """
    bare = bare_stance(text)
    if bare is not None:
        return bare
    said: set[Says] = {mention.says for mention in mentions(text)}
    head = bare_stance(_HEAD.split(text.strip(_EDGES), maxsplit=1)[0])
    if head is not None:
        said.add(head)
    if not said or said.issuperset(STANCES):
        return None
    return said.pop() if len(said) == 1 else "unclear"


def _said(says: str) -> Says:
    return "unclear" if says == "unclear" else _stance(says)


def _stance(says: str) -> Stance:
    (stance,) = (stance for stance in STANCES if stance == says)
    return stance


@cache
def _lexicon(where: str) -> tuple[re.Pattern[str], dict[str, str]]:
    """Return one pattern for all words, and what the group that matched says."""
    groups: list[str] = []
    says: dict[str, str] = {}
    with _WORDS.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines):
            entry = json.loads(line)
            if entry["where"] != where:
                continue
            name = f"g{number}"
            says[name] = entry["says"]
            either = unicodedata.normalize("NFKC", "|".join(entry["patterns"]))
            if entry["language"] not in _UNSPACED:
                either = f"(?<!{_LETTER})(?:{either})(?!{_LETTER})"
            groups.append(f"(?P<{name}>{either})")
    return re.compile("|".join(groups)), says
