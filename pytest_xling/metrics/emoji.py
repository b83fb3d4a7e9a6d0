"""Whether an answer has an emoji (CaLMQA, App. C.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import regex

from pytest_xling.records import Reading

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_xling.interfaces.metric import MetricKind
    from pytest_xling.records import Answer

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
class Emoji:
    """Flags answers with at least one emoji: a character shown as a picture (Unicode, UTS #51)."""

    name: ClassVar[str] = "emoji"
    version: ClassVar[str] = "1"
    kind: ClassVar[MetricKind] = "flag"
    needs: ClassVar[tuple[str, ...]] = ()
    libraries: ClassVar[tuple[str, ...]] = ("regex",)
    scores_missing: ClassVar[bool] = False

    def score(self, answers: Sequence[Answer]) -> list[Reading]:
        """Return one reading per answer, in order."""
        return [_read(answer.text) for answer in answers]


def _read(text: str) -> Reading:
    if text.isascii() or not _MARK.search(text):
        return _CLEAR
    found = _EMOJI.search(text)
    if found is None:
        return _CLEAR
    return Reading(value=1.0, reason=f"has {found.group()} ({_code_points(found.group())})")


def _code_points(text: str) -> str:
    return " ".join(f"U+{ord(character):04X}" for character in text)
