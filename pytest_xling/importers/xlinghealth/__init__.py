"""The questions of XLingHealth (Jin et al., 2024, *Better to Ask in English*), from its xlsx files.

Both layouts that its authors published: one sheet with a row for each candidate answer, and a sheet
for each language. HealthQA, which they do not distribute, has the same shape with more wrong
answers.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, ClassVar

from pytest_xling.errors import DataError
from pytest_xling.importers.xlinghealth.content import content, workbooks
from pytest_xling.interfaces.importer import Importer
from pytest_xling.records import Sample

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from pathlib import Path

    from pytest_xling.importers.xlinghealth.question import Content, Question

__all__ = ["XLingHealth"]


class XLingHealth(Importer):
    """Reads LiveQA.xlsx, MedicationQA.xlsx and files like them.

    A question is left out in a language where it or its right answer is blank. A blank wrong answer
    stays as an empty text, so that the others keep their places; those that repeat another answer
    of their question are left out in all languages. ``notices`` tells.
    """

    name: ClassVar[str] = "xlinghealth"

    def recognises(self, path: Path) -> bool:
        """Tell whether *path* is called like a workbook, or is a folder with one."""
        return bool(workbooks(path))

    def languages(self, path: Path) -> tuple[str, ...]:
        """Return the codes of the languages *path* has columns or sheets for, sorted."""
        return content(path).languages

    def questions(
        self, path: Path, *, languages: Collection[str] | None = None
    ) -> Iterator[Sample]:
        """Yield the questions in the file's order, language by language."""
        held = content(path)
        for code in held.languages if languages is None else languages:
            complete = [pair for pair in held.versions(code) if pair[1].complete]
            if not complete and code in held.languages:
                msg = (
                    f"{held.file}: every question in {code!r} is blank or lacks its right answer; "
                    "leave the language out"
                )
                raise DataError(msg)
            yield from (_sample(question, language=code, content=held) for question, _ in complete)

    def notices(self, path: Path, *, languages: Sequence[str]) -> list[str]:
        """Return what is blank, repeated or not in its language's script, a line for each kind."""
        from pytest_xling.importers.xlinghealth.oddities import oddities  # noqa: PLC0415  imports regex

        return list(oddities(content(path), languages=languages))


def _sample(question: Question, *, language: str, content: Content) -> Sample:
    version = question.versions[language]
    name = f"q{question.id:>04}"
    return Sample(
        id=name,
        benchmark="",
        language=language,
        prompt={"question": version.question.text},
        reference=version.right.text,
        wrong=tuple(cell.text for cell in version.wrong if cell.answer not in question.repeated),
        parallel_id=name,
        metadata={"set": re.sub(r"[^A-Za-z0-9_.-]+", "-", content.file.stem)},
    )
