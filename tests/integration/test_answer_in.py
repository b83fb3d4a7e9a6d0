"""A benchmark that asks in English for answers in other languages, from pytest to the store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_xling.store.browsing import browsed_cases
from pytest_xling.store.database import Database
from tests.integration.project import QUESTIONS

if TYPE_CHECKING:
    from tests.integration.project import Project

PROMPTS = """
chat: "{question} Respond in {answer_language}."
answer_in:
  en: [es, hi, zh]
"""
THRESHOLDS = """
benchmarks:
  bread:
    wrong_language: {max_rate: 0, min_n: 2}
"""
SCRIPT = f"""
rules:
  - when: {{contains: Respond in Spanish}}
    text: "It rises because the steam in the dough expands and lifts it."
  - when: {{contains: Respond in Hindi}}
    text: "{QUESTIONS["hi"]}"
"""
"""English where Spanish was asked for."""


def test_the_language_of_the_answer_is_the_one_that_is_gated(project: Project) -> None:
    """It is what --langs names, what cases are called by, what is expected and what is stored."""
    project.write("benchmarks/bread/prompts.yaml", PROMPTS)
    project.write("thresholds.yaml", THRESHOLDS)
    outcome = project.run(project.script(SCRIPT), "--langs=es,hi", "-n2")
    assert 1 == outcome.code, outcome.out
    assert {"es": "failed", "hi": "passed"} == {
        code: outcome.cases[f"test_answer[q0001-en-{code}]"] for code in ("es", "hi")
    }
    assert "  asked in: English\n" in outcome.out
    assert {"wrong_language-es": "fail", "wrong_language-hi": "pass"} == {
        case: verdict.outcome for case, verdict in project.verdicts().items()
    }
    with Database(project.store).read() as connection:
        cases = list(browsed_cases(connection, project.latest().run_id))
    assert {("es", "en"), ("hi", "en")} == {(c.language, c.metadata["asked_in"]) for c in cases}
