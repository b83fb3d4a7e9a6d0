"""Our own layout: a folder with one ``<language>.jsonl`` per language, or such a ``data`` folder.

A row is one question::

    {"id": "agnostic-q01", "set": "agnostic", "question": "…", "category": "…", "source": "…",
     "reference": "…", "wrong": ["…", "…"], "parallel_id": "agnostic-q01",
     "translation": "machine"}

``reference``, ``wrong`` (answers that are wrong or beside the point), ``parallel_id`` and
``question_english`` (for what reads question and answer in English) may be left out; further keys
with strings become metadata.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, ClassVar

from pytest_xling.errors import ConfigError, DataError, did_you_mean
from pytest_xling.files.strict_json import (
    numbered_lines,
    parse,
    require_name,
    require_text,
    unique_keys,
)
from pytest_xling.languages import find
from pytest_xling.records import Sample

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path
    from typing import TypeAlias

    from pytest_xling.keys import JsonValue

    _Known: TypeAlias = dict[tuple[tuple[str, str], ...], Mapping[str, str]]
    _Versions: TypeAlias = dict[str, tuple[str, Path, int]]

__all__ = ["JsonlReader"]

_REQUIRED = ("id", "set", "question", "category", "source")
_OPTIONAL = ("reference", "wrong", "parallel_id", "question_english")
_SETS = ("agnostic", "specific")

_decoder = json.JSONDecoder(object_pairs_hook=unique_keys)


class JsonlReader:
    """Reads folders of JSONL files, one file per language."""

    name: ClassVar[str] = "jsonl"

    @staticmethod
    def recognises(path: Path) -> bool:
        """Tell whether *path* or its ``data`` folder holds JSONL files."""
        return bool(_jsonl_files(path / "data") or _jsonl_files(path))

    @staticmethod
    def languages(path: Path) -> tuple[str, ...]:
        """Return the codes of the languages *path* has data for, sorted.

        Raises:
            DataError: no JSONL file, or one whose name is not a language.
        """
        return tuple(sorted(_files_by_language(path)))

    @staticmethod
    def read(path: Path, *, benchmark: str, languages: Sequence[str]) -> list[Sample]:
        """Return the samples of *languages*, language by language, in data order.

        Raises:
            DataError: names the file, the line and the fix.
        """
        files = _files_by_language(path)
        samples: list[Sample] = []
        versions: _Versions = {}
        for code in dict.fromkeys(find(language).code for language in languages):
            if code not in files:
                msg = (
                    f"{_folder(path) / code}.jsonl: no such file; write it or leave {code!r} out. "
                    f"There is data for: {', '.join(sorted(files))}"
                )
                raise DataError(msg)
            samples += _samples(files[code], benchmark=benchmark, language=code, versions=versions)
        return samples


def _jsonl_files(folder: Path) -> list[Path]:
    """Return the JSONL files of *folder*, sorted, without hidden ones; none if it is no folder."""
    try:
        return sorted(f for f in folder.glob("*.jsonl") if not f.name.startswith("."))
    except OSError:
        return []


def _folder(path: Path) -> Path:
    # A benchmark's own folder may hold other JSONL files beside data/, such as transcripts.
    return path / "data" if _jsonl_files(path / "data") else path


def _files_by_language(path: Path) -> dict[str, Path]:
    files: dict[str, Path] = {}
    for file in _jsonl_files(_folder(path)):
        try:
            code = find(file.stem).code
        except ConfigError as error:
            msg = f"{file}: the file's name must be a language's code: {error}"
            raise DataError(msg) from error
        if code in files:
            msg = f"{file}: {files[code].name} is in the same language ({code}); keep one"
            raise DataError(msg)
        files[code] = file
    if not files:
        msg = f"{path}: no data here; expected files such as en.jsonl or data/en.jsonl"
        raise DataError(msg)
    return files


def _samples(file: Path, *, benchmark: str, language: str, versions: _Versions) -> Iterator[Sample]:
    lines: dict[str, int] = {}
    known: _Known = {}
    for number, line in numbered_lines(file):
        where = f"{file}:{number}"
        sample = _sample(line, where=where, benchmark=benchmark, language=language, known=known)
        if sample.id in lines:
            msg = (
                f"{file}:{number}: id {sample.id!r} is already on line {lines[sample.id]}; "
                "give each question of a language its own id"
            )
            raise DataError(msg)
        lines[sample.id] = number
        # Gates pair by id and count by parallel_id, which is the id where none is given.
        shared = sample.parallel_id or sample.id
        other, elsewhere, line_there = versions.setdefault(sample.id, (shared, file, number))
        if shared != other:
            msg = (
                f"{where}: id {sample.id!r} has the parallel_id {shared!r} here and {other!r} in"
                f" {elsewhere}:{line_there}; versions of one question share both: give them the"
                " same parallel_id, or different questions an id each"
            )
            raise DataError(msg)
        yield sample


def _sample(line: str, *, where: str, benchmark: str, language: str, known: _Known) -> Sample:
    row = parse(line, where=where, decoder=_decoder)
    if not isinstance(row, dict):
        msg = f'{where}: each line must be one JSON object, such as {{"id": …, "question": …}}'
        raise DataError(msg)
    _check_keys(row, where=where)
    wrong = _wrong(row.pop("wrong"), where=where) if "wrong" in row else ()
    texts = {key: require_text(value, where=where, key=key) for key, value in row.items()}
    for key in ("id", "set", "parallel_id"):
        if key in row:
            require_name(row[key], where=where, key=key)
    _check_set(texts["set"], where=where)
    if texts.get("reference") in wrong:
        number = wrong.index(texts["reference"])
        msg = f"{where}: wrong[{number}] is the reference itself; an answer is one or the other"
        raise DataError(msg)
    prompt = {key: texts.pop(key) for key in ("question", "question_english") if key in texts}
    if "question_english" in prompt:
        # A run keeps the metadata, not the prompt.
        texts.setdefault("english", prompt["question_english"])
    return Sample(
        id=texts.pop("id"),
        benchmark=benchmark,
        language=language,
        prompt=prompt,
        reference=texts.pop("reference", None),
        wrong=wrong,
        parallel_id=texts.pop("parallel_id", None),
        # Many rows say the same, and every process of a run keeps all of them.
        metadata=known.setdefault(tuple(texts.items()), texts),
    )


def _wrong(value: JsonValue, *, where: str) -> tuple[str, ...]:
    """Return the wrong answers: a list of distinct texts with at least one."""
    if not isinstance(value, list):
        msg = f'{where}: key \'wrong\' must be a list of texts, such as ["…", "…"]'
        raise DataError(msg)
    if not value:
        msg = f"{where}: key 'wrong' is an empty list; write a wrong answer, or leave the key out"
        raise DataError(msg)
    texts = tuple(
        require_text(text, where=where, key=f"wrong[{number}]") for number, text in enumerate(value)
    )
    for number, text in enumerate(texts):
        if text in texts[:number]:
            msg = f"{where}: wrong[{number}] is wrong[{texts.index(text)}] again; keep one"
            raise DataError(msg)
    return texts


def _check_keys(row: dict[str, JsonValue], *, where: str) -> None:
    """Refuse a row that lacks a key, or has one that looks like a misspelling of an absent key."""
    absent = [key for key in (*_REQUIRED, *_OPTIONAL) if key not in row]
    for key in row.keys() - {*_REQUIRED, *_OPTIONAL}:
        if suggestion := did_you_mean(key.strip().casefold(), absent):
            msg = f"{where}: unknown key {key!r}.{suggestion}"
            raise DataError(msg)
        require_name(key, where=where, key=key)
    missing = [key for key in _REQUIRED if key not in row]
    if missing:
        msg = f"{where}: key {missing[0]!r} is missing; every row needs {', '.join(_REQUIRED)}"
        raise DataError(msg)


def _check_set(name: str, *, where: str) -> None:
    # Other sets are welcome, but a near miss would silently drop the row from the paper's tables.
    suggestion = did_you_mean(name.casefold(), _SETS)
    if suggestion and name not in _SETS:
        msg = f"{where}: unknown set {name!r}.{suggestion}"
        raise DataError(msg)
