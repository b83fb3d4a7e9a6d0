"""What a model says of an answer it was shown: right or wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_xling.languages import find
from pytest_xling.text.display import printable
from pytest_xling.text.yes_no import languages, yes_or_no

if TYPE_CHECKING:
    from pytest_xling.records import Answer

__all__ = ["Verdict", "gold_of", "unknown_words", "verdict_of"]

_GOLD = {"right": True, "wrong": False}
_SHOWN = 80
_NO_REPLY = {
    "content_filter": "content filter",
    "error": "API error",
    "refusal": "refusal",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What a reply says of the answer that was asked about."""

    right: bool | None
    reason: str = ""
    """Why it says neither."""
    unread: bool = False
    """Whether that says nothing about the model: an API error, or a language nobody reads here."""


def unknown_words(language: str) -> str:
    """Say that *language* has no words for yes and no, and what to do; "" where it has some.

    Args:
        language: its code or an alias.
    """
    named = find(language)
    if named.code in languages():
        return ""
    known = ", ".join(sorted(languages()))
    return (
        f"no words for yes and no are known in {named.english_name} ({named.code}); leave it out "
        f"with --langs, or ask for a reply in English. Known: {known}"
    )


def verdict_of(answer: Answer) -> Verdict:
    """Return what *answer* says, read in its language or in English.

    A filter, a refusal or an error that the provider reports is no verdict, even where some text
    came with it.
    """
    response = answer.response
    text = answer.text
    if cause := _NO_REPLY.get(response.stop_reason):
        said = response.error or text
        shown = f": {printable(said, limit=_SHOWN)}" if said.strip() else ""
        unread = response.stop_reason == "error"
        return Verdict(right=None, reason=f"no answer: {cause}{shown}", unread=unread)
    if not text.strip():
        return Verdict(right=None, reason="no answer: empty")
    echo = tuple(answer.sample.prompt.values())
    read = yes_or_no(text, find(answer.language).code, echo=echo)
    if read.unread:
        reason = f"{unknown_words(answer.language)}: {printable(text, limit=_SHOWN)!r}"
        return Verdict(right=None, reason=reason, unread=True)
    if read.said is None:
        return Verdict(right=None, reason=f"{read.why}: {printable(text, limit=_SHOWN)!r}")
    return Verdict(right=read.said)


def gold_of(answer: Answer) -> bool | None:
    """Return whether the answer that was asked about is right; None where the data do not say."""
    return _GOLD.get(answer.sample.reference or "")
