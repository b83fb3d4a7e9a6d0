"""The questions of UPHILL, from the rows its authors release (Kaur et al., 2024)."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from pytest_xling.datasets.uphill.rows import missing_levels, uphill_file, uphill_questions
from pytest_xling.errors import DataError
from pytest_xling.languages import find
from pytest_xling.records import Sample

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pytest_xling.datasets.uphill.rows import UphillRow

__all__ = ["UphillReader"]

_ENGLISH = "en"


class UphillReader:
    """Reads UPHILL.csv, UPHILL.json, queries.csv and the like: a question for each claim and level.

    Rows that differ in the model and its response only are one question. Claims come in the
    file's order, the levels of each from neutral to demanding; a level that a claim lacks is left
    out, and ``notices`` tells how many.
    """

    name: ClassVar[str] = "uphill"

    @staticmethod
    def recognises(path: Path) -> bool:
        """Tell whether *path* is a table with "uphill" in its name, or called ``queries.csv``.

        Or a folder with such a file, or with one in its ``data``. Tables are .csv, .tsv or .json,
        and .jsonl where the file itself is named.
        """
        return uphill_file(path) is not None

    @staticmethod
    def languages(path: Path) -> tuple[str, ...]:  # noqa: ARG004  the layout has one only
        """Return the code of English, which all of UPHILL is in."""
        return (_ENGLISH,)

    @staticmethod
    def read(path: Path, *, benchmark: str, languages: Sequence[str]) -> list[Sample]:
        """Return the questions.

        Raises:
            DataError: names the file, the line or row, the column and the fix.
        """
        file = _file(path)
        codes = {find(language).code for language in languages}
        if other := sorted(codes - {_ENGLISH}):
            msg = f"{file}: UPHILL is in English only; leave {', '.join(other)} out"
            raise DataError(msg)
        return [
            _sample(row, benchmark=benchmark)
            for levels in (uphill_questions(file) if codes else ())
            for row in levels
        ]

    @staticmethod
    def notices(path: Path, *, languages: Sequence[str]) -> list[str]:
        """Return how many claims lack levels.

        Raises:
            DataError: names the file, the line or row, the column and the fix.
        """
        return missing_levels(_file(path)) if languages else []


def _file(path: Path) -> Path:
    file = uphill_file(path)
    if file is None:
        msg = f"{path}: no table of UPHILL here; name its file, such as UPHILL.csv"
        raise DataError(msg)
    return file


def _sample(row: UphillRow, *, benchmark: str) -> Sample:
    level = str(row.level)
    return Sample(
        id=row.sample_id,
        benchmark=benchmark,
        language=_ENGLISH,
        prompt={
            "question": row.query,
            "claim": row.claim,
            "claim_english": row.claim,
            "level": level,
        },
        reference=row.veracity,
        parallel_id=row.claim_id,
        metadata={
            "set": row.veracity,  # --xling-limit takes turns between sets
            "veracity": row.veracity,
            "claim": row.claim,  # tables of stances name it
            "level": level,
            "source": "UPHILL",
        },
    )
