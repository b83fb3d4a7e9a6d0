"""How a run ends, and what asks nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.integration.project import Project

RUN = ("--langs=en,hi",)


@pytest.mark.parametrize(
    ("rule", "code"),
    [('text: ""', 1), ("error: permanent", 3)],
    ids=["a failure", "a fault"],
)
def test_a_run_that_x_stopped_is_not_complete(project: Project, rule: str, code: int) -> None:
    """-x ends it as the user wished; its numbers still lack cases, and a fault is no failure."""
    model = project.script(
        f'rules:\n  - when: {{sample_id: q0001}}\n    {rule}\n  - text: "{{question}}"\n'
    )
    outcome = project.run(model, *RUN, "-x")
    assert code == outcome.code, outcome.out
    assert project.latest().status == "incomplete"


@pytest.mark.slow
@pytest.mark.parametrize("option", ["--collect-only", "--setup-plan", "--fixtures"])
def test_what_only_shows_asks_nothing(project: Project, option: str) -> None:
    """There is no run and no store, and the provider that always fails is not asked."""
    outcome = project.run(project.script("rules: [{error: permanent}]\n"), *RUN, option)
    assert outcome.code == 0, outcome.out
    assert not project.store.exists()


GARBAGE = """
import gc

SEEN = []


def pytest_configure():
    SEEN.append((gc.get_freeze_count(), gc.get_threshold()))


def pytest_runtest_setup(item):
    if len(SEEN) == 1:
        SEEN.append((gc.get_freeze_count(), gc.get_threshold()))


def pytest_unconfigure(config):
    (frozen, threshold), (frozen_in_test, threshold_in_test) = SEEN
    print("frozen:", frozen_in_test - frozen > 1000)
    print("rarer:", threshold_in_test > threshold)
    config.add_cleanup(lambda: print("as before:", gc.get_threshold() == threshold))
"""


@pytest.mark.slow
def test_what_stays_is_not_looked_through_for_garbage(project: Project) -> None:
    """In a warm run, too: before the first test runs; at the end Python's own threshold returns."""
    project.write("conftest.py", GARBAGE)
    for _ in ("cold", "warm"):
        out = project.run("--model=scripted", *RUN, "-s").out
        assert "frozen: True" in out
        assert "rarer: True" in out
        assert "as before: True" in out
