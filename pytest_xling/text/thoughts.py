"""Tell a model's thoughts from its answer where one text holds both.

Models that think first write their thoughts into the reply, ``<think>…</think>`` and the answer
after it, and not all servers take them off. An answer may also be *about* such tags. So tags count
only where thoughts can be:

1. A reply that begins with an opening tag begins with thoughts. They end at the first closing tag
   of that name; without one, the reply was cut off and is all thoughts. Several blocks in a row are
   all thoughts.
2. In a reply without an opening tag at its beginning, the chat template may have written that into
   the prompt. A closing tag then ends the thoughts if it is alone on its line, or if it follows a
   word or a full stop without a space and no space follows it; if no opening tag comes before it;
   and if it is not in code. A reply that begins with a brace or a bracket is JSON and has none.

A tag between two quotation marks, backticks or brackets is a mention, and no tag.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_xling.records import Response

_NAME = r"(?:seed:)?think|thinking|thoughts?"
# Those of Magistral and Kimi beside the usual ones.
_OPENS = rf"<(?:{_NAME})>|\[THINK\]|◁think▷"
_CLOSES = rf"</(?:{_NAME})>|\[/THINK\]|◁/think▷"
_OPENING = re.compile(rf"\s*({_OPENS})", re.IGNORECASE)
_CLOSING = re.compile(rf"\s*(?:{_CLOSES})", re.IGNORECASE)
_TAG = re.compile(_CLOSES, re.IGNORECASE)
_LAST = re.compile(rf"({_OPENS})\s*\Z", re.IGNORECASE)
_MARK = re.compile(
    rf"(?P<fence>^[ \t]*(?:```|~~~))|(?P<opens>{_OPENS})|(?P<closes>{_CLOSES})",
    re.IGNORECASE | re.MULTILINE,
)
_CLOSED = ("</", "[/", "◁/")
_JSON = ("{", "[")
_QUOTES = frozenset("\"'`´“”„‘’«»‹›「」『』()[]")
_AFTER_MENTION = frozenset(" \t.,;:!?)，。；：")
_INDENTED = 4
"""Spaces before a line that make it code."""
_AROUND = 500
"""Characters of a line looked at on either side of a tag."""


def split_thoughts(text: str, *, apart: str = "", begun_by_prompt: bool = True) -> tuple[str, str]:
    """Return the thoughts of a reply, and the answer after them.

    A reply that does not begin with thoughts is returned as it is. What this returned may be given
    to it again.

    Args:
        text: of any length.
        apart: thoughts that did not come in the text. Others are then looked for only behind an
            opening tag.
        begun_by_prompt: whether a closing tag may end thoughts that no tag in the reply begins.
            Not where the reply quotes a text that somebody else wrote, as a judge's does.
    """
    thoughts = [apart]
    position = 0
    if begun_by_prompt and not apart and (tag := _end_of_begun(text)):
        thoughts.append(text[: tag.start()])
        position = tag.end()
    while True:
        if position and (again := _CLOSING.match(text, position)):
            position = again.end()
        elif opening := _OPENING.match(text, position):
            end = _end_of(opening, text)
            thoughts.append(text[opening.end() : end.start() if end else None])
            position = end.end() if end else len(text)
        else:
            break
    if not position:
        return apart, text
    return "\n\n".join(filter(None, map(str.strip, thoughts))), text[position:].lstrip()


def split_response(response: Response, *, begun_by_prompt: bool = True) -> Response:
    """Return *response* with the thoughts in its text beside it, as :func:`split_thoughts` does."""
    thoughts, answer = split_thoughts(
        response.text or "", apart=response.thoughts, begun_by_prompt=begun_by_prompt
    )
    if len(answer) == len(response.text or ""):
        return response
    return replace(response, text=answer, thoughts=thoughts)


def opening_tag(prompt: str) -> str:
    """Return the tag that *prompt* ends with where it begins the model's thoughts, else ""."""
    tag = _LAST.search(prompt)
    return tag[1] if tag else ""


def _end_of(opening: re.Match[str], text: str) -> re.Match[str] | None:
    """Return the tag that closes *opening*; None where the text ends before."""
    name = opening[1][1:].casefold()
    for tag in _TAG.finditer(text, opening.end()):
        if tag[0][2:].casefold() == name and not _is_mention(text, tag):
            return tag
    return None


def _end_of_begun(text: str) -> re.Match[str] | None:
    """Return the tag that ends thoughts which the prompt has begun; None where there is none."""
    if not any(mark in text for mark in _CLOSED) or text.lstrip().startswith(_JSON):
        return None
    in_code = False
    for mark in _MARK.finditer(text):
        if mark["fence"]:
            in_code = not in_code
        elif mark["opens"]:
            return None
        elif not in_code and not _is_mention(text, mark) and _ends_line_or_word(text, mark):
            return mark
    return None


def _is_mention(text: str, tag: re.Match[str]) -> bool:
    """Tell whether *tag* stands between quotation marks, backticks or brackets."""
    around = text[max(tag.start() - 1, 0) : tag.start()], text[tag.end() : tag.end() + 1]
    return _QUOTES.issuperset(around)


def _ends_line_or_word(text: str, tag: re.Match[str]) -> bool:
    """Tell whether *tag* is alone on its line, or has no space on either side and no code."""
    before = text[max(tag.start() - _AROUND, 0) : tag.start()].rpartition("\n")[2]
    after = text[tag.end() : tag.end() + _AROUND].partition("\n")[0].rstrip()
    if not before.strip():
        return len(before) < _INDENTED and not after[:1].isspace()
    in_code = before.count("`") % 2 == 1 and "`" in after
    return not in_code and not before[-1].isspace() and after[:1] not in _AFTER_MENTION
