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
        (["--model=scripted", "--langs=xx-unknown"], r"unknown language 'xx-unknown'"),
        (["--model=scripted", "--langs=sw"], r"no data for language 'sw'"),
        (["--model=scripted", "--xling-data=bred=."], r"Did you mean 'bread'"),
        (["--model=scripted", "--xling-data=bread=nowhere"], r"nowhere"),
        (["--model=scripted", "--xling-temperatures=hot"], r"--xling-temperatures"),
        (["--model=scripted", "--xling-thresholds=none.yaml"], r"none\.yaml"),
        (["--model=scripted:none.yaml"], r"none\.yaml"),
        (["--model=transcript:none.jsonl"], r"none\.jsonl"),
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
@pytest.mark.parametrize("workers", ["-n0", pytest.param("-n2", marks=pytest.mark.slow)])
def test_a_wrong_option_is_a_usage_error(
    project: Project, arguments: list[str], message: str, workers: str
) -> None:
    """The message names the option and the fix, once, on the controller."""
    outcome = project.run(*arguments, workers)
    assert outcome.code == 4, outcome.out + outcome.err
    shown = " ".join((outcome.out + outcome.err).split())
    assert len(re.findall(message, shown)) == 1, shown
    assert "Traceback" not in shown
    assert not project.store.exists()


@pytest.mark.parametrize(
    ("thresholds", "message"),
    [
        ("benchmarks: {bread: {wrong_langage: {max_rate: 0.1}}}", "Did you mean 'wrong_language'"),
        ("benchmarks: {bred: {wrong_language: {max_rate: 0.1}}}", "Did you mean 'bread'"),
        ("benchmarks: {bread: {wrong_language: {max_rates: 0.1}}}", "Did you mean 'max_rate'"),
        ("benchmarks: {bread: {wrong_language: {max_rate: 2}}}", "max_rate"),
        ("benchmarks:\n  bread:\n    x: 1\n    x: 2\n", "thresholds.yaml:4"),
        ("", "empty"),
    ],
)
def test_wrong_thresholds_are_a_usage_error(
    project: Project, thresholds: str, message: str
) -> None:
    """The message names the file, the line and the key."""
    project.write("thresholds.yaml", thresholds)
    outcome = project.run("--model=scripted")
    assert outcome.code == 4, outcome.out
    assert message in outcome.err + outcome.out
    assert "thresholds.yaml" in outcome.err + outcome.out
    assert not project.store.exists()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "empty"),
        (b'{"id": "q1", "set"', "hi.jsonl:1"),
        (b'{"id": "q1", "set": "a", "category": "c", "source": "s", "question": "\xff"}', "UTF-8"),
        (b'{"id": "q1", "set": "a", "category": "c", "source": "s"}', "question"),
    ],
)
def test_wrong_data_is_a_usage_error(project: Project, data: bytes, message: str) -> None:
    """The message names the file and the line."""
    (project.benchmark / "data" / "hi.jsonl").write_bytes(data)
    outcome = project.run("--model=scripted", "--langs=hi")
    assert outcome.code == 4, outcome.out
    assert message in outcome.err
    assert "hi.jsonl" in outcome.err


def test_an_unknown_variable_is_a_usage_error(project: Project) -> None:
    """A misspelt XLING_ variable would otherwise be silently ignored."""
    project.environment["XLING_LANG"] = "hi"
    outcome = project.run("--model=scripted")
    assert outcome.code == 4
    assert "XLING_LANGS" in outcome.err


@pytest.mark.slow
def test_an_unknown_metric_in_a_test_file_is_a_collection_error(project: Project) -> None:
    """The message names the file and what is close; nothing is asked."""
    project.write(
        "benchmarks/bread/test_bread.py",
        "import pytest\npytestmark = pytest.mark.xling(metrics=['repitition'])\n"
        "def test_answer(xling_case): xling_case.check('repitition')\n",
    )
    outcome = project.run("--model=scripted", "--langs=hi")
    assert outcome.code == 4
    assert "Did you mean 'repetition'" in outcome.out


def test_a_read_only_store_is_a_usage_error(project: Project) -> None:
    """A store that cannot be written is noticed before anything is asked."""
    (project.root / "flat").write_text("", encoding="utf-8")
    outcome = project.run("--model=scripted", "--langs=hi", "--xling-store=flat/store.sqlite")
    assert outcome.code == 4, outcome.out
    assert "--xling-store" in outcome.err or "folder of the store" in outcome.err


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


@pytest.mark.parametrize("place", ["--model=", "--xling-model=", "environment", "ini"])
def test_an_empty_model_is_a_usage_error(project: Project, place: str) -> None:
    """An unset variable in a script: a release gate must not ask nothing and end with 0."""
    given = [place] if place.startswith("--") else []
    if place == "environment":
        project.environment["XLING_MODEL"] = ""
    if place == "ini":
        project.write("pytest.ini", "[pytest]\nxling_model =\n")
    outcome = project.run(*given)
    assert outcome.code == 4, outcome.out + outcome.err
    assert "the model's name is empty; is a variable unset?" in outcome.err
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


@pytest.mark.parametrize(
    "option",
    [
        "--xling-store=.locked/s.sqlite",
        "--xling-report=.locked/r.html",
        "--xling-thresholds=.locked/t",
    ],
)
def test_a_folder_that_cannot_be_searched(project: Project, option: str) -> None:
    """What lies in it cannot even be looked for: that is a mistake, and no internal error."""
    (project.root / ".locked").mkdir()
    project.write("conftest.py", UNSEARCHABLE)  # for root any folder can be searched
    outcome = project.run("--model=scripted", "--langs=hi", option)
    assert outcome.code == 4, outcome.out + outcome.err
    assert f"{option.partition('=')[2]}: Permission denied; make it accessible" in outcome.err
    assert "INTERNALERROR" not in outcome.out + outcome.err
    assert not project.store.exists()
