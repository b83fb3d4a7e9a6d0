"""What breaks in an evaluation is told once, asks nothing twice, and holds nobody up."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.integration.project import Project

METRIC = """
import pytest_xling.metrics.no_answer as module
metric = module.NoAnswer
def score(self, answers):
    open("scored.txt", "a").write("x")
    {body}
metric.score = score
"""

PROVIDER = """
import pytest_xling.providers.scripted as module
answer = module.ScriptedProvider.generate
async def generate(self, request):
    with open("asked.txt", "a") as file:
        file.write("x")
    if request.sample_id == "q0001":
        raise {error}
    return await answer(self, request)
module.ScriptedProvider.generate = generate
"""


def run(project: Project, code: int, **outcomes: int) -> str:
    """Run two languages, which ends so and with these outcomes beside the skipped gate."""
    outcome = project.run("--model=scripted", "--langs=en,hi")
    assert code == outcome.code, outcome.out + outcome.err
    assert Counter(skipped=1, **outcomes) == Counter(outcome.cases.values())
    return " ".join(outcome.out.split())


@pytest.mark.slow
def test_a_metric_that_ends_the_process_is_an_error_of_each_case(project: Project) -> None:
    """Exit 3; the answers are kept, and the metric is not tried again for each case."""
    project.write("conftest.py", METRIC.format(body="raise SystemExit(0)"))
    assert "SystemExit" in run(project, 3, error=8)
    assert (project.root / "scored.txt").read_text() == "x"


@pytest.mark.slow
@pytest.mark.parametrize("error", ["TimeoutError('slow')", "ZeroDivisionError"])
def test_a_bug_in_a_metric_is_a_fault_of_its_scores(project: Project, error: str) -> None:
    """Exit 3; other metrics are scored, and it is said what broke and where."""
    project.write("conftest.py", METRIC.format(body=f"raise {error}"))
    assert f"'no_answer' broke: {error.partition('(')[0]}" in run(project, 3, error=8)
    assert {"wrong_language"} <= {score.metric for score in project.scores()}
    # Each batch is halved until what breaks it stands alone; no case is begun anew.
    assert len((project.root / "scored.txt").read_text()) < 2 * 8


def test_an_answer_that_breaks_a_metric_costs_its_own_score_only(project: Project) -> None:
    """The line that broke is named."""
    body = (
        "from pytest_xling.records import Reading; "
        "return [Reading(value={'q0001': 1 / (a.sample.id != 'q0001')}.get('', 0.0)) "
        "for a in answers]"
    )
    project.write("conftest.py", METRIC.format(body=body))
    broke = "'no_answer' broke: ZeroDivisionError: division by zero (conftest.py:6)"
    assert broke in run(project, 3, passed=6, error=2)


@pytest.mark.parametrize(
    "error",
    [
        "KeyError('choices')",
        pytest.param("TimeoutError('slow')", marks=pytest.mark.slow),
        pytest.param("SystemExit(1)", marks=pytest.mark.slow),
    ],
)
def test_a_bug_in_a_provider_costs_its_own_cases_only(project: Project, error: str) -> None:
    """The others are answered, each question is asked once, and a rerun asks only what broke."""
    project.write("conftest.py", PROVIDER.format(error=error))
    run(project, 3, passed=6, error=2)
    assert len((project.root / "asked.txt").read_text()) == 8
    run(project, 3, passed=6, error=2)
    assert len((project.root / "asked.txt").read_text()) == 10


def test_a_reason_with_half_a_character_is_kept_as_it_can_be(project: Project) -> None:
    """It must not end the thread of the store, for whom all would wait."""
    body = (
        "from pytest_xling.records import Reading; "
        "return [Reading(value=0.0, reason='a\\ud83d') for _ in answers]"
    )
    project.write("conftest.py", METRIC.format(body=body))
    run(project, 0, passed=8)
    reasons = {score.reason for score in project.scores() if score.metric == "no_answer"}
    assert {"a\ufffd"} == reasons


@pytest.mark.slow
@pytest.mark.parametrize("body", ["raise ValueError", "await __import__('asyncio').sleep(900)"])
def test_a_provider_that_does_not_close_costs_nothing(project: Project, body: str) -> None:
    """All is answered and kept by then: the report is written and the run is green."""
    project.write(
        "conftest.py",
        "import pytest_xling.providers.scripted as module\n"
        f"async def aclose(self): {body}\n"
        "module.ScriptedProvider.aclose = aclose\n",
    )
    run(project, 0, passed=8)
    assert project.latest().status == "complete"


def test_what_costs_nothing_is_not_billed(project: Project) -> None:
    """A price is the model's that is paid for, not that of a script or a transcript."""
    price = ("--xling-price=scripted=1000,1000", "--xling-max-cost=0.001")
    outcome = project.run("--model=scripted", "--langs=en,hi", *price)
    assert outcome.code == 0, outcome.out
