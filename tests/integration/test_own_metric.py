"""Metrics, annotators and models of one function each, in the project's conftest.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.integration.project import Project

CONFTEST = '''
import pytest_xling as xling


@xling.annotator()
def marks(text: str, language: str) -> int:
    return text.count("?") + text.count("？")


@xling.flag(version="1")
def too_short(answer: xling.Answer) -> bool | None:
    """Flags answers of fewer than 20 characters."""
    return len(answer.text) < 20


@xling.number(bounds=(0, None), better="lower", needs=["marks"])
def questions(answer: xling.Answer) -> float:
    """How many question marks there are."""
    return answer.annotations["marks"].value


@xling.provider("parrot")
async def parrot(messages: list[xling.Message], temperature: float) -> str:
    return f"{messages[-1].content} That is all I know of it."
'''
TEST_FILE = """
import pytest

pytestmark = pytest.mark.xling(metrics=["too_short", "questions"])


def test_answer(xling_case):
    xling_case.check("too_short")


def test_gate(xling_gate):
    xling_gate.check()
"""
THRESHOLDS = """
defaults: {min_n: 3}
benchmarks:
  bread:
    too_short: {max_rate: 0.9}
    questions: {ceiling: 40}
"""


@pytest.fixture
def mine(project: Project) -> Project:
    """A project whose metrics and model are functions of its own."""
    project.write("conftest.py", CONFTEST)
    project.write("thresholds.yaml", THRESHOLDS)
    project.write("benchmarks/bread/test_bread.py", TEST_FILE)
    return project


@pytest.mark.parametrize("workers", ["-n0", "-n2"])
def test_functions_are_metrics(mine: Project, workers: str) -> None:
    """They are scored, gated and signed as any other, in every process."""
    outcome = mine.run("--model=parrot", "--langs=en,hi", workers)
    assert 0 == outcome.code or "inconclusive" in outcome.out, outcome.out + outcome.err
    cases = outcome.cases
    assert "passed" == cases["test_answer[q0000-hi]"]
    properties = outcome.properties("test_answer[q0000-en]")
    assert "1" == properties["xling_score_questions"]
    assert "|source:" in properties["xling_signature_questions"]
    assert {"too_short-en", "too_short-hi", "questions-en", "questions-hi"} == set(mine.verdicts())


def test_a_changed_function_is_scored_anew(mine: Project) -> None:
    """The answers are kept, and asked for no more."""
    mine.run("--model=parrot", "--langs=en", "-n0")
    (before,) = {s.signature for s in mine.scores() if s.metric == "too_short"}
    mine.write("conftest.py", CONFTEST.replace("< 20", "< 500"))
    mine.run("--model=parrot", "--langs=en", "-n0")
    after = [s for s in mine.scores() if s.metric == "too_short"]
    assert before not in {s.signature for s in after}
    assert {1.0} == {s.value for s in after}


def test_a_misspelt_function(mine: Project) -> None:
    """It is known by its name, so a slip is told before anything is asked."""
    mine.write("benchmarks/bread/test_bread.py", TEST_FILE.replace('"too_short"', '"too_shrt"'))
    outcome = mine.run("--model=parrot", "--langs=en", "-n0")
    assert 4 == outcome.code
    assert "too_short" in outcome.out + outcome.err
