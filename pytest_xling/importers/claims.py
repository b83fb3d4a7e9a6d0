"""Our own layout of claims: ``claims.jsonl``, one claim a line, with all its languages.

A row is one claim::

    {"id": "c01", "veracity": "false", "category": "nutrition", "source": "WHO: …", "reason": "…",
     "texts": {"en": {"claim": "…", "question": "…", "topic": "…"}, "hi": {…}},
     "machine": ["hi"]}

``claim`` is a clause without a final mark, as it stands after "that"; ``question`` a complete
question; ``topic`` a noun phrase that names the claim. ``machine``, which may be left out, lists
the languages whose texts a machine translated. All claims have the same languages.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from pytest_xling.errors import DataError, did_you_mean
from pytest_xling.files.strict_json import (
    numbered_lines,
    parse,
    require_name,
    require_text,
    unique_keys,
)
from pytest_xling.files.tables import files_at
from pytest_xling.interfaces.importer import Importer
from pytest_xling.languages import require_language
from pytest_xling.records import Sample
from pytest_xling.text.stance import require_veracity

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from pytest_xling.keys import JsonValue
    from pytest_xling.text.stance import Veracity

_REQUIRED = ("id", "veracity", "category", "source", "reason", "texts")
_KEYS = (*_REQUIRED, "machine")
_FORMS = ("claim", "question", "topic")
_MARK = re.compile(r"[.,:;!?…。，、：；！？।॥۔،؛؟]['\"”’»)\]」』]*$")
"""A mark that ends a sentence or a part of one, and what may close behind it."""

_decoder = json.JSONDecoder(object_pairs_hook=unique_keys)


@dataclass(frozen=True, slots=True, kw_only=True)
class Forms:
    """A claim in one language, in the forms that templates need."""

    claim: str
    """A clause, as it stands after "that"."""
    question: str
    topic: str
    """A noun phrase."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimRow:
    """A claim as the file has it."""

    id: str
    veracity: Veracity
    category: str
    source: str
    reason: str
    texts: Mapping[str, Forms]
    """By the codes of the languages."""
    machine: frozenset[str]
    """Codes of the languages whose texts a machine translated."""


def claim_row(line: str, *, where: str) -> ClaimRow:
    """Read one line.

    Raises:
        DataError: *where*, which key is wrong and the fix.
    """
    row = parse(line, where=where, decoder=_decoder)
    if not isinstance(row, dict):
        msg = f'{where}: each line must be one JSON object, such as {{"id": …, "texts": …}}'
        raise DataError(msg)
    _check_keys(row, known=_KEYS, required=_REQUIRED, where=where)
    name = require_name(row["id"], where=where, key="id")
    texts = _texts(row["texts"], where=f"{where}: claim {name!r}")
    return ClaimRow(
        id=name,
        veracity=require_veracity(row["veracity"], where=where, key="veracity"),
        category=require_text(row["category"], where=where, key="category"),
        source=require_text(row["source"], where=where, key="source"),
        reason=require_text(row["reason"], where=where, key="reason"),
        texts=texts,
        machine=_machine(row.get("machine", []), texts, where=f"{where}: claim {name!r}"),
    )


def _check_keys(
    row: dict[str, JsonValue], *, known: Iterable[str], required: Iterable[str], where: str
) -> None:
    for key in row:
        if key not in known:
            suggestion = did_you_mean(key.strip().casefold(), known)
            msg = f"{where}: unknown key {key!r}.{suggestion} Known: {', '.join(known)}"
            raise DataError(msg)
    for key in required:
        if key not in row:
            msg = f"{where}: key {key!r} is missing; it needs {', '.join(required)}"
            raise DataError(msg)


def _texts(value: JsonValue, *, where: str) -> dict[str, Forms]:
    if not isinstance(value, dict) or not value:
        msg = (
            f"{where}: key 'texts' must be an object with a language or more, such as "
            '{"en": {"claim": …, "question": …, "topic": …}}'
        )
        raise DataError(msg)
    texts: dict[str, Forms] = {}
    for language, forms in value.items():
        code = require_language(language, where=f"{where}: key 'texts'").code
        if code in texts:
            msg = f"{where}: key 'texts' has the language {code!r} twice; keep one"
            raise DataError(msg)
        texts[code] = _forms(forms, where=f"{where} in {language!r}")
    return texts


