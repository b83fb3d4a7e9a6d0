"""The Language Confusion Benchmark's own layout: ``test_sets/{setting}/{dataset}/{language}.csv``.

A clone of github.com/for-ai/language-confusion has them in ``test_sets.zip``.
"""

from __future__ import annotations

import zipfile
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pytest_xling.errors import ConfigError, DataError, did_you_mean
from pytest_xling.files.strict_json import plain_name, require_text
from pytest_xling.files.tables import table_rows
from pytest_xling.languages import find

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from pytest_xling.files.tables import Place, TableFile
    from pytest_xling.keys import JsonValue

SETTINGS: Final = ("crosslingual", "monolingual")
_FOLDER: Final = "test_sets"
_COLUMNS: Final = ("prompt", "source", "language")


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One prompt of the benchmark."""

    id: str
    setting: str
    """``crosslingual``: an English prompt that says in which language to answer."""
    source: str
    language: str
    """Of the answer, a code."""
    prompt: str


def sets_beside(path: Path) -> Path | None:
    """Return the clone whose test sets *path* belongs to: itself, or the folder of its outputs."""
    for folder in (path, *path.parents[:2]):
        if (folder / _FOLDER).is_dir() or (folder / f"{_FOLDER}.zip").is_file():
            return folder
    return None


def questions(clone: Path) -> list[Question]:
    """Return the prompts of all settings, datasets and languages, in the order of their files.

    Raises:
        DataError: names the file, the line, the column and the fix.
    """
    found: list[Question] = []
    for setting, file in _files(clone):
        for number, (place, cells) in enumerate(table_rows(file, required=_COLUMNS)):
            source, language = row_of(cells, place)
            prompt = require_text(cells["prompt"], where=str(place), key="prompt")
            name = sample_id(setting, source, str(number))
            found.append(
                Question(id=name, setting=setting, source=source, language=language, prompt=prompt)
            )
    return found


def _files(clone: Path) -> list[tuple[str, TableFile]]:
    """Return the files of the test sets with their settings, sorted by dataset and language."""
    unpacked, packed = clone / _FOLDER, clone / f"{_FOLDER}.zip"
    try:
        root: TableFile = unpacked
        if packed.is_file() and not unpacked.is_dir():
            root = zipfile.Path(packed) / _FOLDER
        files = [
            (setting, file)
            for setting in SETTINGS
            for dataset in _inside(root / setting)
            for file in _inside(dataset)
            if file.name.endswith(".csv")
        ]
    except (OSError, zipfile.BadZipFile) as error:
        msg = f"{packed}: cannot be read ({error}); fetch it again, or unpack it beside itself"
        raise DataError(msg) from error
    if not files:
        msg = (
            f"{clone}: no test sets of the Language Confusion Benchmark; expected such as "
            f"{_FOLDER}/{SETTINGS[0]}/okapi/fr.csv, or {_FOLDER}.zip with it"
        )
        raise DataError(msg)
    return files


def _inside(folder: TableFile) -> list[TableFile]:
    """Return what is in *folder*, sorted; nothing where it is no folder."""
    entries: list[TableFile] = [*folder.iterdir()] if folder.is_dir() else []
    return sorted(entries, key=str)


def row_of(cells: Mapping[str, JsonValue], place: Place) -> tuple[str, str]:
    """Return the source of a row and the code of its language.

    Raises:
        DataError: one of them is not there, or we do not know that language.
    """
    source = require_text(cells["source"], where=str(place), key="source").strip()
    language = require_text(cells["language"], where=str(place), key="language").strip()
    try:
        return source, find(language).code
    except ConfigError as error:
        msg = f"{place}: column 'language': {error}"
        raise DataError(msg) from error


def sample_id(setting: str, source: str, number: str) -> str:
    """Return what the *number*-th question of a dataset is called in all languages."""
    return plain_name(f"{setting}-{source}-{number:>03}")


def setting_of(text: str, place: Place) -> str:
    """Return the setting that the column ``task`` of an output names.

    Raises:
        DataError: it names none.
    """
    if text.strip() in SETTINGS:
        return text.strip()
    msg = (
        f"{place}: column 'task' is {text!r}, and must be {' or '.join(SETTINGS)}."
        f"{did_you_mean(text, SETTINGS)}"
    )
    raise DataError(msg)
