"""The bundled benchmark `health`, answered by a model that is always right."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_xling.importers.rows import Rows
from pytest_xling.planning.expand import candidates
from pytest_xling.planning.prompts import Prompts
from pytest_xling.text.yes_no import yes_or_no

if TYPE_CHECKING:
    from pytest_xling.records import Sample
    from tests.integration.project import Project

ROOT = Path(__file__).resolve().parents[2]
HEALTH = ROOT / "benchmarks" / "health"
LANGUAGES = ("en", "es", "hi", "zh")
YES_NO = {"en": ("Yes", "No"), "es": ("Sí", "No"), "hi": ("हाँ", "नहीं"), "zh": ("是", "否")}


def samples() -> list[Sample]:
    """Return the bundled questions."""
    return Rows().read(HEALTH / "data", benchmark="health", languages=LANGUAGES)


@pytest.fixture
def health(project: Project) -> Project:
    """A project with the bundled benchmarks and limits."""
    shutil.rmtree(project.root / "benchmarks")
    shutil.copytree(ROOT / "benchmarks", project.root / "benchmarks")
    shutil.copy(ROOT / "thresholds.yaml", project.root)
    return project


@pytest.mark.slow
def test_verdicts_that_are_all_right_open_every_gate(health: Project) -> None:
    """The bundled limits are what the bundled questions can prove."""
    health.write_rows(
        "perfect.jsonl",
        (
            {
                "sample_id": one.id,
                "language": one.language,
                "text": YES_NO[one.language][one.reference == "wrong"],
            }
            for sample in samples()
            for one in candidates(sample, seed=0)
        ),
    )
    outcome = health.run(
        "benchmarks/health/verifiability", "--model=transcript:perfect.jsonl",
        "--xling-temperatures=0", "-n0", "-q",
    )  # fmt: skip
    assert 0 == outcome.code, outcome.out[-3000:]
    assert {"pass"} == {verdict.outcome for verdict in health.verdicts().values()}


@pytest.mark.slow
def test_the_experts_answers_open_every_gate(health: Project) -> None:
    """With a judge that finds them as good as the expert's."""
    health.write_rows(
        "perfect.jsonl",
        ({"sample_id": s.id, "language": s.language, "text": s.reference} for s in samples()),
    )
    reply = '{"reasoning": "The same.", "{verdict_key}": "more_comprehensive"}'
    health.write("judge.yaml", f"rules:\n  - text: '{reply}'\n")
    outcome = health.run(
        "benchmarks/health/correctness", "--model=transcript:perfect.jsonl",
        "--xling-judge=scripted:judge.yaml", "-n0", "-q",
    )  # fmt: skip
    assert 0 == outcome.code, outcome.out[-3000:]
    assert {"pass"} == {verdict.outcome for verdict in health.verdicts().values()}


@pytest.mark.slow
def test_a_transcript_cannot_judge(health: Project) -> None:
    """It has only answers that are there already: a mistake that is told before anything runs."""
    health.write_rows("a.jsonl", [{"sample_id": "q01", "language": "en", "text": "Rest."}])
    said = health.refused("benchmarks/health/correctness", "--model=transcript:a.jsonl", "-n0")
    assert "name another judge with --xling-judge=MODEL" in said


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_prompt_said_again_is_no_verdict(language: str) -> None:
    """A model that restates its task has not said whether the answer is right."""
    prompts = Prompts.read(HEALTH / "verifiability" / "prompts.yaml")
    sample = next(s for s in samples() if s.language == language)
    asked = candidates(sample, seed=0)[0]
    (message,) = prompts.messages(asked, "chat")
    echo = tuple(asked.prompt.values())
    assert yes_or_no(message.content, language, echo=echo).yes is None
    for line in prompts.chat.get(language, prompts.chat["default"]).splitlines():
        if line.strip() and "{" not in line:
            assert yes_or_no(line, language).yes is None, line
