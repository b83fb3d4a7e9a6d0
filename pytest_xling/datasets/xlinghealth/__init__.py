"""The questions of XLingHealth (Jin et al., 2024, *Better to Ask in English*), from its xlsx files.

Both layouts that its authors published: one sheet with a row for each candidate answer, and a sheet
for each language. HealthQA, which they do not distribute, has the same shape with more wrong
answers.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, ClassVar

from pytest_xling.datasets.xlinghealth.content import content, workbooks
from pytest_xling.datasets.xlinghealth.oddities import oddities
from pytest_xling.errors import DataError, did_you_mean
from pytest_xling.languages import find
from pytest_xling.records import Sample

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pytest_xling.datasets.xlinghealth.question import Content, Question

__all__ = ["XLingHealthReader"]


class XLingHealthReader:
    """Reads LiveQA.xlsx, MedicationQA.xlsx and files like them.

    A question is left out in a language where it or its right answer is blank. A blank wrong answer
    stays as an empty text, so that the others keep their places; those that repeat another answer
    of their question are left out in all languages. ``notices`` tells.
    """

    name: ClassVar[str] = "xlinghealth"

    @staticmethod
    def recognises(path: Path) -> bool:
        """Tell whether *path* is called like a workbook, or is a folder with one."""
        return bool(workbooks(path))

    @staticmethod
    def languages(path: Path) -> tuple[str, ...]:
        """Return the codes of the languages *path* has columns or sheets for, sorted.

        Raises:
            DataError: names the file, and the sheet, row or column.
        """
        return content(path).languages

    @staticmethod
    def read(path: Path, *, benchmark: str, languages: Sequence[str]) -> list[Sample]:
        """Return the samples of *languages*, language by language, in the file's order.

        Raises:
            DataError: names the file, and the sheet, row or column.
        """
        held = content(path)
        samples: list[Sample] = []
        for code in _codes(held, languages):
            complete = [
                _sample(question, benchmark=benchmark, language=code, content=held)
                for question, version in held.versions(code)
                if version.complete
            ]
            if not complete:
                msg = (
                    f"{held.file}: every question in {code!r} is blank or lacks its right answer; "
                    "leave the language out"
                )
                raise DataError(msg)
            samples += complete
        return samples

    @staticmethod
    def notices(path: Path, *, languages: Sequence[str]) -> list[str]:
        """Return what is blank, repeated or not in its language's script, a line for each kind.

        Raises:
            DataError: names the file, and the sheet, row or column.
        """
        held = content(path)
        return list(oddities(held, languages=_codes(held, languages)))


def _codes(held: Content, languages: Sequence[str]) -> list[str]:
    codes = list(dict.fromkeys(find(language).code for language in languages))
    for code in codes:
        if code not in held.languages:
            msg = (
                f"{held.file}: no data for {code!r}.{did_you_mean(code, held.languages)} "
                f"There is data for: {', '.join(held.languages)}"
            )
            raise DataError(msg)
    return codes


def _sample(question: Question, *, benchmark: str, language: str, content: Content) -> Sample:
    version = question.versions[language]
    name = f"q{question.id:>04}"
    return Sample(
        id=name,
        benchmark=benchmark,
        language=language,
        prompt={"question": version.question.text},
        reference=version.right.text,
        wrong=tuple(cell.text for cell in version.wrong if cell.answer not in question.repeated),
        parallel_id=name,
        metadata={"set": re.sub(r"[^A-Za-z0-9_.-]+", "-", content.file.stem)},
    )
