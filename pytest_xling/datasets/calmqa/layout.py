"""CaLMQA's own layout: ``dataset-{agnostic,specific}-{language}.json`` in ``data/datasets``.

A file holds ``{"entries": [{"question": {…}, "answers": […]}]}`` (github.com/2015aroras/CaLMQA).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from pytest_xling.errors import ConfigError, DataError
from pytest_xling.files.strict_json import parse, read_text, require_name, require_text
from pytest_xling.languages import Language, find

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from pytest_xling.keys import JsonValue

_FILE = re.compile(r"dataset-(agnostic|specific)-([a-z]+)\.json")
# The question's type is a set of flags, of which one of these two tells its kind.
_FLAGS = {"agnostic": 2, "specific": 1}

_Object: TypeAlias = "dict[str, JsonValue]"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredAnswer:
    """An answer as stored; the text may be empty or the name of an API error."""

    model: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One question in one language with its stored answers."""

    id: str
    """The question's name with ``-`` for ``:``, such as ``non_cultural-0`` or ``hindi-12``."""
    language: str
    set: str
    question: str
    english: str | None
    """The question in English, where the file has it and the language is another."""
    facts: Mapping[str, str]
    """``category``, ``source`` and ``url``, where present."""
    answers: tuple[StoredAnswer, ...]


def folder(path: Path) -> Path | None:
    """Return the folder with the dataset files; None if neither *path* nor one in it is."""
    for candidate in (path / "data" / "datasets", path / "datasets", path):
        if any(_FILE.fullmatch(file.name) for file in candidate.glob("dataset-*.json")):
            return candidate
    return None


def files_by_language(path: Path) -> dict[str, list[Path]]:
    """Return the files of each language, sorted by code, the agnostic one first.

    Raises:
        DataError: not a CaLMQA checkout, or a language we do not know.
    """
    where = folder(path)
    if where is None:
        msg = (
            f"{path}: not a CaLMQA checkout; expected data/datasets/dataset-agnostic-english.json "
            "etc."
        )
        raise DataError(msg)
    files: dict[str, list[Path]] = {}
    for file in sorted(where.glob("dataset-*.json")):
        if _FILE.fullmatch(file.name):
            files.setdefault(_language(file).code, []).append(file)
    return dict(sorted(files.items()))


def entries(file: Path) -> Iterator[Entry]:
    """Yield the entries of one dataset file, in its order.

    Raises:
        DataError: names the file, the entry and the key.
    """
    document = _object(parse(read_text(file), where=str(file)), where=str(file))
    first: dict[str, int] = {}
    for index, raw in enumerate(_list(document, "entries", where=str(file))):
        where = f"{file}: entries[{index}]"
        entry = _entry(_object(raw, where=where), file=file, where=where)
        if entry.id in first:
            msg = f"{where}: the question's name is already that of entries[{first[entry.id]}]"
            raise DataError(msg)
        first[entry.id] = index
        yield entry


def _parts(file: Path) -> tuple[str, str]:
    match = _FILE.fullmatch(file.name)
    if match is None:
        msg = f"{file}: not named like dataset-agnostic-english.json"
        raise DataError(msg)
    return match[1], match[2]


def _language(file: Path) -> Language:
    try:
        return find(_parts(file)[1])
    except ConfigError as error:
        msg = f"{file}: the file's name ends in no known language: {error}"
        raise DataError(msg) from error


def _entry(raw: _Object, *, file: Path, where: str) -> Entry:
    kind, _ = _parts(file)
    language = _language(file)
    at = f"{where}.question"
    question = _object(raw.get("question"), where=at)
    flags = question.get("type")
    if not isinstance(flags, int) or not flags & _FLAGS[kind]:
        msg = f"{at}: type {flags!r} is not that of a culturally {kind} question"
        raise DataError(msg)
    name = require_text(question.get("name"), where=at, key="name").replace(":", "-")
    texts = _object(question.get("translations"), where=f"{at}.translations")
    facts = {
        key: require_text(question[key], where=at, key=key)
        for key in ("category", "source", "url")
        if question.get(key)
    }
    in_english = language.code != "en" and "English" in texts
    return Entry(
        id=require_name(name, where=at, key="name"),
        language=language.code,
        set=kind,
        question=_translation(texts, language.english_name, where=at),
        english=_translation(texts, "English", where=at) if in_english else None,
        facts=facts,
        answers=tuple(
            _answer(answer, language=language.english_name, where=f"{where}.answers[{index}]")
            for index, answer in enumerate(_list(raw, "answers", where=where))
        ),
    )


def _answer(raw: JsonValue, *, language: str, where: str) -> StoredAnswer:
    answer = _object(raw, where=where)
    state = _object(answer.get("prompting_state"), where=f"{where}.prompting_state")
    texts = _object(answer.get("translations"), where=f"{where}.translations")
    at = f"{where}.translations.{language}"
    text = _object(texts.get(language), where=at).get("text")
    if not isinstance(text, str):  # what a model wrote may be anything, but is a string
        msg = f"{at}: key 'text' must be a string; take this file from the checkout again"
        raise DataError(msg)
    return StoredAnswer(
        model=require_text(state.get("model_name"), where=where, key="model_name"), text=text
    )


def _translation(texts: _Object, language: str, *, where: str) -> str:
    at = f"{where}.translations.{language}"
    return require_text(_object(texts.get(language), where=at).get("text"), where=at, key="text")


def _object(value: JsonValue, *, where: str) -> _Object:
    if not isinstance(value, dict):
        msg = f"{where}: missing, or not a JSON object; take this file from the checkout again"
        raise DataError(msg)
    return value


def _list(value: _Object, key: str, *, where: str) -> list[JsonValue]:
    items = value.get(key)
    if not isinstance(items, list):
        msg = f"{where}: key {key!r} must be a list; take this file from the checkout again"
        raise DataError(msg)
    return items
