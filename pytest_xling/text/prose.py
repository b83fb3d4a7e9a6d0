"""The part of a text that tells its language: no code, no formulas, no addresses, no bare names."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import cache
from itertools import islice
from typing import Final

import regex

from pytest_xling.text.display import clean

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

# All that runs over many characters begins where such a run begins, or ends after a few hundred:
# a megabyte without a space takes no longer than one with. Runs are of ASCII, for scripts without
# spaces have sentences where others have words.
_ASIDE: Final = tuple(
    (marks, re.compile(pattern, re.DOTALL | re.MULTILINE))
    for marks, pattern in (
        # Code: blocks, also in an item of a list or a quotation, and within a line.
        ("`~", r"^[ \t>]*(```|~~~)[^\n]*\n.*?(?:^[ \t>]*\1|\Z)"),
        ("`", r"`[^`\n]+`"),
        # Formulas.
        ("$", r"\$\$.{1,500}?\$\$|(?<![\w$])\$(?!\s)[^$\n]{1,200}?(?<!\s)\$(?![\w$])"),
        ("\\", r"\\\[.{1,500}?\\\]|\\\(.{1,500}?\\\)"),
        # Mark-up, and addresses of pages and of mail.
        ("<", r"</?[A-Za-z][\w:-]*(?:\s+[\w:-]+=(?:\"[^\"<>]*\"|'[^'<>]*'|[^\s<>'\"]+))*\s*/?>"),
        (":.", r"(?:https?://|www\.)[!-'*-;=?-Z_a-z~%]+"),
        ("@", r"(?<![\w.+-])[\w.+-]+@[\w-]+\.[\w.-]+"),
        # What is left of formulas and code: x=1, \alpha, main.py; 500 mg, COVID-19, H2O.
        ("=^\\{}", r"(?<![!-~])[!-~]*[=^\\{}][!-~]*"),
        ("._", r"(?<![A-Za-z\d._])[A-Za-z]+(?:[._][A-Za-z\d]+)+"),
        ("0123456789", r"(?<![\w.,-])\d[\d.,]*\s?[a-zA-Zµ]{1,3}\b"),
        ("0123456789", r"(?<![A-Za-z\d-])[A-Za-z-]*\d[A-Za-z\d-]*"),
    )
)
_SMALL = regex.compile(r"(?<!\w)\p{Ll}")
_CAPITALISED = regex.compile(r"(?<!\p{LC})(\p{Lu})[\p{LC}\p{M}'’-]*")
_LEAST_WORDS = 3
"""With fewer words in small letters, the capitalised ones are a name or a list of names."""


def prose(text: str, script: str) -> str:
    """Return what of *text* tells its language, in composed characters.

    Set aside are code, formulas, addresses, mark-up, words with digits, units after a number, and
    names: capitalised words in another script than the language's own, and all of them where
    fewer than three words begin with a small letter. A text all in capitals is read as if in
    small ones.

    Args:
        text: of any length.
        script: of the language it should be in, an ISO 15924 code.
    """
    plain = unicodedata.normalize("NFKC", clean(text))
    for marks, pattern in _ASIDE:
        if any(mark in plain for mark in marks):
            plain = pattern.sub(" ", plain)
    return names_aside(plain, script)


def plain_lines(text: str) -> list[str]:
    """Return the lines of *text* without code, formulas, addresses, mark-up and words with digits.

    There are as many as ``str.splitlines`` finds; those of a block of code are empty. Names stay.
    """
    lines = clean(text).splitlines()
    plain = unicodedata.normalize("NFKC", "\n".join(lines))
    for marks, pattern in _ASIDE:
        if any(mark in plain for mark in marks):
            plain = pattern.sub(lambda aside: "\n" * aside[0].count("\n") or " ", plain)
    return plain.split("\n") if lines else []


def names_aside(plain: str, script: str) -> str:
    """Return *plain* without its names, as :func:`prose` sets them aside."""
    if plain.isupper():
        return plain.lower()
    sparse = len(list(islice(_SMALL.finditer(plain), _LEAST_WORDS))) < _LEAST_WORDS
    capitals = {c for c in set(plain) if c.isupper() and (sparse or not written_in(c, script))}
    if not capitals:
        return plain
    return _CAPITALISED.sub(lambda name: " " if name[1] in capitals else name[0], plain)


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
