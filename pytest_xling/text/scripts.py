"""Which script a letter is of, and which scripts a text is written in."""

from __future__ import annotations

import unicodedata
from collections import Counter
from functools import cache
from typing import Final

SCRIPTS: Final = {
    "Arab": ("Arabic",),
    "Beng": ("Bengali",),
    "Cyrl": ("Cyrillic",),
    "Deva": ("Devanagari",),
    "Grek": ("Greek",),
    "Gujr": ("Gujarati",),
    "Guru": ("Gurmukhi",),
    "Hans": ("Han",),
    "Hant": ("Han",),
    "Hebr": ("Hebrew",),
    "Jpan": ("Han", "Hiragana", "Katakana"),
    "Knda": ("Kannada",),
    "Kore": ("Hangul", "Han"),
    "Latn": ("Latin",),
    "Mlym": ("Malayalam",),
    "Taml": ("Tamil",),
    "Telu": ("Telugu",),
    "Thai": ("Thai",),
}
"""The scripts the languages of our data are written in, by ISO 15924 code. Han is one script: a
text in traditional characters is as much Chinese as one in simplified ones."""


def letters(text: str) -> Counter[str]:
    """Count how often each letter is in *text*; marks that stand with letters are none."""
    counts = Counter(text)
    return Counter({character: n for character, n in counts.items() if script_of(character)})


def in_scripts(counts: Counter[str], script: str) -> tuple[int, Counter[str]]:
    """Return how many letters belong to *script*, and how many are of each script, by its name.

    Args:
        counts: how often each letter occurs.
        script: an ISO 15924 code.
    """
    scripts: Counter[str] = Counter()
    for letter, n in counts.items():
        scripts[script_of(letter)] += n
    names = names_of(script)
    return sum(scripts[name] for name in names) if names else scripts.total(), scripts


def written_in(letter: str, script: str) -> bool:
    """Tell whether *letter* belongs to *script*, an ISO 15924 code."""
    names = names_of(script)
    return not names or script_of(letter) in names


@cache
def names_of(script: str) -> tuple[str, ...]:
    """Return the names, as of :func:`script_of`, of what is written in an ISO 15924 *script*.

    Those of the letters that Unicode puts into it. Where Unicode has no such script there are none,
    and every letter may belong to it.
    """
    if script in SCRIPTS:
        return SCRIPTS[script]
    import regex  # noqa: PLC0415  slow to import, for scripts that none of our languages has

    try:
        letters = regex.findall(rf"\p{{Script={script}}}", _planes())
    except regex.error:
        return ()
    return tuple(sorted({script_of(letter) for letter in letters} - {""}))


@cache
def _planes() -> str:
    """Return all characters of the planes that have scripts in use."""
    return "".join(map(chr, (*range(0xD800), *range(0xE000, 0x20000))))


@cache
def script_of(character: str) -> str:
    """Return the name of a letter's script, such as ``Latin`` or ``Han``; "" for other marks."""
    if unicodedata.category(character) not in {"Lu", "Ll", "Lt", "Lo"}:
        return ""
    first = unicodedata.name(character, "").split(" ")[0].capitalize()
    return "Han" if first == "Cjk" else first
