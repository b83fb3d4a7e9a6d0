"""Checks that a prompts.yaml declares, through pytest and afterwards."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.integration.project import Project

PROMPTS = """
chat: "{question}"
checks:
  no_apology:
    not_contains: {default: sorry, es: lo siento}
    ignore_case: true
  short: {max_chars: {en: 20, es: 2000}}
"""
TEST_FILE = """
import pytest

pytestmark = pytest.mark.xling(metrics=["no_apology", "short"])


def test_answer(xling_case):
    xling_case.check("no_apology", "short")


def test_gate(xling_gate):
    xling_gate.check()
"""
THRESHOLDS = """
benchmarks:
  bread:
    defaults: {min_n: 3, on_inconclusive: warn}
    no_apology: {max_rate: 0.2}
    short: {max_rate: 0}
"""
SCRIPT = """
rules:
  - when: {language: es, sample_id: q0000}
    text: "Lo siento, no lo sé."
  - when: {language: en}
    text: "Sorry? Because of the steam in the dough."
  - when: {language: hi}
    stop_reason: refusal
  - text: "{question}"
"""


@pytest.fixture
def checked(project: Project) -> Project:
    """A project with checks, limits of them, and a model that fails some."""
    project.write("benchmarks/bread/prompts.yaml", PROMPTS)
    project.write("benchmarks/bread/test_bread.py", TEST_FILE)
    project.write("thresholds.yaml", THRESHOLDS)
    project.write("script.yaml", SCRIPT)
    return project


@pytest.mark.slow
def test_checks_are_metrics(checked: Project) -> None:
    """They are scored, asserted, gated and signed as any other, in every process."""
    outcome = checked.run("--model=scripted:script.yaml", "--langs=en,es,hi", "-n2")
    assert 1 == outcome.code, outcome.out
    assert ["failed", "skipped", "passed", "skipped"] == [
        outcome.cases[f"test_answer[{case}]"]
        for case in ("q0000-en", "q0000-es", "q0001-es", "q0000-hi")
    ]
    verdicts = checked.verdicts()
    assert {
        "no_apology-en": "fail",
        "no_apology-es": "inconclusive",
        "no_apology-hi": "inconclusive",
        "short-en": "fail",
        "short-es": "pass",
        "short-hi": "inconclusive",
    } == {case: verdict.outcome for case, verdict in verdicts.items()}
    properties = outcome.properties("test_answer[q0001-es]")
    assert "0" == properties["xling_score_no_apology"]
    assert (
        'no_apology|v1|ignore_case:true|not_contains:{"default":["sorry"],"es":["lo siento"]}'
        == outcome.suite_properties()["xling_signature_no_apology"]
    )
    (said,) = {s.reason for s in checked.scores() if s.language == "hi"}
    assert "no answer: refusal" == said
    (said,) = {s.reason for s in checked.scores() if (s.metric, s.language) == ("short", "en")}
    assert "41 characters, more than 20" == said
    # Judged once more where nothing is but the store.
    (checked.benchmark / "prompts.yaml").unlink()
    again = checked.xling("gate", "latest", "--thresholds=thresholds.yaml")
    assert 1 == again.returncode, again.stderr
    assert "41 characters" in checked.xling("show", "latest", "--verbose").stdout


@pytest.mark.slow
def test_a_changed_check_is_scored_anew(checked: Project) -> None:
    """The answers are kept, and asked for no more."""
    checked.run("--model=scripted:script.yaml", "--langs=es", "-n0")
    assert 1.0 in {s.value for s in checked.scores() if s.metric == "no_apology"}
    checked.write("benchmarks/bread/prompts.yaml", PROMPTS.replace("lo siento", "perdón"))
    checked.run("--model=scripted:script.yaml", "--langs=es", "-n0")
    assert {0.0} == {s.value for s in checked.scores() if s.metric == "no_apology"}


@pytest.mark.parametrize(
    ("file", "wrong", "message"),
    [
        (
            "prompts.yaml",
            "max_chars: many",
            "prompts.yaml:7: checks.short.max_chars: needs a",
        ),
        ("prompts.yaml", 'contains: "{refrence}"', "names the field 'refrence', which sample"),
        ("thresholds.yaml", "shrot", "unknown metric 'shrot'. Did you mean 'short'?"),
        ("test_bread.py", "shrot", "unknown metric 'shrot'. Did you mean 'short'?"),
    ],
)
def test_mistakes_are_told_before_anything_is_asked(
    checked: Project, file: str, wrong: str, message: str
) -> None:
    """With exit status 4, and no store."""
    if file == "prompts.yaml":
        text = PROMPTS.replace("max_chars: {en: 20, es: 2000}", wrong)
    else:
        text = (THRESHOLDS if file == "thresholds.yaml" else TEST_FILE).replace("short", wrong)
    checked.write(file if file == "thresholds.yaml" else f"benchmarks/bread/{file}", text)
    for how in ("-n0", "--collect-only"):
        outcome = checked.run("--model=scripted:script.yaml", "--langs=es", how)
        assert 4 == outcome.code
        assert message in outcome.out + outcome.err
