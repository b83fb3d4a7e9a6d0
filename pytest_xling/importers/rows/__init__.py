"""Tables of questions: a file per language, a column per language, or a column of languages.

Files are JSONL, CSV, TSV or Parquet, or a Hugging Face data set on disk or by name. A row needs a
question and nothing else::

    {"question": "…", "id": "q01", "parallel_id": "q01", "set": "agnostic", "category": "…",
     "source": "…", "reference": "…", "wrong": ["…", "…"], "question_english": "…"}

Further keys become metadata. An object ``prompt``, as ``xling import`` writes it, holds what else
templates name; the question may then be left out. Where the columns have other names, ``data:`` of
prompts.yaml says which are meant.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from pytest_xling.importers.rows.columns import languages_of, rows_in
from pytest_xling.importers.rows.places import recognised, varies
from pytest_xling.importers.rows.samples import Samples
from pytest_xling.importers.rows.scripts import Scripts
from pytest_xling.interfaces.importer import DataMap, Importer

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from pathlib import Path

    from pytest_xling.records import Sample

__all__ = ["Rows"]


@dataclass(frozen=True, slots=True)
class Rows(Importer):
    """Reads tables of questions."""

    name: ClassVar[str] = "rows"
    data: DataMap = field(default_factory=DataMap)
    _known: dict[object, tuple[str, ...]] = field(default_factory=dict, compare=False)
    """Languages of tables by path, size and time: a large one is read for them once."""

    def mapped(self, data: DataMap) -> Rows:
        """Return the importer that reads as *data* says."""
        return Rows(data)

    def recognises(self, path: Path) -> bool:
        """Tell whether *path* is a table, or a folder with tables called like languages."""
        return recognised(path)

    def languages(self, path: Path) -> tuple[str, ...]:
        """Return the codes of the languages *path* has rows in, sorted.

        Raises:
            ConfigError: what reads the format is not installed.
            DataError: names the file, the line, the column and the fix.
        """
        at = path.stat() if path.is_file() else None
        if at is None:
            return languages_of(path, self.data)
        key = path, at.st_size, at.st_mtime_ns
        if key not in self._known:
            self._known[key] = languages_of(path, self.data)
        return self._known[key]

    def questions(
        self, path: Path, *, languages: Collection[str] | None = None
    ) -> Iterator[Sample]:
        """Yield the questions in *languages*, each language's in data order.

        Raises:
            ConfigError: what reads the format is not installed.
            DataError: names the file, the line, the column and the fix.
        """
        codes = self.languages(path) if languages is None else languages
        samples = Samples(pair=self.data.pair, columns_named=bool(self.data.columns))
        scripts = {code: Scripts(language=code) for code in codes}
        for row in rows_in(path, self.data, [*codes]):
            scripts[row.language].add(row)
            yield samples.sample(row)
        if not varies(self.data.columns.get("question")):
            samples.check_lines()
        for each in scripts.values():
            each.check()

    def notices(self, path: Path, *, languages: Sequence[str]) -> list[str]:
        """Say which questions are in another script than their language.

        Raises:
            ConfigError: what reads the format is not installed.
            DataError: names the file, the line, the column and the fix.
        """
        scripts = {code: Scripts(language=code) for code in languages}
        for row in rows_in(path, self.data, [*scripts]):
            scripts[row.language].add(row)
            if all(each.enough for each in scripts.values()):
                break
        notices = [each.notice() for each in scripts.values() if each.others]
        if self.data.hub and not self.data.revision:
            notices.append(f"{self.data.hub}: no revision is named; another day's may differ")
        return notices
