"""The part of a text that tells its language: no code, no formulas, no addresses, no bare names."""

from __future__ import annotations

import re
import unicodedata
from itertools import islice
from typing import Final

import regex

from pytest_xling.text.display import clean
from pytest_xling.text.scripts import written_in

# All that runs over many characters begins where such a run begins, or ends after a few hundred:
# a megabyte without a space takes no longer than one with. Runs are of ASCII, for scripts without
# spaces have sentences where others have words. Where what begins it is common, a run is not tried
# again from its end.
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
        (("://", "www."), r"(?:https?://|www\.)[!-'*-;=?-Z_a-z~%]+"),
        ("@", r"(?<![\w.+-])[\w.+-]+@[\w-]+\.[\w.-]+"),
        # What is left of formulas and code: x=1, \alpha, main.py; 500 mg, COVID-19, H2O.
        ("=^\\{}", r"(?<![!-~])[!-~]*[=^\\{}][!-~]*"),
        ("._", r"(?<![A-Za-z\d._])[A-Za-z]++(?:[._][A-Za-z\d]+)+"),
        ("0123456789", r"\d(?<![\w.,-]\d)[\d.,]*\s?[a-zA-Zµ]{1,3}\b"),
        ("0123456789", r"(?<![A-Za-z\d-])[A-Za-z-]*+\d[A-Za-z\d-]*"),
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
