"""A question of XLingHealth in all its languages, whichever layout it was read from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

__all__ = ["Cell", "Content", "Question", "Version"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A text and where it stands."""

    text: str
    """Empty where the cell is blank."""
    row: int
    """As Excel shows it."""
    answer: str = ""
    """For answers: which one, by the id of the question it was written for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """A question in one language."""

    question: Cell
    right: Cell
    wrong: tuple[Cell, ...]

    @property
    def complete(self) -> bool:
        """Whether there is something to ask and something to compare with."""
        return bool(self.question.text and self.right.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question with its versions, by language."""

    id: str
    """As the file has it, such as ``7``."""
    versions: Mapping[str, Version]

    repeated: frozenset[str] = field(init=False)
    """Wrong answers that say what the right one, or one before them, says in some language.

    Judged over all languages: translations of one text may differ, and what is the right answer
    word for word in English is not wrong in Chinese.
    """

    def __post_init__(self) -> None:
        """Find the repeated answers once."""
        found: set[str] = set()
        for version in self.versions.values():
            seen = {_folded(version.right.text)}
            for cell in version.wrong:
                text = _folded(cell.text)
                if text and text in seen:
                    found.add(cell.answer)
                seen.add(text)
        object.__setattr__(self, "repeated", frozenset(found))


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """What one file holds."""

    file: Path
    languages: tuple[str, ...]
    """Codes, sorted."""
    questions: tuple[Question, ...]
    """In the file's order."""

    def versions(self, language: str) -> Iterator[tuple[Question, Version]]:
        """Go through the questions that have a version in *language*."""
        for question in self.questions:
            if language in question.versions:
                yield question, question.versions[language]


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())
