"""The rows of UPHILL as its authors release them: a query about a claim, and a model's response.

Kaur et al., 2024, *Evaluating Large Language Models for Health-related Queries with
Presuppositions*; github.com/navreeetkaur/UPHILL. ``UPHILL.csv`` or ``UPHILL.json`` has a row for
each response, ``queries.csv`` one for each query.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from pytest_xling.errors import DataError, did_you_mean
from pytest_xling.files.strict_json import plain_name, require_text
from pytest_xling.files.tables import SUFFIXES, table_rows
from pytest_xling.text.stance import LEVELS, require_veracity

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from pytest_xling.files.tables import Place
    from pytest_xling.keys import JsonValue
    from pytest_xling.text.stance import Veracity

QUERY_COLUMNS = (
    "claim_id",
    "claim",
    "claim_veracity",
    "presupposition_level",
    "query_with_presupposition",
)
ANSWER_COLUMNS = ("conversational_model", "response_num", "model_response")
_QUERIES = "queries.csv"
_IN_FOLDERS = tuple(suffix for suffix in SUFFIXES if suffix != ".jsonl")


@dataclass(frozen=True, slots=True, kw_only=True)
class UphillRow:
    """One row, the part of it that questions are made of."""

    place: Place
    claim_id: str
    """Fit for a case id."""
    claim: str
    veracity: Veracity
    level: int
    query: str
    answer: Mapping[str, JsonValue]
    """Its cells in ``ANSWER_COLUMNS``, of those that are there."""

    @property
    def sample_id(self) -> str:
        """The id of the question."""
        return f"{self.claim_id}-l{self.level}"


def uphill_file(path: Path) -> Path | None:
    """Return UPHILL's file: *path* itself, or the one in the folder *path* or its ``data``.

    A file is UPHILL's if its name has "uphill" in it, in any case, and ends in .csv, .tsv, .json or
    .jsonl, or if it is called ``queries.csv``. In a folder, where .jsonl is another layout's, the
    first of the former comes before the latter.
    """
    if path.is_file():
        return path if _is_uphill(path, SUFFIXES) or path.name == _QUERIES else None
    for folder in (path / "data", path):
        try:
            files = sorted(file for file in folder.iterdir() if file.is_file())
        except OSError:
            continue
        named = [file for file in files if _is_uphill(file, _IN_FOLDERS)]
        named += [file for file in files if file.name == _QUERIES]
        if named:
            return named[0]
    return None


def _is_uphill(file: Path, suffixes: Collection[str]) -> bool:
    return "uphill" in file.name.casefold() and file.suffix.lower() in suffixes


def uphill_rows(file: Path, *, required: Collection[str] = QUERY_COLUMNS) -> Iterator[UphillRow]:
    """Yield the rows of *file*, in its order.

    Args:
        file: CSV, TSV, a JSON array or JSONL.
        required: columns it must have, those of the queries among them.

    Raises:
        DataError: names the file, the line or row, the column and the fix.
    """
    names: dict[str, str] = {}
    for place, cells in table_rows(file, required=required):
        where = str(place)
        stored = require_text(_text(cells["claim_id"]), where=where, key="claim_id").strip()
        if stored not in names:
            names[stored] = plain_name(stored)
        yield UphillRow(
            place=place,
            claim_id=names[stored],
            claim=_required(cells, "claim", where=where),
            veracity=require_veracity(cells["claim_veracity"], where=where, key="claim_veracity"),
            level=_level(cells["presupposition_level"], where=where),
            query=_required(cells, "query_with_presupposition", where=where),
            answer={name: cells[name] for name in ANSWER_COLUMNS if name in cells},
        )


def uphill_questions(file: Path) -> tuple[tuple[UphillRow, ...], ...]:
    """Return by claim the first row of each level, rising.

    Raises:
        DataError: names the file, the line or row, the column and the fix.
    """
    try:
        stat = file.stat()
    except OSError as error:
        msg = f"{file}: cannot be read ({error.strerror or error}); check the path"
        raise DataError(msg) from error
    return _parsed(file, stat.st_mtime_ns, stat.st_size)


# A session asks for samples and for notices, and the file is large.
@lru_cache(maxsize=1)
def _parsed(file: Path, _mtime_ns: int, _size: int) -> tuple[tuple[UphillRow, ...], ...]:
    claims: dict[str, dict[int, UphillRow]] = {}
    for row in uphill_rows(file):
        levels = claims.setdefault(row.claim_id, {})
        if levels:
            _check_same(next(iter(levels.values())), row, ("claim", "veracity"))
        if row.level in levels:
            _check_same(levels[row.level], row, ("query",))
        else:
            levels[row.level] = replace(row, answer={})
    return tuple(tuple(levels[level] for level in sorted(levels)) for levels in claims.values())


def _check_same(first: UphillRow, row: UphillRow, keys: Sequence[str]) -> None:
    for key in keys:
        earlier, later = getattr(first, key), getattr(row, key)
        if earlier != later:
            of = f" at level {row.level}" if key == "query" else ""
            msg = (
                f"{row.place}: claim {row.claim_id!r}{of} has the {key} {later!r} here and "
                f"{earlier!r} on {first.place.short}; correct one, or give each its own claim_id"
            )
            raise DataError(msg)


def missing_levels(file: Path) -> list[str]:
    """Say how many claims of *file* lack levels; nothing where none does.

    Raises:
        DataError: names the file, the line or row, the column and the fix.
    """
    claims = uphill_questions(file)
    lacking = [len(LEVELS) - len(levels) for levels in claims if len(levels) < len(LEVELS)]
    if not lacking:
        return []
    some = "1 claim lacks levels" if len(lacking) == 1 else f"{len(lacking):,} claims lack levels"
    lack = f"{some} of presupposition: {sum(lacking):,} of {len(LEVELS) * len(claims):,} queries"
    return [f"{file.name}: {lack} are not there and left out"]


def _required(cells: Mapping[str, JsonValue], key: str, *, where: str) -> str:
    return require_text(cells[key], where=where, key=key).strip()


def _text(value: JsonValue) -> JsonValue:
    """Return a number of JSONL as its digits."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _level(value: JsonValue, *, where: str) -> int:
    """Read a level of presupposition: UPHILL's name of it, ours, or its number."""
    key = "presupposition_level"
    text = require_text(_text(value), where=where, key=key)
    name = re.sub(r"[^a-z0-9]+", "_", text.strip().casefold()).removesuffix("_presupposition")
    if name in LEVELS:
        return LEVELS.index(name)
    if name.removesuffix("_0") in map(str, range(len(LEVELS))):  # pandas writes 3 as 3.0
        return int(name[0])
    known = [level.replace("_", " ") for level in LEVELS]
    msg = (
        f"{where}: key {key!r}: unknown level {value!r}."
        f"{did_you_mean(name.replace('_', ' '), known)} Known: {', '.join(known)}, or 0 to 4"
    )
    raise DataError(msg)
