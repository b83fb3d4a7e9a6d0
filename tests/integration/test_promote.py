"""xling promote: a part of a run does not silently take the place of a whole baseline."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.integration.project import write_questions

if TYPE_CHECKING:
    from tests.integration.project import Project

MODEL = "--model=scripted"


@pytest.fixture
def bread(project: Project) -> Project:
    """Four questions in three languages, and a whole run that was promoted."""
    write_questions(project, count=4, languages=("en", "hi", "zh"))
    assert 0 == project.run(MODEL, "--langs=en,hi,zh", "--xling-run-name=whole").code
    promoted = project.xling("promote", "whole")
    assert 0 == promoted.returncode, promoted.stderr
    assert "run whole is the baseline, the first" in promoted.stdout
    assert "note:" not in promoted.stdout
    return project


PARTS: dict[tuple[str, ...], str] = {
    ("--langs=en,hi,zh", "--xling-limit=1"): (
        "of bread it has en 1 of 4 cases, hi 1 of 4 cases, zh 1 of 4 cases; "
        "of the baseline whole it lacks bread en 3 of 4 cases, hi 3 of 4 cases, zh 3 of 4"
    ),
    ("--langs=en,hi,zh", "-k", "not q0001"): (
        "of bread it has en 3 of 4 cases, hi 3 of 4 cases, zh 3 of 4 cases; "
        "of the baseline whole it lacks bread en 1 of 4 cases, hi 1 of 4 cases, zh 1 of 4"
    ),
    ("--langs=en,hi",): "of the baseline whole it lacks bread zh 4 of 4 cases",
}


@pytest.mark.slow
def test_a_part_is_refused(bread: Project) -> None:
    """It says what is missing; --partial insists, and the note stays."""
    for number, (selection, lacks) in enumerate(PARTS.items()):
        part = f"part{number}"
        assert 0 == bread.run(MODEL, *selection, f"--xling-run-name={part}", "-n0").code
        refused = bread.xling("promote", part)
        assert 4 == refused.returncode
        assert f"run {part} is no whole baseline: {lacks}" in refused.stderr
        assert "say --partial" in refused.stderr
        assert "whole" in bread.xling("promote", "--list").stdout
        insisted = bread.xling("promote", part, "--partial")
        assert 0 == insisted.returncode, insisted.stderr
        assert f"run {part} is the baseline in place of whole" in insisted.stdout
        assert "note: of" in insisted.stdout
        assert 0 == bread.xling("promote", "whole").returncode


@pytest.mark.slow
def test_runs_marks_a_part_and_says_what_a_run_took(bread: Project) -> None:
    """Beside the outcome; a price that is not known is not 0."""
    assert 0 == bread.run(MODEL, "--langs=en", "--xling-run-name=part", "--xling-limit=2").code
    bread.environment["COLUMNS"] = "120"
    whole, part = bread.xling("runs").stdout.splitlines()[-2:]
    assert "subset" not in whole
    assert "none, subset" in part
    assert "$0" in part.split()
    rows = json.loads(bread.xling("runs", "--json").stdout)
    assert [False, True] == [row["subset"] for row in rows]
    assert all(row["seconds"] > 0 for row in rows)


@pytest.mark.slow
def test_a_run_without_one_of_the_benchmarks_is_refused(bread: Project) -> None:
    """Unless what it has is named: the other baseline would stay one of another run."""
    text = (bread.benchmark / "prompts.yaml").read_text()
    bread.write("benchmarks/cake/prompts.yaml", text)
    tests = (bread.benchmark / "test_bread.py").read_text()
    bread.write("benchmarks/cake/test_cake.py", tests)
    data = bread.benchmark / "data" / "en.jsonl"
    bread.write("benchmarks/cake/data/en.jsonl", data.read_text(encoding="utf-8"))
    both = bread.run(MODEL, "--langs=en", "--xling-run-name=both")
    assert 0 == both.code, both.out
    assert 0 == bread.xling("promote", "both", "--benchmark=cake").returncode
    assert (
        0 == bread.run(MODEL, "--langs=en,hi,zh", "--xling-run-name=new", "benchmarks/bread").code
    )
    refused = bread.xling("promote", "new")
    assert "it has no cake, whose baseline is both" in refused.stderr
    assert 0 == bread.xling("promote", "new", "--benchmark=bread").returncode
