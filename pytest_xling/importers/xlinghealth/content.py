"""An XLingHealth file in either layout, parsed once however often it is asked for."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from pytest_xling.errors import DataError
from pytest_xling.files.tables import files_at
from pytest_xling.importers.xlinghealth.multisheet import is_multisheet, multisheet_questions
from pytest_xling.importers.xlinghealth.question import Content
from pytest_xling.importers.xlinghealth.singlesheet import is_singlesheet, singlesheet_questions
from pytest_xling.importers.xlinghealth.workbook import read_sheets

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytest_xling.importers.xlinghealth.question import Question
    from pytest_xling.importers.xlinghealth.workbook import Sheet


def workbooks(path: Path) -> list[Path]:
    """Return *path* if its name is a workbook's, or the workbooks in the folder *path*, sorted."""
    return files_at(path, _is_workbook, folders=("",))


def _is_workbook(path: Path) -> bool:
    # Excel puts a ~$ file beside a workbook that is open.
    return path.suffix.casefold() == ".xlsx" and not path.name.startswith((".", "~$"))


def content(path: Path) -> Content:
    """Return what *path*, a workbook or a folder with one, holds.

    Raises:
        DataError: names the file, and the sheet, row or column.
    """
    files = workbooks(path)
    if len(files) != 1:
        names = ", ".join(file.name for file in files)
        msg = f"{path}: holds {names}; name one of them" if files else f"{path}: no .xlsx file here"
        raise DataError(msg)
    stat = files[0].stat()
    return _parsed(files[0], stat.st_mtime_ns, stat.st_size)


# A session asks for languages, samples and notices, and so do three benchmarks with the same data.
@lru_cache(maxsize=4)
def _parsed(file: Path, _mtime_ns: int, _size: int) -> Content:
    questions = tuple(_questions(file, read_sheets(file)))
    if not questions:
        msg = f"{file}: no questions below the header; take the file again from where it came"
        raise DataError(msg)
    languages = {code for question in questions for code in question.versions}
    return Content(file=file, languages=tuple(sorted(languages)), questions=questions)


def _questions(file: Path, sheets: tuple[Sheet, ...]) -> Iterator[Question]:
    single = [sheet for sheet in sheets if is_singlesheet(sheet)]
    if len(single) > 1:
        titles = " and ".join(repr(sheet.title) for sheet in single)
        msg = f"{file}: sheets {titles} both hold candidate answers; keep one"
        raise DataError(msg)
    if single:
        return singlesheet_questions(single[0])
    multi = [sheet for sheet in sheets if is_multisheet(sheet)]
    if multi:
        return multisheet_questions(multi)
    seen = "; ".join(f"{sheet.title!r} has {', '.join(sheet.header)}" for sheet in sheets)
    msg = (
        f"{file}: not XLingHealth's columns: expected one sheet with id, label, answer_ids, "
        "question_English, answer_English, … or a sheet for each language with id, "
        f"question_translated, answer_translated, neg_sample. Sheet {seen or 'none'}"
    )
    raise DataError(msg)
