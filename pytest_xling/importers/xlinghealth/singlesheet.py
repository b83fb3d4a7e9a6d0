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
    Question,
    Version,
    question_id,
    sole_language,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_xling.importers.xlinghealth.workbook import Row, Sheet

_QUESTION = "question_"
_ANSWER = "answer_"
_LABELS = {"0": False, "1": True, "false": False, "true": True}


def is_singlesheet(sheet: Sheet) -> bool:
    """Tell whether *sheet* is meant to have this layout."""
    return not {"label", "answer_ids"}.isdisjoint(sheet.names)


def singlesheet_questions(sheet: Sheet) -> Iterator[Question]:
    """Yield the questions of *sheet*, in the order they first occur.

    Raises:
        DataError: names the sheet, and the row or column.
    """
    sheet.require("id", "label", "answer_ids")
    languages = _languages(sheet)
    groups: dict[str, list[Row]] = {}
    for row in sheet.rows:
        name = question_id(row.texts["id"], where=row.where, column="id")
        groups.setdefault(name, []).append(row)
    for name, rows in groups.items():
        right = [row.number for row in rows if _is_right(row)]
        if len(right) != 1:
            numbers = ", ".join(map(str, right or (row.number for row in rows)))
            count = f"{len(right)} right answers" if right else "no right answer"
            msg = (
                f"{sheet.where}: question {name} has {count} (rows {numbers}); "
                "exactly one of its rows must have label 1"
            )
            raise DataError(msg)
        answers = _answers(name, rows)
        versions = {}
        for code, language in languages.items():
            cells = {
                row.number: Cell(text=row.texts[_ANSWER + language], row=row.number, answer=answer)
                for answer, row in answers.items()
            }
            versions[code] = Version(
                question=_same_question(rows, _QUESTION + language),
                right=cells.pop(right[0]),
                wrong=tuple(cells.values()),
            )
        yield Question(id=name, versions=versions)


def _is_right(row: Row) -> bool:
    label = row.texts["label"]
    if label.casefold() not in _LABELS:
        msg = (
            f"{row.where}: 'label' is {label!r}, but must be 1 for the right answer or 0 for a "
            "wrong one"
        )
        raise DataError(msg)
    return _LABELS[label.casefold()]


def _answers(name: str, rows: list[Row]) -> dict[str, Row]:
    """Return the rows by which answer each has."""
    first: dict[str, Row] = {}
    for row in rows:
        answer = question_id(row.texts["answer_ids"], where=row.where, column="answer_ids")
        if (other := first.setdefault(answer, row)) is not row:
            msg = (
                f"{row.where}: question {name} already has answer {answer} in row {other.number}; "
                "keep one of them"
            )
            raise DataError(msg)
    return first


def _same_question(rows: list[Row], column: str) -> Cell:
    first, *others = rows
    for row in others:
        if row.texts[column] != first.texts[column]:
            msg = (
                f"{row.where}: {column!r} is not what it is in row {first.number}, though both are "
                f"question {first.texts['id']}"
            )
            raise DataError(msg)
    return Cell(text=first.texts[column], row=first.number)


def _languages(sheet: Sheet) -> dict[str, str]:
    """Return by code how the columns for questions and answers spell each language."""
    languages: dict[str, str] = {}
    for name in sheet.names:
        if name.startswith(_QUESTION):
            language = name.removeprefix(_QUESTION)
            where = f"{sheet.where}: column {name!r}"
            code = sole_language(language, where=where, seen=languages)
            sheet.require(name, _ANSWER + language)
            languages[code] = language
        elif name.startswith(_ANSWER) and name != "answer_ids":
            sheet.require(_QUESTION + name.removeprefix(_ANSWER))
    if not languages:
        msg = (
            f"{sheet.where}: no language has columns; expected question_English, answer_English "
            f"and so on. Its columns: {', '.join(sheet.names)}"
        )
        raise DataError(msg)
    return languages
