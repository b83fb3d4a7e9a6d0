"""Questions of MMLU and of tables like it, asked openly: the options are not shown.

A row has a question, its options A to D and the letter of the right one (Hendrycks et al., 2020).
*Found in Translation* asks such questions for information, in a free text.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from typing import TYPE_CHECKING, ClassVar, Final

from pytest_xling.errors import ConfigError, DataError
from pytest_xling.files.strict_json import plain_name, require_text
from pytest_xling.files.tables import files_at, table_rows
from pytest_xling.interfaces.importer import Importer
from pytest_xling.languages import find, require_language
from pytest_xling.records import Sample

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from pytest_xling.files.tables import Place
    from pytest_xling.keys import JsonValue

_OPTIONS: Final = ("A", "B", "C", "D")
_COLUMNS: Final = ("question", *_OPTIONS, "answer")
_SUFFIXES: Final = (".csv", ".tsv")
_PREFIX: Final = re.compile(r"(?i)^.*mmlu[-_. ]*")
_NEEDS_OPTIONS: Final = re.compile(r"(?i)\bof (?:the following|these)\b|__")
"""What an English question says that cannot be answered without its options."""


class Mmlu(Importer):
    """Reads MMLU-like CSV or TSV: ``question, A, B, C, D, answer``, with such a head or without.

    The language of a row is in a column ``language`` or, without one, in the file's name:
    ``hi.csv``, ``mmlu_hi.csv``, ``mmlu_HI-IN.csv``. Columns ``id`` and ``subject`` may be there,
    too. Without ``id`` the n-th rows of all languages are one question; their right letters must be
    the same.
    """

    name: ClassVar[str] = "mmlu"

    def recognises(self, path: Path) -> bool:
        """Tell whether *path* is a table named after MMLU or a language, or has such ones.

        In itself or in its ``data``. One that is named after a language alone has options A to D.
        """
        files = files_at(path, _is_ours)
        return any(_PREFIX.match(file.stem) for file in files) or any(map(_has_options, files[:1]))

    def questions(
        self, path: Path, *, languages: Collection[str] | None = None
    ) -> Iterator[Sample]:
        """Yield the questions, without their options."""
        del languages
        files = files_at(path, _is_ours)
        if not files:
            msg = f"{path}: no table here; expected such as en.csv or mmlu_en.csv"
            raise DataError(msg)
        places: dict[tuple[str, str], Place] = {}
        numbers: Counter[str] = Counter()
        first: dict[str, tuple[int, str, Place]] = {}
        for file in files:
            named = _named_language(file)
            for place, row in table_rows(file, required=_COLUMNS, headless=_COLUMNS):
                cells = {name.casefold(): cell for name, cell in row.items()}
                language = _language(cells, named, where=str(place))
                numbers[language] += 1
                name = plain_name(str(cells.get("id", "")).strip()) or f"q{numbers[language]:04}"
                if (other := places.setdefault((language, name), place)) is not place:
                    msg = (
                        f"{place}: id {name!r} in {language!r} is already at {other}; give each "
                        "question of a language its own id"
                    )
                    raise DataError(msg)
                right = _right(str(cells["answer"]), where=str(place))
                _check_parallel(name, (right, language, place), first)
                yield _sample(name, language, right, cells, where=str(place))

    def notices(self, path: Path, *, languages: Sequence[str]) -> list[str]:
        """Say how many questions speak of options, which nobody is shown."""
        del languages  # English tells
        english = [each for each in self.questions(path) if each.language == "en"]
        lacking = [each for each in english if _NEEDS_OPTIONS.search(each.prompt["question"])]
        if not lacking:
            return []
        some = f"{len(lacking)} of {len(english)} questions, such as {lacking[0].id!r}"
        return [f"{path.name}: {some}, speak of options, which are not shown"]


def _is_ours(file: Path) -> bool:
    if file.suffix.lower() not in _SUFFIXES:
        return False
    return _PREFIX.match(file.stem) is not None or _named_language(file) is not None


def _has_options(file: Path) -> bool:
    """Tell whether the first row of *file* names the options, or is a question with its options."""
    try:
        with file.open(encoding="utf-8-sig", errors="replace", newline="") as lines:
            cells = next(csv.reader(lines, delimiter="\t" if file.suffix == ".tsv" else ","), [])
    except (OSError, csv.Error):
        return False
    names = {cell.strip().casefold() for cell in cells}
    headless = len(cells) == len(_COLUMNS) and "question" not in names
    return headless or {option.casefold() for option in _OPTIONS} <= names


def _named_language(file: Path) -> str | None:
    """Return the language that the name of *file* tells: of ``mmlu_HI-IN.csv`` Hindi."""
    name = _PREFIX.sub("", file.stem)
    for spelling in (name, name.partition("-")[0]):
        try:
            return find(spelling).code
        except ConfigError:
            continue
    return None


def _language(cells: Mapping[str, JsonValue], named: str | None, *, where: str) -> str:
    """Return the code of the language that a row or, as *named*, its file's name tells."""
    if "language" in cells:
        language = require_text(cells["language"], where=where, key="language")
        return require_language(language, where=f"{where}: key 'language'").code
    if named is None:
        msg = (
            f"{where}: column 'language' is missing, and the file's name is that of no language; "
            "add the column, or rename the file to such as hi.csv or mmlu_hi.csv"
        )
        raise DataError(msg)
    return named


def _right(text: str, *, where: str) -> int:
    letter = text.strip().upper()
    if letter in _OPTIONS:
        return _OPTIONS.index(letter)
    if letter in {"0", "1", "2", "3"}:
        return int(letter)
    msg = (
        f"{where}: key 'answer' is {text!r}, and must be A, B, C or D, or 0 to 3; correct it (if "
        f"this row is the head, its columns must be called {', '.join(_COLUMNS)})"
    )
    raise DataError(msg)


def _check_parallel(
    name: str, here: tuple[int, str, Place], first: dict[str, tuple[int, str, Place]]
) -> None:
    """Refuse languages whose rows are not the same questions, as their right letters tell."""
    right, language, place = here
    other, in_language, at = first.setdefault(name, here)
    if other != right:
        msg = (
            f"{place}: question {name!r} has the answer {_OPTIONS[right]} in {language!r}, and "
            f"{_OPTIONS[other]} in {in_language!r} at {at}; correct it, or the order of rows, or "
            "name them in a column 'id'"
        )
        raise DataError(msg)


def _sample(
    name: str, language: str, right: int, cells: Mapping[str, JsonValue], *, where: str
) -> Sample:
    question, *options = (
        require_text(cells[key.casefold()], where=where, key=key).strip() for key in _COLUMNS[:-1]
    )
    subject = plain_name(str(cells.get("subject", "")).strip())
    return Sample(
        id=name,
        benchmark="",
        language=language,
        prompt={"question": question},
        reference=options[right],
        wrong=tuple(text for text in dict.fromkeys(options) if text != options[right]),
        parallel_id=name,
        # --xling-limit takes turns between sets.
        metadata={"set": subject or "information", "source": "MMLU"},
    )
