"""A question of XLingHealth in all its languages, whichever layout it was read from."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pytest_xling.errors import ConfigError, DataError, did_you_mean
from pytest_xling.languages import find

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from pytest_xling.importers.xlinghealth.workbook import Row, Sheet


class Columns:
    """The columns of one sheet; case and blanks around a name do not matter."""

    def __init__(self, file: Path, sheet: Sheet) -> None:
        self.where = f"{file}: sheet {sheet.title!r}"
        self.names = tuple(name_of(name) for name in sheet.header)

    def place(self, name: str) -> int:
        """Return where the column *name* is.

        Raises:
            DataError: it is missing, or there more than once.
        """
        count = Counter(self.names)[name]
        if count == 1:
            return self.names.index(name)
        present = [column for column in self.names if column]
        if count:
            msg = f"{self.where}: {count} columns are called {name!r}; keep one"
        else:
            suggestion = did_you_mean(name, present)
            hint = suggestion.replace("Did you mean", "Is it").strip() if suggestion else ""
            msg = f"{self.where}: column {name!r} is missing. {hint}".rstrip()
            msg += f" Its columns: {', '.join(present)}"
        raise DataError(msg)

    def at(self, row: Row) -> str:
        """Return how to name *row* in a message."""
        return f"{self.where}, row {row.number}"


def name_of(title: str) -> str:
    """Return a column's name as it is compared."""
    return title.strip().casefold()


def sole_language(name: str, *, where: str, seen: Sequence[str]) -> str:
    """Return the code of the language called *name*, which must not be among *seen*.

    Raises:
        DataError: unknown, or there twice.
    """
    try:
        code = find(name).code
    except ConfigError as error:
        msg = f"{where} is of no language we know: {error}"
        raise DataError(msg) from error
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
