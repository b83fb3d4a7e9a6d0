"""Tables as CSV, TSV, JSON and JSONL, and what is said of those that cannot be read."""

from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

from pytest_xling.errors import DataError
from pytest_xling.files.tables import files_at, table_rows

if TYPE_CHECKING:
    from pathlib import Path

COLUMNS = ("id", "claim")
ROWS = [
    {"id": str(n), "claim": "singing cures hiccups", "text": 'A "long",\nsecond line.'}
    for n in range(5)
]


def _read(file: Path) -> list[dict[str, Any]]:
    return [dict(cells) for _, cells in table_rows(file, required=COLUMNS)]


def _csv(file: Path, rows: list[dict[str, Any]], sep: str = ",") -> Path:
    pd.DataFrame(rows).to_csv(file, index=False, sep=sep)
    return file


def _message(file: Path, text: str | bytes) -> str:
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(DataError) as caught:
        _read(file)
    return str(caught.value).replace(f"{file.parent}/", "")


def _json(*rows: object) -> str:
    return json.dumps(rows)


def test_formats_hold_the_same(tmp_path: Path) -> None:
    """CSV with LF or CRLF and a mark, TSV, JSONL, and a JSON array in any shape or file."""
    assert ROWS == _read(_csv(tmp_path / "t.csv", ROWS))
    raw = (tmp_path / "t.csv").read_bytes().replace(b"\n", b"\r\n")
    (tmp_path / "bom.csv").write_bytes("\ufeff".encode() + raw)
    assert [row["id"] for row in ROWS] == [row["id"] for row in _read(tmp_path / "bom.csv")]
    assert ROWS == _read(_csv(tmp_path / "t.tsv", ROWS, sep="\t"))
    lines = "\n".join(map(json.dumps, ROWS))
    for name, text in (
        ("t.jsonl", lines),
        ("lines.json", lines),
        ("t.json", f"\n \n{json.dumps(ROWS)}\n"),
        ("indented.json", json.dumps(ROWS, indent=2)),
        ("array.csv", json.dumps(ROWS)),
    ):
        (tmp_path / name).write_text(text)
        assert ROWS == _read(tmp_path / name)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("id,text\n1,2\n", "t.csv:1: column 'claim' is missing."),
        ("id,clame\n1,2\n", "column 'claim' is missing. Did you mean 'clame'? Needed: id, claim"),
        ("id,claim,claim\n1,2,3\n", "t.csv:1: column 'claim' is there twice; keep one"),
        (
            'id,claim\n1,"a\nb"\n1\n',
            "t.csv:4: the row has 1 cells, and the head 2; check its",
        ),
        ('id,claim\n1,2\n"1,2\n', "t.csv:3: not valid CSV: unexpected end of data"),
        ('id,claim\n1,a "b"\n"a "b"",1\n', "t.csv:3: not valid CSV: ',' expected after '\"'"),
        (b"id,claim\n1,caf\xe9\n", "t.csv:2: byte 0xe9 is not UTF-8"),
        ("", "t.csv: there is no row in it"),
        ("\n\n", "t.csv: there is no row in it"),
    ],
)
def test_broken_csv_is_named(tmp_path: Path, text: str | bytes, says: str) -> None:
    """By the line on which the row begins, and with the fix."""
    assert says in _message(tmp_path / "t.csv", text)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (_json(ROWS[0], [1]), "row 2: each row must be one JSON object"),
        (_json(ROWS[0], {"id": "x"}), "row 2: column 'claim' is missing."),
        (_json(ROWS[0], ROWS[1] | {"claim": {"0": "x"}}), "row 2: key 'claim' is an object"),
        (_json(ROWS[0], ROWS[1] | {"claim": ["x"]}), "row 2: key 'claim' is a list"),
        (_json(ROWS[0], ROWS[1])[:-9], "row 2: not valid JSON: Unterminated string"),
        (_json(ROWS[0])[:-1], "row 1: not valid JSON: no comma after it; it looks cut short"),
        (_json(ROWS[0])[:-1] + ",]", "row 2: not valid JSON: Expecting value; correct it"),
        (_json(ROWS[0])[:-1] + " {}]", "row 1: not valid JSON: no comma after it; correct it"),
        (_json(ROWS[0])[:-1] + ', {"claim" 1}]', "row 2: not valid JSON: Expecting ':' delim"),
        (_json(ROWS[0])[:-1] + ', {"a": 1, "a": 2}]', "row 2: not valid JSON: key 'a' is given"),
        (_json(ROWS[0]) + "x", "t.json: something follows the bracket"),
        ("[]", "t.json: there is no row in it"),
        ("[", "row 1: not valid JSON: Expecting value; it looks cut short"),
        (json.dumps({k: {"0": v} for k, v in ROWS[0].items()}), "t.json:1: key 'id' is an object"),
        (json.dumps(ROWS[0], indent=1), "t.json: one object over several lines; write a list"),
    ],
)
def test_broken_json_is_named(tmp_path: Path, text: str, says: str) -> None:
    """By the row of the list, whatever line it is on."""
    assert says in _message(tmp_path / "t.json", text)


def test_a_long_array_is_read_in_parts(tmp_path: Path) -> None:
    """Rows that one part ends in are whole, and mistakes far behind are found."""
    rows = [row | {"text": 'a [b], {c} "d" ' * 5_000} for n in range(8) for row in ROWS]
    text = json.dumps(rows, indent=1)
    assert len(text) > 3 * (1 << 20)
    (tmp_path / "t.json").write_text(text)
    assert rows == _read(tmp_path / "t.json")
    assert "row 40: not valid JSON" in _message(tmp_path / "t.json", text[:-60])


def test_long_cells_are_read_and_the_limit_put_back(tmp_path: Path) -> None:
    """Csv refuses cells over 131,072 characters unless told; other code may rely on that."""
    before = csv.field_size_limit()
    rows = [row | {"text": "x" * 200_000} for row in ROWS]
    assert rows == _read(_csv(tmp_path / "t.csv", rows))
    assert before == csv.field_size_limit()


def test_files_of_a_layout_are_found(tmp_path: Path) -> None:
    """A file itself, or those of the first folder that has some; folders are no files."""

    def found(path: Path) -> list[str]:
        files = files_at(path, lambda file: file.suffix == ".csv")
        return [file.relative_to(tmp_path).as_posix() for file in files]

    (tmp_path / "data" / "d.csv").mkdir(parents=True)
    (tmp_path / "z.csv").touch()
    (tmp_path / "a.csv").touch()
    (tmp_path / "a.txt").touch()
    assert ["a.csv", "z.csv"] == found(tmp_path)
    (tmp_path / "data" / "e.csv").touch()
    assert ["data/e.csv"] == found(tmp_path)
    assert ["a.csv"] == found(tmp_path / "a.csv")
    assert [] == found(tmp_path / "a.txt") == found(tmp_path / "nothing")
