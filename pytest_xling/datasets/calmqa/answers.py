"""The answers stored in a CaLMQA checkout, as rows of a transcript."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pytest_xling.datasets.calmqa.layout import entries, files_by_language
from pytest_xling.errors import ConfigError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from pytest_xling.datasets.calmqa.layout import Entry, StoredAnswer
    from pytest_xling.keys import JsonValue
    from pytest_xling.records import StopReason

# What Gemini's API said instead of answering stands where its text should be.
_GEMINI_FAULTS: dict[str, StopReason] = {
    "": "error",
    "OTHER": "error",
    "BLOCKLIST": "content_filter",
    "RECITATION": "content_filter",
    "SAFETY": "content_filter",
}


def transcript_rows(path: Path, *, answers_by: str) -> Iterator[dict[str, JsonValue]]:
    """Return the stored answers of one model, sorted by language, in data order.

    A row has ``sample_id``, ``language``, ``text``, ``stop_reason`` and ``model``, as the provider
    ``transcript`` reads them. An API error has the text None, and keeps what the API said under
    ``error`` unless that was nothing; an empty answer of a model that answered is an empty text.

    Args:
        path: a CaLMQA checkout or its ``data/datasets`` folder.
        answers_by: the model's name as stored, in any case; the host in parentheses after it
            may be left out: ``Llama 3 70B`` for ``Llama 3 70B (together.ai)``.

    Raises:
        ConfigError: no such model; lists those there are.
        DataError: not a checkout, or a broken file.
    """
    stored = [
        (entry, answer)
        for files in files_by_language(path).values()
        for file in files
        for entry in entries(file)
        for answer in entry.answers
    ]
    model = _model(answers_by, {answer.model for _, answer in stored})
    return iter([_row(entry, answer) for entry, answer in stored if answer.model == model])


def _model(answers_by: str, known: Iterable[str]) -> str:
    """Return the stored name that *answers_by* means: in full, else without its host."""
    names = sorted(known)
    wanted = _folded(answers_by)
    meant = [name for name in names if _folded(name) == wanted] or [
        name for name in names if _folded(_without_host(name)) == wanted
    ]
    if len(meant) == 1:
        return meant[0]
    if meant:
        msg = f"{answers_by!r} may mean {' or '.join(meant)}; give the name in full"
        raise ConfigError(msg)
    suggestion = did_you_mean(wanted, [_folded(_without_host(name)) for name in names])
    msg = f"no answers by {answers_by!r} here.{suggestion} There are answers by: {', '.join(names)}"
    raise ConfigError(msg)


def _without_host(name: str) -> str:
    return re.sub(r"\s*\([^()]*\)$", "", name)


def _folded(name: str) -> str:
    return " ".join(name.casefold().split())


def _row(entry: Entry, answer: StoredAnswer) -> dict[str, JsonValue]:
    row: dict[str, JsonValue] = {
        "sample_id": entry.id,
        "language": entry.language,
        "text": answer.text,
        "stop_reason": "stop",
        "model": answer.model,
    }
    text = answer.text.strip()
    if answer.model.casefold().startswith("gemini") and text in _GEMINI_FAULTS:
        row |= {"text": None, "stop_reason": _GEMINI_FAULTS[text]}
        if text:
            row["error"] = text
    return row
