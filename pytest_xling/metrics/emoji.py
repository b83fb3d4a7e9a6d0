"""Whether an answer has an emoji (CaLMQA, App. C.2)."""

from __future__ import annotations

from dataclasses import dataclass

import regex

from pytest_xling.interfaces.metric import Flag
from pytest_xling.records import Answer, Reading

__all__ = ["Emoji"]

# Shown as a picture by default, unless a variation selector asks for text; shown as text by
# default (©, ™, ☺), unless one asks for a picture; a key cap. Never a bare digit.
_EMOJI = regex.compile(
    r"\p{Regional_Indicator}{2}|\p{Emoji_Presentation}(?!\uFE0E)"
    r"|\p{Extended_Pictographic}\uFE0F|[0-9#*]\uFE0F\u20E3"
)
# All of these have one of the following, which is found three times as fast.
_MARK = regex.compile(r"[\p{Emoji_Presentation}\uFE0F]")
_CLEAR = Reading(value=0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Emoji(Flag[Answer]):
    """Flags answers with at least one emoji: a character shown as a picture (Unicode, UTS #51)."""

    name = "emoji"
    version = "1"
    libraries = ("regex",)

    def read(self, answer: Answer, /) -> Reading:
        """Return the reading of one answer."""
        return _read(answer.text)


def _read(text: str) -> Reading:
    if text.isascii() or not _MARK.search(text):
        return _CLEAR
    found = _EMOJI.search(text)
    if found is None:
        return _CLEAR
    return Reading(value=1.0, reason=f"has {found.group()} ({_code_points(found.group())})")


def _code_points(text: str) -> str:
    return " ".join(f"U+{ord(character):04X}" for character in text)
