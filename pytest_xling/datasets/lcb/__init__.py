"""The prompts of the Language Confusion Benchmark (Marchisio et al., 2024)."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from pytest_xling.datasets.lcb.layout import Question, questions, sets_beside
from pytest_xling.errors import DataError
from pytest_xling.languages import find
from pytest_xling.records import Sample

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

__all__ = ["LcbReader"]

_ENGLISH = "en"


class LcbReader:
    """Reads a clone of github.com/for-ai/language-confusion, its test sets packed or not.

    The language of a sample is that of its answer. Monolingual prompts are in it; cross-lingual
    ones are in English, the same in all languages, and say in which language to answer. The
    metadata have the setting as ``set``, the dataset as ``source`` and the prompt's language as
    ``asked_in``.
    """

    name: ClassVar[str] = "lcb"

    @staticmethod
    def recognises(path: Path) -> bool:
        """Tell whether *path* is a folder with ``test_sets`` or ``test_sets.zip``."""
        return path.is_dir() and sets_beside(path) == path

    @staticmethod
    def languages(path: Path) -> tuple[str, ...]:
        """Return the codes of the languages of answers, sorted.

        Raises:
            DataError: names the file, the line, the column and the fix.
        """
        return tuple(sorted({question.language for question in questions(path)}))

    @staticmethod
    def read(path: Path, *, benchmark: str, languages: Sequence[str]) -> list[Sample]:
        """Return the samples to be answered in *languages*, language by language, in data order.

        Raises:
            DataError: names the file, the line, the column and the fix.
        """
        every = questions(path)
        samples: list[Sample] = []
        for code in dict.fromkeys(find(language).code for language in languages):
            of_language = [question for question in every if question.language == code]
            if not of_language:
                known = ", ".join(sorted({question.language for question in every}))
                msg = f"{path}: no prompt for answers in {code!r}. There are some for: {known}"
                raise DataError(msg)
            samples += (_sample(question, benchmark=benchmark) for question in of_language)
        return samples


def _sample(question: Question, *, benchmark: str) -> Sample:
    crosslingual = question.setting == "crosslingual"
    return Sample(
        id=question.id,
        benchmark=benchmark,
        language=question.language,
        prompt={"question": question.prompt},
        parallel_id=question.id if crosslingual else None,
        metadata={
            "set": question.setting,
            "source": question.source,
            "asked_in": _ENGLISH if crosslingual else question.language,
        },
    )
