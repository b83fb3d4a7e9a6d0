"""Language identification by CLD2 (Compact Language Detector 2), one text at a time."""

from __future__ import annotations

import re
from typing import NamedTuple

import pycld2

from pytest_xling.text.display import clean

# pycld2 refuses what may not stand in an interchanged text: control characters but \t \n \f \r,
# and non-characters. A space in their place keeps words apart.
_REFUSED = re.compile(
    "[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f\ufdd0-\ufdef"
    + "".join(chr(plane << 16 | low) for plane in range(17) for low in (0xFFFE, 0xFFFF))
    + "]"
)
_OUR_CODES = {"iw": "he", "jw": "jv", "sr-ME": "sr", "zh-Hant": "zh"}
"""CLD2's codes that differ from ours."""


class Detection(NamedTuple):
    """What CLD2 says of a text."""

    reliable: bool
    """Whether CLD2 relies on it itself."""
    language: str
    """A code of ours, or CLD2's where we have none; ``un`` where nothing was found."""


def codes() -> frozenset[str]:
    """Return the codes of the languages CLD2 knows, ours where they differ."""
    return frozenset(_OUR_CODES.get(code, code) for _, code in pycld2.LANGUAGES)


def detect(text: str, *, best_effort: bool) -> Detection:
    """Return the language most of *text* is in.

    Args:
        text: of any kind; HTML is read as such.
        best_effort: whether CLD2 gives an answer on a short text, too.
    """
    # polyglot, which the authors of CaLMQA used, leaves pycld2's reading of HTML at its default.
    try:
        reliable, _, details = pycld2.detect(text, bestEffort=best_effort)
    except (pycld2.error, UnicodeEncodeError):
        allowed = _REFUSED.sub(" ", clean(text))
        reliable, _, details = pycld2.detect(allowed, bestEffort=best_effort)
    code = details[0][1]
    return Detection(reliable=reliable, language=_OUR_CODES.get(code, code))
