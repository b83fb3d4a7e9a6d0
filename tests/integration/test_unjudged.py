"""Status 0 says the gate is open: not where limits exist and none of them was judged."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.integration.project import Project

LIMITS = "defaults: {min_n: 1}\nbenchmarks:\n  bread:\n    no_answer: {max_rate: 0}\n"
TEST_ANSWER = """
import pytest
pytestmark = pytest.mark.xling(metrics=["no_answer", "wrong_language"])
def test_answer(xling_case): xling_case.check("no_answer")
"""


def test_gates_left_out_are_told(project: Project) -> None:
    """-k without the gates asks and then decides nothing: 3, and the run is kept as complete."""
    project.write("thresholds.yaml", LIMITS)
    outcome = project.run("--model=scripted", "--langs=hi", "-k", "test_answer", "-n2")
    assert outcome.code == 3, outcome.out
    shown = " ".join(outcome.out.split())
    assert "no gate of bread was judged (exit 3): thresholds.yaml:4 limits it" in shown
    assert "`xling gate latest --thresholds thresholds.yaml`" in shown
    assert project.latest().status == "complete"
    judged = project.xling("gate", "latest", "--thresholds", "thresholds.yaml")
    assert judged.returncode == 0, judged.stdout + judged.stderr


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        ("no_answer: {languages: {zh: {max_rate: 0}}}", "limits it in other languages"),
        ("no_answer: {models: {gpt-*: {max_rate: 0}}}", "for other models"),
        ("no_answer: {max_drop: 0.1}", "beside a --baseline only"),
    ],
)
def test_limits_that_hold_nothing_here(project: Project, limits: str, reason: str) -> None:
    """Limits for other languages, for other models and beside a baseline that is not named."""
    project.write("thresholds.yaml", f"benchmarks:\n  bread:\n    {limits}\n")
    outcome = project.run("--model=scripted", "--langs=hi")
    assert outcome.code == 3, outcome.out
    assert reason in " ".join(outcome.out.split())


@pytest.mark.parametrize("of", ["languages: {zh: ", 'models: {"Scripted*": '])
def test_a_limit_among_others_that_holds_nothing_here(project: Project, of: str) -> None:
    """The gate is open by the others; that this one says nothing stands at the head of the run."""
    project.write("thresholds.yaml", f"{LIMITS}    wrong_language: {{{of}{{max_rate: 0}}}}}}\n")
    outcome = project.run("--model=scripted", "--langs=hi")
    assert outcome.code == 0, outcome.out
    assert (
        "thresholds.yaml:5: 'wrong_language' of bread is limited for other languages or models than"
        " scripted only: nothing is held to it"
    ) in " ".join(outcome.out.split())


def test_a_test_file_without_gates(project: Project) -> None:
    """The limits are there, and nobody asks for them."""
    project.write("thresholds.yaml", LIMITS)
    project.write("benchmarks/bread/test_bread.py", TEST_ANSWER)
    outcome = project.run("--model=scripted", "--langs=hi")
    assert outcome.code == 3, outcome.out
    assert "no test of a gate was run" in " ".join(outcome.out.split())


def test_what_needs_no_gate(project: Project) -> None:
    """Without limits, with an estimate or a mere listing it is 0; a failed case is still 1."""
    project.write("thresholds.yaml", LIMITS)
    assert project.run("--model=scripted", "--langs=hi", "--collect-only").code == 0
    assert project.run("--model=scripted", "--langs=hi", "--xling-estimate").code == 0
    refuses = project.script('rules:\n  - {text: "", stop_reason: refusal}\n')
    assert project.run(refuses, "--langs=hi", "-k", "test_answer").code == 1
    project.write("thresholds.yaml", "defaults: {min_n: 1}\n")
    assert project.run("--model=scripted", "--langs=hi").code == 0
