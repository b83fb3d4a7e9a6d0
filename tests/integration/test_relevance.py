"""Gates on the judge of relevance: it is measured on the way, and believed where it is good."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from pytest_xling.analysis.labelled import bundled_labels
from tests.annotators.judges import says

if TYPE_CHECKING:
    from tests.integration.project import Project

CONFTEST = '''
import pytest_xling as xling


@xling.flag(version="1", needs=["relevance_llm"])
def beside_the_point(answer: xling.Answer) -> bool | None:
    """Flags answers that do not take up their question."""
    relevant = answer.annotations["relevance_llm"].value["relevant"]
    return None if relevant is None else not relevant
'''
THRESHOLDS = """
benchmarks:
  bread:
    beside_the_point: {max_rate: 0.9, min_n: 3, min_judge_f1: 0.8}
"""
JUDGED = ("--xling-judge=openai:judge",)
CALIBRATE = ("calibrate", "relevance", "--langs=en,hi")


@pytest.fixture
def judged(project: Project) -> Project:
    """A project with a flag of its own that rests on the judge, and what the judge knows.

    It is right of all labelled answers in English, and finds all in Hindi relevant.
    """
    project.write("conftest.py", CONFTEST)
    project.write("thresholds.yaml", THRESHOLDS)
    project.write_tests("beside_the_point", check=("beside_the_point",))
    known = [
        ([item.claim, item.response], says(item.label))
        for item in bundled_labels("relevance").of("en")
    ]
    project.write("known.json", json.dumps(known, ensure_ascii=False))
    return project


@pytest.mark.slow
def test_a_gate_rests_on_how_well_the_judge_does_in_a_language(judged: Project) -> None:
    """It passes in English and is inconclusive in Hindi; what a run measures `xling` has, too."""
    with judged.served(answers=str(judged.root / "known.json"), answer=says("relevant")) as server:
        outcome = judged.run("--model=scripted", "--langs=en,hi", "-q", *JUDGED)
        assert 1 == outcome.code, outcome.out + outcome.err
        asked = server.requests
        measured = judged.xling(*CALIBRATE, "--json", *JUDGED)
        assert (0, asked) == (measured.returncode, server.requests), measured.stderr
    verdicts = judged.verdicts()
    assert "pass" == verdicts["beside_the_point-en"].outcome
    assert "relevance_llm has F1 1.00 in en on 84 " in verdicts["beside_the_point-en"].reason
    assert "inconclusive" == verdicts["beside_the_point-hi"].outcome
    assert "relevance_llm has F1 0.33 in hi on 58 " in verdicts["beside_the_point-hi"].reason
    rows = json.loads(measured.stdout)
    assert {"relevance_llm"} == {row["annotator"] for row in rows}
    assert {"en", "hi"} == {row["language"] for row in rows}


def test_calibration_needs_a_judge(judged: Project) -> None:
    """There is no option that would name another annotator."""
    refused = judged.xling(*CALIBRATE)
    assert 0 != refused.returncode
    assert "relevance asks a judge: name one with --xling-judge=MODEL" in refused.stderr
