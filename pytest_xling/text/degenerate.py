"""Tell a degenerate output: empty, going round in circles, or running on and on.

Found in Translation (App. B) samples a translation anew where a phrase or a pattern is repeated in
it, and says no more about how that is seen. The rules and their limits here are our own; they were
set on texts of people and of models in 23 languages (see tests/text/test_degenerate.py).
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Final

import numpy as np

from pytest_xling.text.clean import clean
from pytest_xling.text.display import printable

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["degenerate", "repeats"]

# A pattern: a stretch of text several times in a row.
_LONGEST_PATTERN: Final = 400
_TIMES_IN_A_ROW: Final = 4
_PHRASE_CHARS: Final = 12
_PHRASE_TIMES_IN_A_ROW: Final = 3
_LEAST_CHARS: Final = 24
_LEAST_SIGNS: Final = 100

# A phrase: a stretch that occurs again and again, with something else between.
_TIMES: Final = 4
_COVERED: Final = 0.6

# Bytes, not characters: one of Chinese says as much as three or four Latin letters.
_TIMES_LONGER: Final = 5
_MORE_BYTES: Final = 60

_MOST_CHARS: Final = 20_000
"""Only so many characters are searched, from the end: a text that goes wrong stays wrong."""

_SPACE = re.compile(r"\s+")
_SAYS_SOMETHING = re.compile(r"[^\W_]")
_SHOWN = 40


def degenerate(text: str, *, source: str = "") -> str:
    """Say what is degenerate about *text*; "" where nothing is.

    Args:
        text: what a model made, for instance a translation.
        source: what it was made of. A text may go round in circles where its source does, and
            may not be many times longer. Without one, neither is considered.
    """
    text = clean(text)
    if not text.strip():
        return "empty"
    if _SAYS_SOMETHING.search(source) and not _SAYS_SOMETHING.search(text):
        return f"no letter or digit: {_quoted(text)}"
    if (found := repeats(text)) and not (source and repeats(source)):
        return found
    if source:
        size, of = len(text.encode()), len(clean(source).encode())
        if size > _TIMES_LONGER * of + _MORE_BYTES:
            return f"{size / of:.0f} times as long as its source"
    return ""


def repeats(text: str) -> str:
    """Say what *text* repeats to no end; "" where there is nothing such.

    That is a *pattern*: a stretch of text three times in a row (four, if it is shorter than 12
    characters) and 24 characters in all (100, if it is of signs only); or *phrases*: most of the
    text is made of stretches of 12 characters that occur four times or more.
    """
    # The space at the end lets the last word of a row be as long as the others.
    text = _SPACE.sub(" ", clean(text[-_MOST_CHARS:])).strip() + " "
    return _pattern(text) or _phrases(text)


def _pattern(text: str) -> str:
    if len(text) < _LEAST_CHARS:
        return ""
    codes = np.frombuffer(text.casefold().encode("utf-32-le"), dtype=np.uint32)
    size = len(codes)
    for period in range(1, min(_LONGEST_PATTERN, size // _PHRASE_TIMES_IN_A_ROW) + 1):
        start, run = _longest_run(codes[period:] == codes[:-period])
        total = run + period
        times = total // period
        needed = _TIMES_IN_A_ROW if period < _PHRASE_CHARS else _PHRASE_TIMES_IN_A_ROW
        if times < needed or total < _LEAST_CHARS:
            continue
        unit = codes[start : start + period].tobytes().decode("utf-32-le")
        if _SAYS_SOMETHING.search(unit) or total >= _LEAST_SIGNS:
            return f"{_quoted(unit)} {times} times in a row"
    return ""


def _longest_run(same: NDArray[np.bool_]) -> tuple[int, int]:
    """Return where the longest run of True begins, and its length."""
    ends = np.flatnonzero(np.concatenate(([True], ~same, [True])))
    lengths = np.diff(ends) - 1
    longest = int(lengths.argmax())
    return int(ends[longest]), int(lengths[longest])


def _phrases(text: str) -> str:
    folded = text.casefold()
    stretches = Counter(
        folded[i : i + _PHRASE_CHARS] for i in range(len(folded) - _PHRASE_CHARS + 1)
    )
    often = {
        stretch: n
        for stretch, n in stretches.items()
        if n >= _TIMES and _SAYS_SOMETHING.search(stretch)
    }
    if not often:
        return ""
    covered = end = 0
    for i in range(len(folded) - _PHRASE_CHARS + 1):
        if folded[i : i + _PHRASE_CHARS] in often:
            covered += i + _PHRASE_CHARS - max(i, end)
            end = i + _PHRASE_CHARS
    if covered <= _COVERED * len(folded):
        return ""
    most, times = max(often.items(), key=lambda item: item[1])
    return f"made of phrases that come back, such as {_quoted(most)} {times} times"


def _quoted(text: str) -> str:
    return repr(printable(text, limit=_SHOWN))
