"""``xling gate``: a stored run judged again."""

from __future__ import annotations

import contextlib
import json
import shutil
import sqlite3
from pathlib import Path

import pytest

from pytest_xling.store.database import Database
from pytest_xling.store.verdicts import read_verdicts
from tests.cli.conftest import Xling


def _file(folder: Path, limits: str, *, head: str = "defaults: {min_n: 1}") -> str:
    path = folder / "t.yaml"
    path.write_text(f"{head}\nbenchmarks:\n  culture:\n{limits}", encoding="utf-8")
    return str(path)


def test_an_open_gate(xling: Xling, tmp_path: Path) -> None:
    """All gates of the file are judged in all languages of the run, and pass."""
    limits = "    wrong_language: {max_rate: 0.95, languages: {rn: {on_inconclusive: warn}}}\n"
    said = xling("gate", "run-1", "--thresholds", _file(tmp_path, limits))
    assert 0 == said.code, said.out
    assert "gate open: 2 of 3 gates passed, 1 inconclusive" in said.out
    assert "? wrong_language rn none of 2 answers could be scored; Kirundi cannot" in said.out


def test_a_closed_gate(xling: Xling, tmp_path: Path) -> None:
    """Two of four Hindi answers are in English; with a budget of 0 that is closed."""
    limits = "    wrong_language: {max_rate: 0}\n"
    said = xling("gate", "run-1", "--thresholds", _file(tmp_path, limits))
    assert 1 == said.code
    assert "✗ wrong_language hi 2 of 4 answers flagged, 1 unscored: 50.0%" in said.out


def test_inconclusive_closes_unless_told_to_warn(xling: Xling, tmp_path: Path) -> None:
    """The same numbers, judged strictly and leniently."""
    limits = "    repetition: {max_rate: 0.5}\n"
    assert 1 == xling("gate", "run-1", "--thresholds", _file(tmp_path, limits)).code
    warn = _file(tmp_path, limits, head="defaults: {min_n: 1, on_inconclusive: warn}")
    said = xling("gate", "run-1", "--thresholds", warn)
    assert (1, True) == (said.code, "nothing was decided: " in said.out)
    passing = f"{limits}    emoji: {{max_rate: 0.99}}\n"
    head = "defaults: {min_n: 1, on_inconclusive: warn}"
    assert 0 == xling("gate", "run-1", "--thresholds", _file(tmp_path, passing, head=head)).code


def test_json_has_every_verdict(xling: Xling, tmp_path: Path) -> None:
    """With estimate, threshold and reason; and stored verdicts stay as they were."""
    with Database(xling.store).read() as connection:
        before = read_verdicts(connection, "run-1")
    limits = "    wrong_language: {max_rate: 0.99}\n    emoji: {max_rate: 0.99}\n"
    said = xling("gate", "latest", "--thresholds", _file(tmp_path, limits), "--json")
    found = json.loads(said.out)
    assert ("run-2", "interrupted", False) == tuple(
        found[key] for key in ("run", "status", "closed")
    )
    outcomes = {verdict["case"]: verdict["outcome"] for verdict in found["verdicts"]}
    assert {
        "emoji-en": "pass",
        "emoji-hi": "pass",
        "wrong_language-en": "pass",
        "wrong_language-hi": "pass",
    } == outcomes
    with Database(xling.store).read() as connection:
        assert before == read_verdicts(connection, "run-1")
        assert [] == read_verdicts(connection, "run-2")


def test_an_incomplete_run_decides_nothing(xling: Xling, tmp_path: Path) -> None:
    """Open or closed, the exit code is 3."""
    for rate in ("0.9", "0"):
        path = _file(tmp_path, f"    repetition: {{max_rate: {rate}}}\n")
        said = xling("gate", "run-2", "--thresholds", path)
        assert 3 == said.code
        assert "gate undecided: answers are missing; " in said.out
        assert "run run-2 is interrupted: this decides nothing (exit 3)" in said.out


