"""The older layout of XLingHealth: a sheet for each language, a row for each question.

The sheet of a language has ``id``, ``question_translated``, ``answer_translated`` (in English
``question``, ``answer``) and ``neg_sample``, such as ``[195, 136, 204, 13]``: the questions of the
same sheet whose answers are the wrong ones.
"""

from __future__ import annotations

import ast
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
    from collections.abc import Iterator, Sequence

    from pytest_xling.importers.xlinghealth.workbook import Row, Sheet


def is_multisheet(sheet: Sheet) -> bool:
    """Tell whether *sheet* is meant to be one of this layout."""
    return "neg_sample" in sheet.names or {"id", "question", "answer"} <= {*sheet.names}


def multisheet_questions(sheets: Sequence[Sheet]) -> Iterator[Question]:
    """Yield the questions of *sheets*, in the order they first occur.

    Raises:
        DataError: names the sheet, and the row or column.
    """
    read: dict[str, dict[str, Version]] = {}
    places: dict[str, str] = {}
    for sheet in sheets:
        code = sole_language(sheet.title, where=sheet.where, seen=read)
        read[code], places[code] = _read_versions(sheet, english=code == "en"), sheet.where
    for name in dict.fromkeys(name for versions in read.values() for name in versions):
        versions = {code: of[name] for code, of in read.items() if name in of}
        first = next(iter(versions))
        wrong = _ids(versions[first])
        for code, version in versions.items():
            if _ids(version) != wrong:
                msg = (
                    f"{places[code]}, row {version.question.row}: 'neg_sample' is "
                    f"[{', '.join(_ids(version))}], but for the same question {name} it is "
                    f"[{', '.join(wrong)}] in {places[first]}; make them equal"
                )
                raise DataError(msg)
        yield Question(id=name, versions=versions)


def _ids(version: Version) -> tuple[str, ...]:
    return tuple(cell.answer for cell in version.wrong)


def _read_versions(sheet: Sheet, *, english: bool) -> dict[str, Version]:
    """Return the questions of one language."""
    # Even the sheet for English may have the columns of the others.
    suffix = "" if english and "question_translated" not in sheet.names else "_translated"
    question, answer = f"question{suffix}", f"answer{suffix}"
    sheet.require("id", question, answer, "neg_sample")
    rows: dict[str, Row] = {}
    for row in sheet.rows:
        name = question_id(row.texts["id"], where=row.where, column="id")
        if (other := rows.setdefault(name, row)) is not row:
            msg = (
                f"{row.where}: id {name} is already in row {other.number}; give each question its "
                "own"
            )
            raise DataError(msg)
    answers = {
        name: Cell(text=row.texts[answer], row=row.number, answer=name)
        for name, row in rows.items()
    }
    versions = {}
    for name, row in rows.items():
        wrong = _neg_sample(row.texts["neg_sample"], own=name, where=row.where)
        lost = [other for other in wrong if other not in answers]
        if lost:
            msg = (
                f"{row.where}: 'neg_sample' names question {lost[0]}, which this sheet does not "
                "have; add its row or take it out of the list"
            )
            raise DataError(msg)
        versions[name] = Version(
            question=Cell(text=row.texts[question], row=row.number),
            right=answers[name],
            wrong=tuple(answers[other] for other in wrong),
        )
    return versions


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
