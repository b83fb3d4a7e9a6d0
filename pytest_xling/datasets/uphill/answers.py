"""The responses stored in UPHILL's rows, as rows of a transcript."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_xling.datasets.uphill.rows import QUERY_COLUMNS, uphill_rows
from pytest_xling.errors import ConfigError, DataError, did_you_mean
from pytest_xling.text.display import clean

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_xling.datasets.uphill.rows import UphillRow
    from pytest_xling.keys import JsonValue

_COLUMNS = (*QUERY_COLUMNS, "conversational_model", "model_response")
_NUMBER = "response_num"


def transcript_rows(path: Path, *, answers_by: str) -> list[dict[str, JsonValue]]:
    """Return the stored responses of one model, question by question, in the file's order.

    A row has ``sample_id``, ``language``, ``text``, ``repeat``, ``stop_reason`` and ``model``, as
    the provider ``transcript`` reads them. ``response_num`` is an id: the responses to a question
    are its repeats 0, 1, … by rising number, or as they come where the ids are no numbers, or there
    are none. An empty response stays, as an empty text: it is no answer, and counted so. A question
    with fewer responses than the model's others, or without any, gets rows that say so (``asked``
    is false), by which a run leaves it out and counts it.

    Args:
        path: UPHILL.csv, UPHILL.json, or a .tsv or .jsonl of the same columns.
        answers_by: the model's name as in ``conversational_model``, in any case.

    Raises:
        ConfigError: no such model; lists those there are.
        DataError: names the file, the line or row, the column and the fix.
    """
    wanted = answers_by.strip().casefold()
    models: dict[str, None] = {}
    name = ""
    responses: dict[str, list[UphillRow]] = {}
    for row in uphill_rows(path, required=_COLUMNS):
        model = str(row.answer["conversational_model"] or "").strip()
        models[model] = None
        answered = responses.setdefault(row.sample_id, [])
        if model.casefold() == wanted:
            name = name or model
            answered.append(row)
    if not name:
        names = sorted(filter(None, models))
        hint = did_you_mean(wanted, [name.casefold() for name in names])
        msg = f"{path}: no answers by {answers_by!r} here.{hint} There are answers by: "
        raise ConfigError(msg + (", ".join(names) or "nobody"))
    most = max(map(len, responses.values()))
    rows: list[dict[str, JsonValue]] = []
    for sample_id, answered in responses.items():
        shared: dict[str, JsonValue] = {"sample_id": sample_id, "language": "en", "model": name}
        rows += [
            {**shared, "text": _response(row), "repeat": repeat, "stop_reason": "stop"}
            for repeat, row in enumerate(_ordered(answered))
        ]
        rows += [
            {**shared, "text": None, "repeat": repeat, "asked": False}
            for repeat in range(len(answered), most)
        ]
    return rows


def _ordered(rows: list[UphillRow]) -> list[UphillRow]:
    """Return the responses to one question by their ids, no two of which may be alike."""
    places: dict[str, UphillRow] = {}
    for row in rows:
        if _NUMBER not in row.answer:
            return rows
        number = str(row.answer[_NUMBER] if row.answer[_NUMBER] is not None else "").strip()
        number = number.removesuffix(".0")  # pandas writes 3 as 3.0
        if not number:
            msg = f"{row.place}: key {_NUMBER!r} is empty; give each response its own"
            raise DataError(msg)
        if number in places:
            msg = (
                f"{row.place}: {_NUMBER} {number} to the query of claim {row.claim_id!r} at level "
                f"{row.level} is on {places[number].place.short} already; give each response its "
                "own number"
            )
            raise DataError(msg)
        places[number] = row
    if all(number.isascii() and number.isdecimal() for number in places):
        return [places[number] for number in sorted(places, key=int)]
    return rows


def _response(row: UphillRow) -> str:
    value = row.answer["model_response"]
    if value is None:
        return ""
    if not isinstance(value, str):
        msg = f"{row.place}: key 'model_response' must be a text, not {value!r}"
        raise DataError(msg)
    return clean(value) if value.strip() else ""
