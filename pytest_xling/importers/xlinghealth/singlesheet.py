"""The newer layout of XLingHealth: one sheet, a row for each candidate answer.

``id`` tells the question, ``label`` whether the answer is right (1) or wrong (0), ``answer_ids``
the question that the answer was written for; then ``question_English``, ``answer_English`` and so
on for each language.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_xling.errors import DataError
from pytest_xling.importers.xlinghealth.question import (
    Cell,
    Columns,
    Question,
    Version,
    name_of,
    question_id,
    sole_language,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from pytest_xling.importers.xlinghealth.workbook import Row, Sheet

_QUESTION = "question_"
_ANSWER = "answer_"
_LABELS = {"0": False, "1": True, "false": False, "true": True}


def is_singlesheet(sheet: Sheet) -> bool:
    """Tell whether *sheet* is meant to have this layout."""
    return bool({"label", "answer_ids"} & {name_of(name) for name in sheet.header})


def singlesheet_questions(file: Path, sheet: Sheet) -> Iterator[Question]:
    """Yield the questions of *sheet*, in the order they first occur.

    Raises:
        DataError: names the sheet, and the row or column.
    """
    reader = _Reader(file, sheet)
    groups: dict[str, list[Row]] = {}
    for row in sheet.rows:
        groups.setdefault(reader.id(row), []).append(row)
    for name, rows in groups.items():
        yield reader.question(name, rows)


class _Reader:
    """Knows the sheet's columns."""

    def __init__(self, file: Path, sheet: Sheet) -> None:
        self.columns = columns = Columns(file, sheet)
        self.id_column = columns.place("id")
        self.label_column = columns.place("label")
        self.answer_column = columns.place("answer_ids")
        self.languages = _languages(columns)

    def id(self, row: Row) -> str:
        text = row.texts[self.id_column]
        return question_id(text, where=self.columns.at(row), column="id")

    def question(self, name: str, rows: list[Row]) -> Question:
        right = [row for row in rows if self._is_right(row)]
        if len(right) != 1:
            numbers = ", ".join(str(row.number) for row in right or rows)
            count = f"{len(right)} right answers" if right else "no right answer"
            msg = (
                f"{self.columns.where}: question {name} has {count} (rows {numbers}); "
                "exactly one of its rows must have label 1"
            )
            raise DataError(msg)
        answers = self._answers(name, rows)
        versions = {}
        for language, (question_column, answer_column) in self.languages.items():
            cells = {
                row.number: Cell(
                    text=row.texts[answer_column], row=row.number, answer=answers[row.number]
                )
                for row in rows
            }
            versions[language] = Version(
                question=self._same_question(rows, question_column),
                right=cells.pop(right[0].number),
                wrong=tuple(cells.values()),
            )
        return Question(id=name, versions=versions)

    def _is_right(self, row: Row) -> bool:
        label = row.texts[self.label_column]
        if label.casefold() not in _LABELS:
            msg = (
                f"{self.columns.at(row)}: 'label' is {label!r}, but must be 1 for the right answer "
                "or 0 for a wrong one"
            )
            raise DataError(msg)
        return _LABELS[label.casefold()]

    def _answers(self, name: str, rows: list[Row]) -> dict[int, str]:
        """Return which answer each row has, by the row's number."""
        first: dict[str, int] = {}
        for row in rows:
            at = self.columns.at(row)
            text = row.texts[self.answer_column]
            answer = question_id(text, where=at, column="answer_ids")
            if answer in first:
                msg = (
                    f"{at}: question {name} already has answer {answer} in row {first[answer]}; "
                    "keep one of them"
                )
                raise DataError(msg)
            first[answer] = row.number
        return {number: answer for answer, number in first.items()}

    def _same_question(self, rows: list[Row], column: int) -> Cell:
        first, *others = rows
        for row in others:
            if row.texts[column] != first.texts[column]:
                msg = (
                    f"{self.columns.at(row)}: {self.columns.names[column]!r} is not what it is in "
                    f"row {first.number}, though both are question {first.texts[self.id_column]}"
                )
                raise DataError(msg)
        return Cell(text=first.texts[column], row=first.number)


def _languages(columns: Columns) -> Mapping[str, tuple[int, int]]:
    """Return each language's columns for question and answer."""
    columns_of: dict[str, tuple[int, int]] = {}
    for name in columns.names:
        if name.startswith(_QUESTION):
            language = name.removeprefix(_QUESTION)
            where = f"{columns.where}: column {name!r}"
            code = sole_language(language, where=where, seen=tuple(columns_of))
            columns_of[code] = (columns.place(name), columns.place(_ANSWER + language))
    paired = {columns.names[answer] for _, answer in columns_of.values()}
    for name in columns.names:
        if name.startswith(_ANSWER) and name != "answer_ids" and name not in paired:
            columns.place(_QUESTION + name.removeprefix(_ANSWER))
    if not columns_of:
        msg = (
            f"{columns.where}: no language has columns; expected question_English, answer_English "
            f"and so on. Its columns: {', '.join(columns.names)}"
        )
        raise DataError(msg)
    return columns_of
