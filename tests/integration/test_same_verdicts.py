"""pytest and ``xling gate`` give the same verdicts on one run, field by field, word by word."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import pytest

from tests.integration.project import (
    make_bread,
    write_questions,
)

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_xling.records import Verdict
    from tests.integration.project import Project

LANGUAGES = ("en", "es", "hi")
LIMITS = """\
defaults: {min_n: 8, on_inconclusive: warn}
benchmarks:
  bread:
    no_answer: {max_rate: 0.2, max_gap: 0.1, max_drop: 0.05}
    wrong_language:
      max_rate: 0.3
      max_gap: 0.1
      max_drop: 0.1
      languages: {es: {max_drop: 50%}}
    repetition: {max_rate: 0}
    answer_length: {floor: 15, ceiling: 500}
"""
GOOD = "rules: [{text: '{question}'}]\n"
# Hindi answers to two thirds of the questions are in English; one Spanish answer is, too.
WEAK = """\
rules:
  - {when: {language: hi, sample_id: "q000?"}, text: "Because of the steam in the dough, I think."}
  - {when: {language: hi, sample_id: "q001[0-5]"}, text: "Because of the steam in the dough."}
  - {when: {language: es, sample_id: "q0003"}, text: "Because of the steam in the dough, I think."}
  - {text: "{question}"}
"""
FAULTY = """\
rules:
  - {when: {language: hi, sample_id: "q000?"}, error: permanent}
  - {when: {language: zh}, error: permanent}
  - {text: "{question}"}
"""


@pytest.fixture
def bread(tmp_path: Path) -> Project:
    """A project with 24 parallel questions in three languages."""
    return make_bread(tmp_path, count=24, languages=LANGUAGES, prompts="pivot: en\n", limits=LIMITS)


def same_verdicts(project: Project, *arguments: str) -> dict[str, Verdict]:
    """Check that ``xling gate`` prints the verdicts that pytest kept, and return them by gate."""
    kept = project.verdicts()
    assert kept
    done = project.xling("gate", "latest", "--thresholds", "thresholds.yaml", "--json", *arguments)
    printed = json.loads(done.stdout)["verdicts"]
    assert len(kept) == len(printed), done.stdout
    by_gate: dict[str, Any] = {verdict["case"]: verdict for verdict in printed}
    for name, verdict in kept.items():
        assert json.loads(json.dumps(asdict(verdict))) == by_gate[name]
    return kept


def test_limits_gaps_and_drops(bread: Project) -> None:
    """Rates, means, gaps to English and drops from another run, each in its family."""
    outcome = bread.run(bread.script(GOOD), "--xling-run-name=base-1", "-n0", code=0)
    outcome = bread.run(bread.script(WEAK), "--baseline=base-1", "-n0", code=1)
    verdicts = same_verdicts(bread, "--baseline=base-1")
    assert {"pass", "fail", "inconclusive"} == {verdict.outcome for verdict in verdicts.values()}
    relative = verdicts["wrong_language-drop-es"]
    assert "4.2% after 0.0%: the baseline's mean is 0" in relative.reason
    properties = outcome.properties("test_gate[wrong_language-drop-es]")
    assert "50%" == properties["xling_max_drop"]
    assert {"wrong_language-drop-hi", "wrong_language-gap-hi", "answer_length-es"} <= set(verdicts)


@pytest.mark.slow
def test_missing_scores(bread: Project) -> None:
    """What met a fault is missing to both; a language without any answer has its gates, too."""
    write_questions(bread, count=24, languages=("zh",))
    bread.run(bread.script(FAULTY), "-n0", code=3)
    verdicts = same_verdicts(bread)
    missing = "10 of 24 scores are missing: they met a fault"
    assert ("error", missing) == (verdicts["no_answer-hi"].outcome, verdicts["no_answer-hi"].reason)
    assert "24 of 24 scores are missing: they met a fault" == verdicts["no_answer-zh"].reason
    assert "pass" == verdicts["no_answer-es"].outcome


@pytest.mark.slow
def test_what_was_not_selected(bread: Project) -> None:
    """Gates alone rest on the store, which has the answers of a part."""
    bread.run(bread.script(GOOD), "-n0", "-k", "q000 or q0010-hi", code=3)
    bread.run(bread.script(GOOD), "-n0", "-k", "test_gate", code=3)
    verdicts = same_verdicts(bread)
    assert {"error"} == {verdict.outcome for verdict in verdicts.values()}
    assert "14 of 24 scores are missing: their answers are not in the store" in (
        verdicts["no_answer-en"].reason
    )
    # Of languages that are not selected, gates are decided by nothing.
    bread.run(bread.script(GOOD), "-n0", "-k", "test_gate or not hi")
    assert "no answers" == same_verdicts(bread)["no_answer-hi"].reason


@pytest.mark.slow
def test_a_run_that_stopped_early(bread: Project) -> None:
    """Both decide by the look at which it stopped, its questions and what it may spend.

    With workers a run stops at the same look for the same reasons (test_option_stop_early.py).
    """
    write_questions(bread, count=60, languages=LANGUAGES)
    bread.run(bread.script(WEAK), "-n0", "--xling-stop-early=pocock:10", code=1)
    assert "stopped" == bread.latest().status
    verdicts = same_verdicts(bread)
    assert "fail" in {verdict.outcome for verdict in verdicts.values()}
    assert all("look" in verdict.reason for verdict in verdicts.values())


@pytest.mark.slow
def test_a_run_with_looks_to_its_end(bread: Project) -> None:
    """The last look decides with what is left to spend."""
    bread.run(bread.script(GOOD), "-n0", "--xling-stop-early=obrien-fleming:3", code=0)
    verdicts = same_verdicts(bread)
    assert all("look 3 of 3 at 100.0%" in verdict.reason for verdict in verdicts.values())
