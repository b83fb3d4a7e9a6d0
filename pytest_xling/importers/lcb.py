"""The Language Confusion Benchmark (Marchisio et al., 2024), as its authors publish it.

A clone of github.com/for-ai/language-confusion has the prompts in ``test_sets.zip``, or unpacked in
``test_sets/{setting}/{dataset}/{language}.csv``, and the answers of models in ``outputs``.
"""

from __future__ import annotations

import zipfile
from collections import Counter
from typing import TYPE_CHECKING, ClassVar, Final

from pytest_xling.errors import DataError, did_you_mean
from pytest_xling.files.strict_json import plain_name, require_text
from pytest_xling.files.tables import table_rows
from pytest_xling.interfaces.importer import Answer, Importer
from pytest_xling.languages import require_language
from pytest_xling.records import Sample

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from pathlib import Path

    from pytest_xling.files.tables import Place, TableFile
    from pytest_xling.keys import JsonValue

_SETTINGS: Final = ("crosslingual", "monolingual")
_FOLDER: Final = "test_sets"
_PROMPTS: Final = ("prompt", "source", "language")
_OUTPUTS: Final = ("model", "completion", "task", "source", "language")
_NEXT_QUESTION: Final = "\nQ:"
"""Where a base model goes on with a question of its own; the benchmark's code cuts there, too."""
_CUT: Final = "cut where the model goes on with a question of its own"


class Lcb(Importer):
    """Reads a clone, its test sets packed or not; its ``outputs``, or a CSV file like those in it.

    The language of a question is that of its answer. Monolingual prompts are in it; cross-lingual
    ones are in English, the same in all languages, and say in which language to answer. The
    metadata have the setting as ``set``, the dataset as ``source`` and the prompt's language as
    ``asked_in``.
    """

    name: ClassVar[str] = "lcb"

    def recognises(self, path: Path) -> bool:
        """Tell whether *path* is a clone, or a file in its ``outputs``."""
        is_output = path.is_file() and path.parent.name == "outputs" and path.suffix == ".csv"
        clone = path.parent.parent if is_output else path
        return clone.is_dir() and _clone(clone) == clone

    def questions(
        self, path: Path, *, languages: Collection[str] | None = None
    ) -> Iterator[Sample]:
        """Yield the prompts of all settings, datasets and languages, in the order of their files.

        None of a file of answers that is in no clone.
        """
        del languages
        clone = _clone(path)
        if clone is None and path.is_file():
            return
        for setting, file in _files(clone or path):
            for number, (place, cells) in enumerate(table_rows(file, required=_PROMPTS)):
                source, language = _source(cells, place)
                name = _id(setting, source, str(number))
                crosslingual = setting == "crosslingual"
                prompt = require_text(cells["prompt"], where=str(place), key="prompt")
                yield Sample(
                    id=name,
                    benchmark="",
                    language=language,
                    prompt={"question": prompt},
                    parallel_id=name if crosslingual else None,
                    metadata={
                        "set": setting,
                        "source": source,
                        "asked_in": "en" if crosslingual else language,
                    },
                )

    def answers(self, path: Path) -> Iterator[Answer]:
        """Yield the answers in the files' order.

        The column ``id`` is the number of the prompt in its dataset and language, from 0; without
        it the rows are in that order.
        """
        outputs = path / "outputs" if (path / "outputs").is_dir() else path
        for file in [path] if path.is_file() else sorted(outputs.glob("*.csv")):
            numbers: Counter[tuple[str, ...]] = Counter()
            for place, cells in table_rows(file, required=_OUTPUTS):
                model = require_text(cells["model"], where=str(place), key="model").strip()
                setting = _setting(str(cells["task"]), place)
                source, language = _source(cells, place)
                number = str(cells.get("id", numbers[model, setting, source, language])).strip()
                numbers[model, setting, source, language] += 1
                text, cut, _ = str(cells["completion"]).partition(_NEXT_QUESTION)
                yield Answer(
                    place=str(place),
                    sample_id=_id(setting, source, number),
                    language=language,
                    model=model,
                    text=text if text.strip() else "",
                    repair=_CUT if cut else "",
                )


def _clone(path: Path) -> Path | None:
    """Return the clone whose test sets *path* belongs to: itself, or the folder of its outputs."""
    for folder in (path, *path.parents[:2]):
        if (folder / _FOLDER).is_dir() or (folder / f"{_FOLDER}.zip").is_file():
            return folder
    return None


def _files(clone: Path) -> list[tuple[str, TableFile]]:
    """Return the files of the test sets with their settings, sorted by dataset and language."""
    unpacked, packed = clone / _FOLDER, clone / f"{_FOLDER}.zip"
    try:
        root: TableFile = unpacked
        if packed.is_file() and not unpacked.is_dir():
            root = zipfile.Path(packed) / _FOLDER
        files = [
            (setting, file)
            for setting in _SETTINGS
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
            f"{_FOLDER}/{_SETTINGS[0]}/okapi/fr.csv, or {_FOLDER}.zip with it"
        )
        raise DataError(msg)
    return files


def _inside(folder: TableFile) -> list[TableFile]:
    """Return what is in *folder*, sorted; nothing where it is no folder."""
    entries: list[TableFile] = [*folder.iterdir()] if folder.is_dir() else []
    return sorted(entries, key=str)


def _source(cells: Mapping[str, JsonValue], place: Place) -> tuple[str, str]:
    """Return the source of a row and the code of its language."""
    source, language = (
        require_text(cells[key], where=str(place), key=key).strip()
        for key in ("source", "language")
    )
    return source, require_language(language, where=f"{place}: column 'language'").code


def _id(setting: str, source: str, number: str) -> str:
    """Return what the *number*-th question of a dataset is called in all languages."""
    return plain_name(f"{setting}-{source}-{number:>03}")


def _setting(text: str, place: Place) -> str:
    """Return the setting that the column ``task`` of an output names."""
    if text.strip() in _SETTINGS:
        return text.strip()
    msg = (
        f"{place}: column 'task' is {text!r}, and must be {' or '.join(_SETTINGS)}."
        f"{did_you_mean(text, _SETTINGS)}"
    )
    raise DataError(msg)
