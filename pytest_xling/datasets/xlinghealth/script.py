"""How much of a text is in the script of its language."""

from __future__ import annotations

from functools import cache

import regex

from pytest_xling.languages import find

__all__ = ["script_share"]

# ISO 15924 names for several scripts at once, as Unicode properties. Others are their own names.
_UNICODE = {
    "Hans": ("Hani",),
    "Hant": ("Hani",),
    "Jpan": ("Hani", "Hira", "Kana"),
    "Kore": ("Hang", "Hani"),
}
# Writing without blanks between words: a character there counts as a word elsewhere.
_UNSPACED = ("Hani", "Hira", "Kana", "Khmr", "Laoo", "Mymr", "Thai")
_SINGLE = "".join(rf"\p{{Script={name}}}" for name in _UNSPACED)
_UNITS = regex.compile(
    rf"[\p{{L}}&&[{_SINGLE}]]|[\p{{L}}--[{_SINGLE}]][[\p{{L}}\p{{M}}]--[{_SINGLE}]]*", regex.V1
)


@cache
def _own(code: str) -> regex.Pattern[str]:
    script = find(code).script
    names = _UNICODE.get(script, (script,))
    return regex.compile("[" + "".join(rf"\p{{Script={name}}}" for name in names) + "]")


def script_share(text: str, language: str) -> float | None:
    """Return the share of words whose first letter is in the script of *language*.

    Words, not letters: a drug keeps its Latin name in every language, and in ``ciprodex是什么？``
    that name is eight letters of eleven but one word of four. A character of a script without
    blanks between words counts as one. None for a text without letters.
    """
    units = _UNITS.findall(text)
    if not units:
        return None
    own = _own(language)
    return sum(own.match(unit) is not None for unit in units) / len(units)
