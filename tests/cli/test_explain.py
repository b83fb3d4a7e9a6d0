"""``xling explain``: keys, what they stand for, what they nearly are."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from pytest_xling.store.database import Database
from tests.reports.stories import ENGLISH
from tests.runs import Asked, make_run

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Xling


def _key(xling: Xling, case: str) -> str:
    cases = json.loads(xling("export", "run-1").out)["cases"]
    return str(next(found["key"] for found in cases if found["case"] == case))


def test_a_key_shows_what_was_asked_and_answered(xling: Xling) -> None:
    """Any unique beginning of the key will do."""
    key = _key(xling, "q1-en")
    said = xling("explain", key[:12].upper(), code=0)
    assert f"key      {key}" in said.out
    assert "case     q1-en of culture in run run-1" in said.out
    assert '"prompt": "Why does ice float?"' in said.out
    assert "output   answer by known v1" in said.out


def test_a_miss_is_explained_by_the_nearest_key(xling: Xling) -> None:
    """The same question to another model differs in the model."""
    out = xling("explain", "q1-en", "--run", "run-2").out
    nearest = out[out.index("nearest") :].splitlines()
    assert "differs in 1 field:" in nearest[0]
    assert ["  model", '    there  "model-1"', '    here   "model-2"'] == nearest[1:4]


def test_differences_are_shown_where_they_begin(tmp_path: Path, xling: Xling) -> None:
    """Of two long prompts that differ near their ends the ends are shown."""
    path = tmp_path / "s.sqlite"
    for run_id, ending in (("a", "one"), ("b", "two")):
        asked = [Asked(id="q1", language="en", text=ENGLISH, question="long " * 500 + ending)]
        make_run(path, asked, metrics=["emoji"], run_id=run_id)
    lines = xling.on(path)("explain", "q1-en", "--run", "b").out.splitlines()
    (there,) = [line for line in lines if line.startswith("    there")]
    assert there.endswith('long one"')
    assert len(there) < 120


def test_a_key_of_scores_leads_to_its_answer(xling: Xling) -> None:
    """The input of metrics is not kept; which case it is, is."""
    with Database(xling.store).read() as connection:
        key: bytes = connection.exec_driver_sql(
            "SELECT answer_key FROM cases WHERE run_id = 'run-1' AND case_id = 'q1-en'"
        ).scalar_one()
    out = xling("explain", key.hex()).out
    assert f"its scores; it was asked as {_key(xling, 'q1-en')[:16]}" in out
    assert "output   score by emoji v" in out


def test_the_only_answer_has_nothing_near(tmp_path: Path, xling: Xling) -> None:
    """It says so."""
    path = tmp_path / "s.sqlite"
    make_run(path, [Asked(id="q1", language="en", text=ENGLISH)], metrics=["emoji"])
    said = xling.on(path)("explain", "q1-en", "--run", "run-1")
    assert 0 == said.code
    assert "nearest  none: known has answered nothing else here" in said.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["xyz"], "not a key"),
        (["0" * 65], "not a key"),
        (["0" * 64], "no key that begins with"),
        (["q1-e", "--run", "run-1"], "Did you mean 'q1-en'?"),
        (["q1-en", "--run", "run-9"], "no run 'run-9'"),
    ],
)
def test_mistakes(xling: Xling, arguments: list[str], said: str) -> None:
    """Exit 4 and what to do."""
    assert said in xling("explain", *arguments, code=4).err


def test_an_ambiguous_beginning_lists_the_keys(xling: Xling) -> None:
    """With 16 answers some first digit is shared."""
    cases = json.loads(xling("export", "run-1").out)["cases"]
    digits = [case["key"][0] for case in cases]
    shared = next(digit for digit in digits if digits.count(digit) > 1)
    assert f"several keys begin with {shared}: {shared}" in xling("explain", shared, code=4).err
