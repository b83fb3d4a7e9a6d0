"""Take a text apart into sentences to work on, and put what became of them together again."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_xling.interfaces.annotator import versions_of
from pytest_xling.text.display import clean
from pytest_xling.text.sentences import cut

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_PACKAGES = ("pythainlp", "python-crfsuite")
_READ_ONLY = ("PYTHAINLP_READ_ONLY", "PYTHAINLP_READ_MODE")


def thai_splitter() -> Mapping[str, str]:
    """Return the versions of the packages that split.

    Raises:
        ConfigError: one of them is not installed.
    """
    return versions_of(_PACKAGES, user="translate: thai = 'pythainlp'", extra="thai")


def thai_sentences(text: str) -> list[str]:
    """Return the sentences of *text*, stripped, in order, none empty.

    Raises:
        ConfigError: PyThaiNLP is not installed.
    """
    thai_splitter()
    if not any(name in os.environ for name in _READ_ONLY):
        os.environ[_READ_ONLY[0]] = "1"  # else importing it makes a directory in the user's home
    from pythainlp.tokenize import sent_tokenize  # noqa: PLC0415  an extra

    split = sent_tokenize(clean(text), engine="crfcut")
    return [stripped for sentence in split if (stripped := str(sentence).strip())]


_LINES = re.compile(r"(\s*[\n\v\f\r\x1c-\x1e\x85\u2028\u2029]\s*)")
# What opens an item of a list or a heading: nothing to translate, and a base model stumbles on it.
_OPENING = re.compile(r"(?:[-*+•·–#>]+\s+|\(?\d{1,3}(?:[.)]\s+|[、）．]\s*))+")
_LETTER = re.compile(r"[^\W\d_]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Passages:
    """A text as lines of sentences, with what stands between the lines."""

    lines: tuple[tuple[str, tuple[str, ...]], ...]
    """What opens each line (``- ``, ``1. ``), and its sentences."""
    breaks: tuple[str, ...]
    """What stands after each line but the last."""

    @classmethod
    def of(cls, text: str, *, split: Callable[[str], list[str]], max_chars: int) -> Passages:
        """Take *text* apart.

        Args:
            text: of any length.
            split: gives the sentences of a line, stripped.
            max_chars: longer sentences are cut, at a space or a comma where there is one.
        """
        parts = _LINES.split(text.strip())
        lines = []
        for line in parts[::2]:
            opening = _OPENING.match(line)
            rest = line[opening.end() :] if opening else line
            pieces = [piece for sentence in split(rest) for piece in cut(sentence, max_chars)]
            lines.append((opening.group() if opening else "", tuple(pieces)))
        return cls(lines=tuple(lines), breaks=tuple(parts[1::2]))

    def worded(self) -> list[str]:
        """Return the sentences that have a letter, in order."""
        return [s for _, line in self.lines for s in line if _LETTER.search(s)]

    def joined(self, made: Mapping[str, str]) -> str:
        """Return the text with each sentence as *made* has it; as it is where that has none."""
        lines = [opening + " ".join(made.get(s, s) for s in line) for opening, line in self.lines]
        after = (*self.breaks, "")
        return "".join(line + end for line, end in zip(lines, after, strict=True)).strip()