def test_limits_follow_the_model(xling: Xling, tmp_path: Path) -> None:
    """What the file says for one model does not hold for another."""
    limits = '    wrong_language: {max_rate: 0, models: {"model-1": {max_rate: 0.9}}}\n'
    head = "defaults: {min_n: 1, on_inconclusive: warn}"
    path = _file(tmp_path, limits, head=head)
    assert 0 == xling("gate", "run-1", "--thresholds", path).code
    assert "max 90.0%" in xling("gate", "run-1", "--thresholds", path).out
    assert "max 0.0%" in xling("gate", "run-2", "--thresholds", path).out


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("benchmarks:\n  cultur:\n    emoji: {max_rate: 0}\n", "Did you mean 'culture'?"),
        ("benchmarks:\n  culture:\n    emoij: {max_rate: 0}\n", "Did you mean 'emoji'?"),
        ("benchmarks:\n  culture:\n    emoji: {max_rat: 0}\n", "Did you mean 'max_rate'?"),
        ("benchmarks:\n  bread:\n    emoji: {max_rate: 0}\n", "sets no gate for anything run"),
        ("benchmarks:\n  culture:\n    apology: {max_rate: 0}\n", "sets no gate for anything"),
        ("benchmarks: [\n", "not valid YAML"),
    ],
)
def test_mistakes_in_the_file_exit_with_4(
    xling: Xling, tmp_path: Path, text: str, said: str
) -> None:
    """Names are corrected; a file that gates nothing is not an open gate."""
    path = tmp_path / "t.yaml"
    path.write_text(text)
    found = xling("gate", "run-1", "--thresholds", str(path))
    assert 4 == found.code
    assert said in found.err


def test_a_run_by_an_annotator_that_is_gone_is_not_trusted_unmeasured(
    xling: Xling, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An earlier version made it; that nothing is known of its labels does not open the gate."""
    store = shutil.copy(xling.store, tmp_path / "earlier.sqlite")
    with contextlib.closing(sqlite3.connect(store)) as connection, connection:
        connection.execute(
            "UPDATE steps SET parameters = json_set(parameters, '$.stance_head', 'stance_head|v1')"
            " WHERE name = 'wrong_language'"
        )
    earlier = Xling(Path(store), capsys)
    limits = "    wrong_language: {max_rate: 0.95, min_judge_f1: 0.7}\n"
    said = earlier("gate", "run-1", "--thresholds", _file(tmp_path, limits))
    assert 1 == said.code, said.out
    told = " ".join(said.out.split())
    assert "stance_head has not been measured in en" in told
    assert "this version of pytest-xling has no such annotator" in told


@pytest.mark.parametrize(
    ("limits", "code"),
    [
        ("apology: {max_rate: 0}", 1),
        ("apology: {max_rate: 0.5, max_gap: 0.1}", 1),
        ("apology: {max_rate: 0, on_inconclusive: warn}", 0),
        ("apology: {max_rate: 0, tier: advisory}", 0),
    ],
)
def test_limits_of_what_was_not_scored_are_inconclusive(
    xling: Xling, tmp_path: Path, limits: str, code: int
) -> None:
    """Nothing is known of them; it is said why, and what would tell."""
    file = _file(tmp_path, f"    emoji: {{max_rate: 0.9}}\n    {limits}\n")
    said = xling("gate", "run-1", "--thresholds", file)
    assert code == said.code, said.out
    assert "run run-1 was not scored with it (`xling score`)" in " ".join(said.out.split())
    told = json.loads(xling("gate", "run-1", "--thresholds", file, "--json").out)["verdicts"]
    outcomes = {v["outcome"] for v in told if v["threshold"]["metric"] == "apology"}
    assert {"inconclusive"} == outcomes


def test_other_benchmarks_of_the_file_do_not_matter(xling: Xling, tmp_path: Path) -> None:
    """A file for all benchmarks of a project judges a run of one."""
    limits = "    emoji: {max_rate: 0.9}\n  bread:\n    emoji: {max_rate: 0}\n"
    assert 0 == xling("gate", "run-1", "--thresholds", _file(tmp_path, limits)).code


def test_a_missing_file_is_named(xling: Xling) -> None:
    """Exit 4, with the path."""
    said = xling("gate", "run-1", "--thresholds", "/nowhere/t.yaml")
    assert 4 == said.code
    assert "/nowhere/t.yaml" in said.err
