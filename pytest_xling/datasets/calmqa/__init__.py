"""The questions of a CaLMQA checkout, or of its ``data/datasets`` folder."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from pytest_xling.datasets.calmqa.layout import Entry, entries, files_by_language, folder
from pytest_xling.errors import DataError
from pytest_xling.languages import find
from pytest_xling.records import Sample

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

__all__ = ["CalmqaReader"]


class CalmqaReader:
    """Reads CaLMQA as its authors publish it (Arora et al., 2024).

    Agnostic questions share their id over languages (``non_cultural-0``); a checkout with held-out
    questions does not have every one in every language. Human answers become references, and
    English translations ``question_english``.
    """

    name: ClassVar[str] = "calmqa"

    @staticmethod
    def recognises(path: Path) -> bool:
        """Tell whether *path* or its ``data/datasets`` folder holds CaLMQA's files."""
        return folder(path) is not None

    @staticmethod
    def languages(path: Path) -> tuple[str, ...]:
        """Return the codes of the languages *path* has data for, sorted.

        Raises:
            DataError: not a checkout, or a file of a language we do not know.
        """
        return tuple(files_by_language(path))

    @staticmethod
    def read(path: Path, *, benchmark: str, languages: Sequence[str]) -> list[Sample]:
        """Return the samples of *languages*, agnostic before specific, in data order.

        Raises:
            DataError: names the file, the entry and the key.
        """
        files = files_by_language(path)
        samples: list[Sample] = []
        for code in dict.fromkeys(find(language).code for language in languages):
            if code not in files:
                english = find(code).english_name.lower()
                msg = (
                    f"{folder(path)}: no dataset-agnostic-{english}.json nor "
                    f"dataset-specific-{english}.json. There is data for: {', '.join(files)}"
                )
                raise DataError(msg)
            for file in files[code]:
                samples += (_sample(entry, benchmark=benchmark) for entry in entries(file))
        return samples


def _sample(entry: Entry, *, benchmark: str) -> Sample:
    prompt, metadata = {"question": entry.question}, {"set": entry.set, **entry.facts}
    if entry.english is not None:
        prompt["question_english"] = metadata["english"] = entry.english
    human = [answer.text for answer in entry.answers if answer.model == "Human"]
    return Sample(
        id=entry.id,
        benchmark=benchmark,
        language=entry.language,
        prompt=prompt,
        reference=human[0] if human else None,
        parallel_id=entry.id if entry.set == "agnostic" else None,
        metadata=metadata,
    )
