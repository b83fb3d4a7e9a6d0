"""docs/architecture.md beside the calls of a real run."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

from tests.integration.project import Project, write_questions

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "architecture.md"

BENCHMARK = """
import pytest

pytestmark = pytest.mark.xling(metrics=["no_answer", "language_consistency"])


def test_answer(xling_case):
    xling_case.check("no_answer")


def test_gate(xling_gate):
    xling_gate.check()
"""

THRESHOLDS = "benchmarks: {bread: {language_consistency: {floor: 0.5}}}"

ANSWERS = "rules: [{text: Bread rises because the yeast in it makes gas while it is warm.}]"

# Loaded before the plugin starts: notes each function of the package when it is first called.
RECORDER = """
import json, sys, threading

calls = {}


def note(frame, event, _):
    path, package, file = frame.f_code.co_filename.rpartition("/pytest_xling/")
    if event == "call" and package:
        calls.setdefault(f"{file}::{frame.f_code.co_qualname}")


threading.setprofile(note)
sys.setprofile(note)


def pytest_unconfigure():
    sys.setprofile(None)
    with open("calls.json", "w") as file:
        json.dump(list(calls), file)
"""


def walk() -> list[str]:
    """Return the functions the page's walk names, in its order."""
    _, _, text = PAGE.read_text(encoding="utf-8").partition("## The walk of one answer")
    return re.findall(r"`([\w/]+\.py::[\w.]+)`", text)


def out_of_order(named: Sequence[str], calls: Sequence[str]) -> list[str]:
    """Return what is named and called before what is named before it, or not called at all."""
    positions = {call: position for position, call in enumerate(calls)}
    wrong, latest = [], -1
    for function in named:
        position = positions.get(function, -1)
        if position <= latest:
            wrong.append(function)
        latest = max(latest, position)
    return wrong


def test_the_walk_is_that_of_a_run(tmp_path: Path) -> None:
    """Every function the page names is called, and in the page's order."""
    project = Project(tmp_path)
    project.write("pytest.ini", "[pytest]\n")
    project.write("conftest.py", RECORDER)
    project.write("benchmarks/bread/prompts.yaml", 'chat: "{question}"\n')
    project.write("benchmarks/bread/test_bread.py", BENCHMARK)
    write_questions(project, count=1, languages=["en"])
    project.write("thresholds.yaml", THRESHOLDS)
    done = project.run("benchmarks", project.script(ANSWERS), "--langs=en")
    assert done.code == 1, done.out + done.err  # one answer decides nothing
    calls = json.loads((tmp_path / "calls.json").read_text(encoding="utf-8"))
    named = walk()
    assert len(named) > 30, "the page names the functions of the walk"
    assert out_of_order(named, calls) == []


def test_what_is_out_of_order_is_found() -> None:
    """A function that is never called, or sooner than the page says, is told."""
    assert out_of_order(["a", "b", "c"], ["a", "x", "b", "c"]) == []
    assert out_of_order(["a", "c", "b"], ["a", "b", "c"]) == ["b"]
    assert out_of_order(["a", "gone"], ["a", "b"]) == ["gone"]


def test_rooms_of_the_table_are_the_rooms_there_are() -> None:
    """The page's table names every room of the package, and no other."""
    table, _, _ = PAGE.read_text(encoding="utf-8").partition("An **entry**")
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    named = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    package = ROOT / "pytest_xling"
    folders = {path.parent.name for path in package.glob("*/__init__.py")}
    assert named == folders | {path.stem for path in package.glob("[!_]*.py")}
