"""Mistakes in configuration: one clear message, exit 4, nothing asked, no store made."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.integration.project import Project


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--model=scripted", "--langs=hii"], r"Did you mean 'hi'"),
        pytest.param(
            ["--model=scripted", "--langs=hii", "-n2"],
            r"Did you mean 'hi'",
            marks=pytest.mark.slow,
        ),
        (["--model=scripted", "--langs=sw"], r"no data for language 'sw'"),
        (["--model=scripted", "--xling-data=bred=."], r"Did you mean 'bread'"),
        (["--model=scripted:none.yaml"], r"none\.yaml"),
        (["--model=gpt-4o"], r"OPENAI_API_KEY"),
        (["--model=gpt-4o", "--xling-max-cost=5"], r"--xling-price"),
        pytest.param(
            ["--model=scripted", "--xling-device=cuda:99"],
            r"device 'cuda:99' is not there",
            marks=pytest.mark.slow,  # asks torch
        ),
        (["--model=scripted", "--langs=hi", "no_such_folder"], r"no_such_folder"),
    ],
)
def test_a_wrong_option_is_a_usage_error(
    project: Project, arguments: list[str], message: str
) -> None:
    """The message names the option and the fix, once, on the controller."""
    said = project.refused(*arguments)
    assert len(re.findall(message, said)) == 1, said
    assert not project.store.exists()


@pytest.mark.parametrize(
    ("thresholds", "message"),
    [
        ("benchmarks: {bread: {wrong_langage: {max_rate: 0.1}}}", "Did you mean 'wrong_language'"),
        ("benchmarks: {bred: {wrong_language: {max_rate: 0.1}}}", "Did you mean 'bread'"),
        ("benchmarks:\n  bread:\n    x: 1\n    x: 2\n", "thresholds.yaml:4"),
    ],
)
def test_wrong_thresholds_are_a_usage_error(
    project: Project, thresholds: str, message: str
) -> None:
    """Told with the file; tests/config/test_limits.py has all that may be wrong with them."""
    project.write("thresholds.yaml", thresholds)
    said = project.refused("--model=scripted")
    assert message in said
    assert "thresholds.yaml" in said
    assert not project.store.exists()


def test_wrong_data_is_a_usage_error(project: Project) -> None:
    """Told with file and line; tests/importers/test_rows_jsonl.py has what may be wrong."""
    project.write("benchmarks/bread/data/hi.jsonl", '{"id": "q1", "set"')
    assert "hi.jsonl:1" in project.refused("--model=scripted", "--langs=hi")


def test_a_store_that_cannot_be_made_is_a_usage_error(project: Project) -> None:
    """It is noticed before anything is asked."""
    project.write("flat", "")
    said = project.refused("--model=scripted", "--langs=hi", "--xling-store=flat/store.sqlite")
    assert "folder of the store" in said


@pytest.mark.slow
def test_precedence_of_sources(project: Project) -> None:
    """Command line, then environment, then ini; thresholds.yaml is none of them."""
    project.write("pytest.ini", "[pytest]\nxling_langs = es\nxling_samples = 2\n")
    project.run("--model=scripted")
    assert {a.language for a in project.answers()} == {"es"}
    assert {a.condition for a in project.answers()} == {"", "r1"}
    project.environment["XLING_LANGS"] = "hi"
    project.run("--model=scripted")
    assert {a.language for a in project.answers()} == {"hi"}
    project.run("--model=scripted", "--langs=zh")
    assert {a.language for a in project.answers()} == {"zh"}
    project.write("thresholds.yaml", "run: {langs: en}\n")
    outcome = project.run("--model=scripted")
    assert (4, True) == (outcome.code, "xling_langs = en" in outcome.err)


def test_an_empty_model_is_a_usage_error(project: Project) -> None:
    """An unset variable in a script: a release gate must not ask nothing and end with 0."""
    empty = "the model's name is empty; is a variable unset?"
    assert empty in project.refused("--model=")
    project.write("pytest.ini", "[pytest]\nxling_model =\n")
    assert empty in project.refused()
    project.write("pytest.ini", "[pytest]\n")
    project.environment["XLING_MODEL"] = ""
    assert empty in project.refused()
    assert not project.store.exists()


UNSEARCHABLE = """
import errno, os, pathlib

stat = pathlib.Path.stat

def denied(path, **how):
    if ".locked" in path.parts[:-1]:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
    return stat(path, **how)

pathlib.Path.stat = denied
"""


@pytest.mark.parametrize("option", ["store", "report", "thresholds"])
def test_a_folder_that_cannot_be_searched(project: Project, option: str) -> None:
    """What lies in it cannot even be looked for: that is a mistake, and no internal error."""
    (project.root / ".locked").mkdir()
    project.write("conftest.py", UNSEARCHABLE)  # for root any folder can be searched
    said = project.refused("--model=scripted", "--langs=hi", f"--xling-{option}=.locked/x")
    assert ".locked/x: Permission denied; make it accessible" in said
    assert not project.store.exists()
