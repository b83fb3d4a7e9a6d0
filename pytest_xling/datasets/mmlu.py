"""Questions of MMLU and of tables like it, asked openly: the options are not shown.

A row has a question, its options A to D and the letter of the right one (Hendrycks et al., 2020).
*Found in Translation* asks such questions for information, in a free text.
"""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Final

from pytest_xling.errors import ConfigError, DataError
from pytest_xling.files.strict_json import plain_name, require_text
from pytest_xling.files.tables import table_rows
from pytest_xling.languages import find
from pytest_xling.records import Sample

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from pytest_xling.files.tables import Place
    from pytest_xling.keys import JsonValue

_OPTIONS: Final = ("A", "B", "C", "D")
_COLUMNS: Final = ("question", *_OPTIONS, "answer")
_SUFFIXES: Final = (".csv", ".tsv")
_PREFIX: Final = re.compile(r"(?i)^.*mmlu[-_. ]*")
_NEEDS_OPTIONS: Final = re.compile(r"(?i)\bof (?:the following|these)\b|__")
"""What an English question says that cannot be answered without its options."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    place: Place
    id: str
    """Fit for a case id; empty where the file names none."""
    language: str
    question: str
    options: tuple[str, ...]
    right: int
    """Where the right one stands among the options."""
    subject: str


class MmluReader:
    """Reads MMLU-like CSV or TSV: ``question, A, B, C, D, answer``, with such a head or without.

    The language of a row is in a column ``language`` or, without one, in the file's name:
    ``hi.csv``, ``mmlu_hi.csv``, ``mmlu_HI-IN.csv``. Columns ``id`` and ``subject`` may be there,
    too. Without ``id`` the n-th rows of all languages are one question; their right letters must be
    the same.
    """

    name: ClassVar[str] = "mmlu"

    @staticmethod
    def recognises(path: Path) -> bool:
        """Tell whether *path* is a table named after MMLU or a language, or has such ones.

        In itself or in its ``data``. One that is named after a language alone has options A to D.
        """
        files = _files(path)
        return any(_PREFIX.match(file.stem) for file in files) or any(map(_has_options, files[:1]))

    @staticmethod
    def languages(path: Path) -> tuple[str, ...]:
        """Return the codes of the languages there are questions in, sorted.

        Raises:
            DataError: names the file, the line, the column and the fix.
        """
        return tuple(sorted(_questions(path)))

    @staticmethod
    def read(path: Path, *, benchmark: str, languages: Sequence[str]) -> list[Sample]:
        """Return the questions in *languages*, language by language, in data order.

        Raises:
            DataError: names the file, the line, the column and the fix.
        """
        questions = _questions(path)
        samples: list[Sample] = []
        for code in dict.fromkeys(find(language).code for language in languages):
            if code not in questions:
                msg = (
                    f"{path}: no question is in {code!r}; add {code}.csv, or leave {code!r} out. "
                    f"There is data for: {', '.join(sorted(questions))}"
                )
                raise DataError(msg)
            samples += (_sample(row, benchmark=benchmark) for row in questions[code].values())
        return samples

    @staticmethod
    def notices(path: Path, *, languages: Sequence[str]) -> list[str]:  # noqa: ARG004  English tells
        """Say how many questions speak of options, which nobody is shown.

        Raises:
            DataError: names the file, the line, the column and the fix.
        """
        english = _questions(path).get("en", {}).values()
        lacking = [row for row in english if _NEEDS_OPTIONS.search(row.question)]
        if not lacking:
            return []
        some = f"{len(lacking)} of {len(english)} questions, such as {lacking[0].id!r}"
        return [f"{path.name}: {some}, speak of options, which are not shown"]


def _files(path: Path) -> list[Path]:
    if path.is_file():
        return [path] if _is_ours(path) else []
    for folder in (path / "data", path):
        try:
            files = sorted(file for file in folder.iterdir() if _is_ours(file))
        except OSError:
            continue
        if files:
            return files
    return []


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


def _questions(path: Path) -> dict[str, dict[str, _Row]]:
    """Return by language and id all questions, the languages in the files' order."""
    files = _files(path)
    if not files:
        msg = f"{path}: no table here; expected such as en.csv or mmlu_en.csv"
        raise DataError(msg)
    questions: dict[str, dict[str, _Row]] = {}
    for file in files:
        language = _named_language(file)
        for place, cells in table_rows(file, required=_COLUMNS, headless=_COLUMNS):
            row = _row(place, {name.casefold(): cell for name, cell in cells.items()}, language)
            here = questions.setdefault(row.language, {})
            name = row.id or f"q{len(here) + 1:04}"
            if name in here:
                msg = (
                    f"{place}: id {name!r} in {row.language!r} is already at {here[name].place}; "
                    "give each question of a language its own id"
                )
                raise DataError(msg)
            here[name] = replace(row, id=name)
    _check_parallel(questions)
    return questions


def _row(place: Place, cells: Mapping[str, JsonValue], language: str | None) -> _Row:
    """Return the row of *cells*, in the language that its file's name tells."""
    where = str(place)
    if "language" in cells:
        language = _code(require_text(cells["language"], where=where, key="language"), where=where)
    if language is None:
        msg = (
            f"{where}: column 'language' is missing, and the file's name is that of no language; "
            "add the column, or rename the file to such as hi.csv or mmlu_hi.csv"
        )
        raise DataError(msg)
    question, *options = (
        require_text(cells[key.casefold()], where=where, key=key).strip() for key in _COLUMNS[:-1]
    )
    name, subject = (plain_name(str(cells.get(key, "")).strip()) for key in ("id", "subject"))
    return _Row(
        place=place,
        id=name,
        language=language,
        question=question,
        options=tuple(options),
        right=_right(str(cells["answer"]), where=where),
        subject=subject,
    )


def _code(language: str, *, where: str) -> str:
    try:
        return find(language).code
    except ConfigError as error:
        msg = f"{where}: key 'language': {error}"
        raise DataError(msg) from error


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


def _check_parallel(questions: Mapping[str, Mapping[str, _Row]]) -> None:
    """Refuse languages whose rows are not the same questions, as their right letters tell."""
    first: dict[str, _Row] = {}
    for row in (row for rows in questions.values() for row in rows.values()):
        other = first.setdefault(row.id, row)
        if other.right != row.right:
            msg = (
                f"{row.place}: question {row.id!r} has the answer {_OPTIONS[row.right]} in "
                f"{row.language!r}, and {_OPTIONS[other.right]} in {other.language!r} at "
                f"{other.place}; correct it, or the order of rows, or name them in a column 'id'"
            )
            raise DataError(msg)


def _sample(row: _Row, *, benchmark: str) -> Sample:
    reference = row.options[row.right]
    return Sample(
        id=row.id,
        benchmark=benchmark,
        language=row.language,
        prompt={"question": row.question},
        reference=reference,
        wrong=tuple(text for text in dict.fromkeys(row.options) if text != reference),
        parallel_id=row.id,
        # --xling-limit takes turns between sets.
        metadata={"set": row.subject or "information", "source": "MMLU"},
    )
