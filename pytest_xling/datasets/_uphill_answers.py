"""The responses stored in UPHILL's rows, as rows of a transcript."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_xling.datasets._uphill_rows import QUERY_COLUMNS, uphill_rows
from pytest_xling.errors import ConfigError, DataError, did_you_mean
from pytest_xling.text.clean import clean

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_xling.datasets._uphill_rows import UphillRow
    from pytest_xling.keys import JsonValue

__all__ = ["transcript_rows"]

_COLUMNS = (*QUERY_COLUMNS, "conversational_model", "model_response")


def transcript_rows(path: Path, *, answers_by: str) -> list[dict[str, JsonValue]]:
    """Return the stored responses of one model, in the file's order.

    A row has ``sample_id``, ``language``, ``text``, ``repeat``, ``stop_reason`` and ``model``, as
    the provider ``transcript`` reads them. The lowest ``response_num`` of the model is repeat 0;
    where there is no such column, responses to a query count up. An empty response stays, as an
    empty text: it is no answer, and counted so.

    Args:
        path: UPHILL.csv, or a .tsv or .jsonl of the same columns.
        answers_by: the model's name as in ``conversational_model``, in any case.

    Raises:
        ConfigError: no such model; lists those there are.
        DataError: names the file, the line, the column and the fix.
    """
    wanted = answers_by.strip().casefold()
    models: dict[str, None] = {}
    found: list[tuple[UphillRow, str]] = []
    for row in uphill_rows(path, required=_COLUMNS):
        model = str(row.answer["conversational_model"] or "").strip()
        models[model] = None
        if model.casefold() == wanted:
            found.append((row, model))
    if not found:
        names = sorted(filter(None, models))
        hint = did_you_mean(wanted, [name.casefold() for name in names])
        msg = f"{path}: no answers by {answers_by!r} here.{hint} There are answers by: "
        raise ConfigError(msg + (", ".join(names) or "nobody"))
    repeats = _repeats([row for row, _ in found], path)
    return [
        {
            "sample_id": row.sample_id,
            "language": "en",
            "text": _response(row, path),
            "repeat": repeat,
            "stop_reason": "stop",
            "model": model,
        }
        for (row, model), repeat in zip(found, repeats, strict=True)
    ]


def _repeats(rows: list[UphillRow], path: Path) -> list[int]:
    """Return the number of each row's repeat, no two alike for one question."""
    seen: dict[tuple[str, int], int] = {}
    if "response_num" not in rows[0].answer:
        counts: dict[str, int] = {}
        for row in rows:
            counts[row.sample_id] = counts.get(row.sample_id, -1) + 1
            seen[row.sample_id, counts[row.sample_id]] = row.line
        return [repeat for _, repeat in seen]
    numbers = [_number(row, path) for row in rows]
    least = min(numbers)
    for row, number in zip(rows, numbers, strict=True):
        place = (row.sample_id, number)
        if place in seen:
            msg = (
                f"{path}:{row.line}: response_num {number} to the query of claim "
                f"{row.claim_id!r} at level {row.level} is on line {seen[place]} already; give "
                "each response its own number"
            )
            raise DataError(msg)
        seen[place] = row.line
    return [number - least for number in numbers]


def _number(row: UphillRow, path: Path) -> int:
    said = str(row.answer.get("response_num", "")).strip().removesuffix(".0")
    if not (said.isascii() and said.isdecimal()):
        msg = (
            f"{path}:{row.line}: key 'response_num' must be a whole number from 0, not "
            f"{row.answer.get('response_num')!r}"
        )
        raise DataError(msg)
    return int(said)


def _response(row: UphillRow, path: Path) -> str:
    value = row.answer["model_response"]
    if value is None:
        return ""
    if not isinstance(value, str):
        msg = f"{path}:{row.line}: key 'model_response' must be a text, not {value!r}"
        raise DataError(msg)
    return clean(value) if value.strip() else ""
