"""Codes that hide models from raters, and the key to them."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from pytest_xling.analysis.rating_key import code_of, is_code, key_rows, read_keys
from pytest_xling.errors import DataError
from tests.runs import RUN

if TYPE_CHECKING:
    from pathlib import Path


def test_a_code_stands_for_a_run() -> None:
    """Always the same; another run of that name, made elsewhere, has another."""
    later = replace(RUN, created_at="2026-11-22T10:00:00.000+00:00")
    assert code_of(RUN) == code_of(replace(RUN, status="complete"))
    assert len({code_of(RUN), code_of(replace(RUN, run_id="run-2")), code_of(later)}) == 3
    assert is_code(code_of(RUN))
    assert not is_code("model-1")


def test_runs_of_one_model_are_told_apart() -> None:
    """By their names, since ratings of both would be of one answer."""
    runs = [RUN, replace(RUN, run_id="run-2"), replace(RUN, run_id="run-3", model="claude")]
    assert ["model-1, run-1", "model-1, run-2", "claude"] == [
        row["model"] for row in key_rows(runs)
    ]


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (["code,name", "model-1,gpt"], ":1: column 'model' is missing"),
        (["code,model", "model-1,"], ":2: column 'model' is empty"),
        (["code,model", ",gpt"], ":2: column 'code' is empty"),
        (["code,model", "m,gpt", "m,gpt", "m,claude"], ":4: 'm' is 'claude', and 'gpt' before"),
    ],
)
def test_a_wrong_key(tmp_path: Path, lines: list[str], told: str) -> None:
    """Is told of with its file and line."""
    path = tmp_path / "r.key.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(DataError, match=re.escape(f"{path}{told}")):
        read_keys([path])
