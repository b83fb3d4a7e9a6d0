"""Codes that hide from raters which run an answer is of, and the key to them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from pytest_xling.errors import DataError, did_you_mean
from pytest_xling.files.tables import table_rows
from pytest_xling.keys import content_key
from pytest_xling.text.display import csv_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from pytest_xling.files.tables import Place
    from pytest_xling.records import RunRecord

KEY_COLUMNS: Final = ("code", "model", "run")
_DIGITS: Final = 6
_CODE: Final = re.compile(rf"model-[0-9a-f]{{{_DIGITS}}}")


def code_of(run: RunRecord) -> str:
    """Return what a run is called before raters: the same in all reviews, ``model-3fa2c1``."""
    return f"model-{content_key([run.run_id, run.created_at]).hex()[:_DIGITS]}"


def is_code(name: str) -> bool:
    """Tell whether *name* is one that :func:`code_of` makes."""
    return _CODE.fullmatch(name) is not None


def key_rows(runs: Sequence[RunRecord]) -> list[dict[str, str]]:
    """Return what :func:`read_keys` reads; of several runs of one model each is named, too."""
    models = [run.model for run in runs]
    return [
        {
            "code": code_of(run),
            "model": run.model if models.count(run.model) == 1 else f"{run.model}, {run.run_id}",
            "run": run.run_id,
        }
        for run in runs
    ]


def read_keys(files: Iterable[Path]) -> dict[str, str]:
    """Return the models' names by their codes.

    Raises:
        DataError: names file, line, column and fix.
    """
    names: dict[str, str] = {}
    for file in files:
        for place, row in table_rows(file, required=("code", "model")):
            code, model = (csv_text(str(row[name] or "")).strip() for name in ("code", "model"))
            if not code or not model:
                column = "model" if code else "code"
                msg = f"{place}: column {column!r} is empty; write the key again: xling review"
                raise DataError(msg)
            if names.setdefault(code, model) != model:
                msg = f"{place}: {code!r} is {model!r}, and {names[code]!r} before; keep one"
                raise DataError(msg)
    return names


def model_named(name: str, keys: Mapping[str, str], *, place: Place, column: str) -> str:
    """Return the model that a code stands for; what is a model's name already stays it.

    Raises:
        DataError: no key has the code; names the place.
    """
    if name in keys:
        return keys[name]
    if name in keys.values():
        return name
    msg = (
        f"{place}: column {column!r} is {name!r}, which no key has.{did_you_mean(name, keys)} "
        f"They have: {', '.join(keys)}. Give the key of its page, too: --key"
    )
    raise DataError(msg)
