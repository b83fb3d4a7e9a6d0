"""The older layout of XLingHealth: a sheet for each language, a row for each question.

The sheet of a language has ``id``, ``question_translated``, ``answer_translated`` (in English
``question``, ``answer``) and ``neg_sample``, such as ``[195, 136, 204, 13]``: the questions of the
same sheet whose answers are the wrong ones.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
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
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from pytest_xling.importers.xlinghealth.workbook import Row, Sheet


def is_multisheet(sheet: Sheet) -> bool:
    """Tell whether *sheet* is meant to be one of this layout."""
    names = {name_of(name) for name in sheet.header}
    return "neg_sample" in names or {"id", "question", "answer"} <= names


def multisheet_questions(file: Path, sheets: Sequence[Sheet]) -> Iterator[Question]:
    """Yield the questions of *sheets*, in the order they first occur.

    Raises:
        DataError: names the sheet, and the row or column.
    """
    by_language: dict[str, _Language] = {}
    for sheet in sheets:
        code = sole_language(
            sheet.title, where=f"{file}: sheet {sheet.title!r}", seen=tuple(by_language)
        )
        by_language[code] = _read(file, sheet, english=code == "en")
    for name in dict.fromkeys(n for language in by_language.values() for n in language.versions):
        first: _Language | None = None
        versions = {}
        for code, language in by_language.items():
            if name not in language.versions:
                continue
            versions[code] = version = language.versions[name]
            if first is None:
                first = language
            elif _ids(version) != _ids(first.versions[name]):
                msg = (
                    f"{language.where}, row {version.question.row}: 'neg_sample' is "
                    f"[{', '.join(_ids(version))}], but for the same question {name} it is "
                    f"[{', '.join(_ids(first.versions[name]))}] in {first.where}; make them equal"
                )
                raise DataError(msg)
        yield Question(id=name, versions=versions)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Language:
    where: str
    versions: dict[str, Version]


def _ids(version: Version) -> tuple[str, ...]:
    return tuple(cell.answer for cell in version.wrong)


def _read(file: Path, sheet: Sheet, *, english: bool) -> _Language:
    columns = Columns(file, sheet)
    # Even the sheet for English may have the columns of the others.
    suffix = "" if english and "question_translated" not in columns.names else "_translated"
    id_column = columns.place("id")
    question_column = columns.place(f"question{suffix}")
    answer_column = columns.place(f"answer{suffix}")
    neg_column = columns.place("neg_sample")
    rows: dict[str, Row] = {}
    for row in sheet.rows:
        name = question_id(row.texts[id_column], where=columns.at(row), column="id")
        if name in rows:
            msg = (
                f"{columns.at(row)}: id {name} is already in row {rows[name].number}; "
                "give each question its own"
            )
            raise DataError(msg)
        rows[name] = row
    answers = {
        name: Cell(text=row.texts[answer_column], row=row.number, answer=name)
        for name, row in rows.items()
    }
    versions = {}
    for name, row in rows.items():
        wrong = _neg_sample(row.texts[neg_column], own=name, where=columns.at(row))
        lost = [other for other in wrong if other not in answers]
        if lost:
            msg = (
                f"{columns.at(row)}: 'neg_sample' names question {lost[0]}, which this sheet does "
                "not have; add its row or take it out of the list"
            )
            raise DataError(msg)
        versions[name] = Version(
            question=Cell(text=row.texts[question_column], row=row.number),
            right=answers[name],
            wrong=tuple(answers[other] for other in wrong),
        )
    return _Language(where=columns.where, versions=versions)


def _neg_sample(text: str, *, own: str, where: str) -> list[str]:
    """Return the ids in a cell such as ``[195, 136, 204, 13]``."""
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError) as error:
        msg = f"{where}: 'neg_sample' is {_short(text)}, not a list such as [195, 136, 204, 13]"
        raise DataError(msg) from error
    if not isinstance(value, list | tuple):
        msg = f"{where}: 'neg_sample' is {_short(text)}, not a list such as [195, 136, 204, 13]"
        raise DataError(msg)
    ids = [question_id(str(item), where=where, column="neg_sample") for item in value]
    for place, name in enumerate(ids):
        if name == own:
            msg = f"{where}: 'neg_sample' names question {own} itself, whose answer is right"
            raise DataError(msg)
        if name in ids[:place]:
            msg = f"{where}: 'neg_sample' names question {name} twice; keep one"
            raise DataError(msg)
    return ids


def _short(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:39] + "…")  # noqa: PLR2004  fits on a line
