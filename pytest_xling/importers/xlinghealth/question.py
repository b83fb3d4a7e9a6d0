"""A question of XLingHealth in all its languages, whichever layout it was read from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pytest_xling.errors import DataError
from pytest_xling.languages import require_language

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from pathlib import Path


def sole_language(name: str, *, where: str, seen: Collection[str]) -> str:
    """Return the code of the language called *name*, which must not be among *seen*.

    Raises:
        DataError: unknown, or there twice.
    """
    code = require_language(name, where=f"{where} is of no language we know").code
    if code in seen:
        msg = f"{where} is one more for language {code!r}; keep one"
        raise DataError(msg)
    return code


def question_id(text: str, *, where: str, column: str) -> str:
    """Return an id as it is compared: a whole number, without leading zeros.

    Raises:
        DataError: blank, or no whole number.
    """
    if not (text.isascii() and text.isdigit()):
        fault = f"is {text!r}, but must be a whole number" if text else "is blank"
        msg = f"{where}: {column!r} {fault}; number the questions 0, 1, 2, …"
        raise DataError(msg)
    return str(int(text))


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
        repeated: set[str] = set()
        for version in self.versions.values():
            seen = {_folded(version.right.text)}
            for cell in version.wrong:
                text = _folded(cell.text)
                if text and text in seen:
                    repeated.add(cell.answer)
                seen.add(text)
        object.__setattr__(self, "repeated", frozenset(repeated))


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