def _forms(value: JsonValue, *, where: str) -> Forms:
    if not isinstance(value, dict):
        msg = f'{where}: must be an object such as {{"claim": …, "question": …, "topic": …}}'
        raise DataError(msg)
    _check_keys(value, known=_FORMS, required=_FORMS, where=where)
    claim, question, topic = (require_text(value[key], where=where, key=key) for key in _FORMS)
    for key, text in (("claim", claim), ("topic", topic)):
        if mark := _MARK.search(text.rstrip()):
            msg = (
                f"{where}: key {key!r} ends in {mark.group()!r}, but goes into the middle of "
                f"sentences: {text!r}; remove the mark"
            )
            raise DataError(msg)
    return Forms(claim=claim.strip(), question=question.strip(), topic=topic.strip())


def _machine(value: JsonValue, texts: Mapping[str, Forms], *, where: str) -> frozenset[str]:
    if not isinstance(value, list) or not all(isinstance(language, str) for language in value):
        msg = f"{where}: key 'machine' must be a list of languages, such as [\"hi\"]"
        raise DataError(msg)
    at = f"{where}: key 'machine'"
    codes = [require_language(str(language), where=at).code for language in value]
    for code in codes:
        if code not in texts:
            msg = (
                f"{where}: key 'machine' names {code!r}, in which the claim has no text; it has: "
                f"{', '.join(texts)}"
            )
            raise DataError(msg)
    return frozenset(codes)


_FILE = "claims.jsonl"
_ENGLISH = "en"


class Claims(Importer):
    """Reads claims with their veracity, to be asked about at levels of presupposition (UPHILL)."""

    name: ClassVar[str] = "claims"

    def recognises(self, path: Path) -> bool:
        """Tell whether *path* is called ``claims.jsonl``, or is a folder with one, or its ``data``.

        A file may have something before that: ``my-claims.jsonl``.
        """
        return bool(files_at(path, _is_named if path.is_file() else _is_called))

    def questions(
        self, path: Path, *, languages: Collection[str] | None = None
    ) -> Iterator[Sample]:
        """Yield the claims in all their languages; templates make questions of them."""
        del languages
        return (_sample(row, language=code) for row in _rows(path) for code in row.texts)


def _is_named(file: Path) -> bool:
    return file.name.endswith(_FILE)


def _is_called(file: Path) -> bool:
    return file.name == _FILE


def _rows(path: Path) -> list[ClaimRow]:
    """Return all claims, of which each is in all languages; there is one at least."""
    files = files_at(path, _is_named if path.is_file() else _is_called)
    if not files:
        msg = f"{path}: no {_FILE} here, nor in data/; write one claim a line"
        raise DataError(msg)
    file = files[0]
    lines: dict[str, int] = {}
    rows: list[ClaimRow] = []
    for number, line in numbered_lines(file):
        row = claim_row(line, where=f"{file}:{number}")
        if row.id in lines:
            msg = (
                f"{file}:{number}: id {row.id!r} is already on line {lines[row.id]}; give each "
                "claim its own id"
            )
            raise DataError(msg)
        lines[row.id] = number
        rows.append(row)
    _check_languages(rows, lines, file)
    return rows


def _check_languages(rows: Sequence[ClaimRow], lines: dict[str, int], file: Path) -> None:
    """Refuse a claim without a language: rates of languages would be of other claims."""
    every = dict.fromkeys(code for row in rows for code in row.texts)
    for row in rows:
        for code in every:
            if code not in row.texts:
                having = next(other for other in rows if code in other.texts)
                msg = (
                    f"{file}:{lines[row.id]}: claim {row.id!r} has no text in {code!r}, which "
                    f"{having.id!r} on line {lines[having.id]} has; write it, or remove {code!r} "
                    "from all claims"
                )
                raise DataError(msg)


def _sample(row: ClaimRow, *, language: str) -> Sample:
    forms = row.texts[language]
    prompt = {
        "claim": forms.claim,
        "claim_question": forms.question,
        "claim_topic": forms.topic,
    }
    if _ENGLISH in row.texts:
        prompt["claim_english"] = row.texts[_ENGLISH].claim
    metadata = {
        "set": row.veracity,  # --xling-limit takes turns between sets
        "veracity": row.veracity,
        "claim": forms.claim,  # tables of stances name it
        "category": row.category,
        "source": row.source,
        "reason": row.reason,
    }
    if language in row.machine:
        metadata["translation"] = "machine"
    return Sample(
        id=row.id,
        benchmark="",
        language=language,
        prompt=prompt,
        reference=row.veracity,
        parallel_id=row.id,
        metadata=metadata,
    )
