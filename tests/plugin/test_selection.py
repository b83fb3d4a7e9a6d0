"""Which cases and gates there are, whatever else a test is parametrised with."""

from __future__ import annotations

import shutil
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.integration.project import Project

RUN = ("--model=scripted", "--langs=en,hi")


def limit(project: Project, metric: str) -> None:
    """Give a metric a gate, which any number of cases decides."""
    bread = f"{{{metric}: {{max_rate: 0.9}}}}"
    project.write("thresholds.yaml", f"defaults: {{min_n: 1}}\nbenchmarks: {{bread: {bread}}}\n")


def test_cases_and_gates_may_have_other_parameters_beside(project: Project) -> None:
    """Cases are evaluated, and gates still wait for them, on two processes as well."""
    project.write(
        "benchmarks/bread/test_bread.py",
        """
import pytest

pytestmark = pytest.mark.xling(metrics=["no_answer", "repetition"])

@pytest.mark.parametrize("flag", ["no_answer", "repetition"])
def test_answer(xling_case, flag):
    xling_case.check(flag)

@pytest.mark.parametrize("time", [1, 2])
def test_gate(xling_gate, time):
    xling_gate.check()

@pytest.mark.parametrize("name", ["q0001-hi"])
def test_named_as_a_case(name):
    pass
""",
    )
    limit(project, "no_answer")
    outcome = project.run(*RUN, "-n2")
    assert outcome.code == 0, outcome.out
    assert Counter(passed=16 + 4 + 1) == Counter(outcome.cases.values())


def test_a_gate_has_its_metric_scored_though_no_case_names_it(project: Project) -> None:
    """Functions of one file may name different metrics."""
    project.write(
        "benchmarks/bread/test_bread.py",
        """
import pytest

@pytest.mark.xling(metrics=["no_answer"])
def test_one(xling_case):
    xling_case.check("no_answer")

@pytest.mark.xling(metrics=["wrong_language"])
def test_gate(xling_gate):
    xling_gate.check()
""",
    )
    limit(project, "wrong_language")
    outcome = project.run(*RUN)
    assert outcome.code == 0, outcome.out
    assert [4, 4] == [verdict.estimate.n for verdict in project.verdicts().values()]


def test_two_benchmarks_of_one_name_are_refused(project: Project) -> None:
    """Nothing could tell their cases apart."""
    shutil.copytree(project.benchmark, project.root / "other" / "bread")
    outcome = project.run(*RUN)
    assert outcome.code == 4
    assert "two benchmarks are named 'bread'" in outcome.err
    assert not project.store.exists()


def test_a_case_that_is_named_as_a_gate_is_refused(project: Project) -> None:
    """By its node id it could run before the cases it counts."""
    data = project.benchmark / "data" / "hi.jsonl"
    data.write_text(data.read_text(encoding="utf-8").replace("q0001", "repetition"), "utf-8")
    limit(project, "repetition")
    outcome = project.run(*RUN)
    assert outcome.code == 4
    assert "'repetition-hi' is a case and a gate as well" in outcome.out
    assert project.answers() == []


def test_a_case_the_user_skips_is_neither_asked_nor_counted(project: Project) -> None:
    """A question known to be bad must not weigh in the gate."""
    project.write(
        "conftest.py",
        """
import pytest

def pytest_collection_modifyitems(items):
    for item in items:
        if "q0001-hi" in item.name:
            item.add_marker(pytest.mark.skip(reason="bad question"))
""",
    )
    limit(project, "no_answer")
    outcome = project.run(*RUN, "-n0")
    assert outcome.code == 0, outcome.out
    estimates = {name: verdict.estimate.n for name, verdict in project.verdicts().items()}
    assert estimates == {"no_answer-en": 4, "no_answer-hi": 3}
    assert "q0001-hi" not in {answer.case_id for answer in project.answers()}
