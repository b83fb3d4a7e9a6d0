"""Models that think before they answer: metrics read the answer, and the thoughts are judged apart."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import select, update

from pytest_xling.store.database import Database
from pytest_xling.store.schema import outputs
from tests.integration.project import write_questions
from tests.servers.batch_server import serving_batches
from tests.servers.openai_server import answering, serving

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tests.integration.project import Outcome, Project

THOUGHTS = (
    "Okay, the user asks in Spanish why bread rises when it is baked in a hot oven. The gas in the "
    "dough gets hot and expands. I should answer that briefly, in Spanish."
)
ANSWER = (
    "El pan sube porque la levadura produce un gas que se expande con el calor del horno. Así, la "
    "masa crece y la miga queda llena de pequeños huecos."
)
METRICS = ("no_answer", "wrong_language", "language_consistency", "repetition", "thought_language")
CLEAR = {"no_answer": 0.0, "wrong_language": 0.0, "language_consistency": 1.0, "repetition": 0.0}
TEST_FILE = f"""
import pytest

pytestmark = pytest.mark.xling(metrics={list(METRICS)})


def test_answer(xling_case):
    xling_case.check("no_answer", "wrong_language", "thought_language")
"""
MODEL = ("--model=m", "--langs=es")
CHANNELS = {
    "reasoning_content": {"reasoning_content": THOUGHTS},
    "reasoning": {"reasoning": THOUGHTS, "reasoning_content": None},
    "both": {"reasoning": THOUGHTS, "reasoning_content": THOUGHTS},
    "parts": {
        "content": [
            {"type": "thinking", "thinking": [{"type": "text", "text": THOUGHTS}]},
            {"type": "text", "text": ANSWER},
        ]
    },
    "a part of reasoning": {
        "content": [
            {"type": "reasoning", "summary": [{"type": "summary_text", "text": THOUGHTS}]},
            {"type": "text", "text": ANSWER},
        ]
    },
}


@pytest.fixture
def thinking(project: Project) -> Project:
    """A project that asks one question in Spanish."""
    shutil.rmtree(project.benchmark / "data")
    write_questions(project, count=1, languages=("es",))
    project.write("benchmarks/bread/test_bread.py", TEST_FILE)
    return project


def asked(project: Project, answer: str, *options: str, **message: Any) -> Outcome:
    """Run the project with a server that answers so."""
    with answering(answer=answer, message=json.dumps(message) if message else "") as url:
        project.environment.update(OPENAI_BASE_URL=url, OPENAI_API_KEY="k")
        return project.run(*MODEL, *options)


def values(project: Project) -> dict[str, float | None]:
    """Return the newest run's scores by metric."""
    return {score.metric: score.value for score in project.scores()}


def reasons(project: Project) -> dict[str, str]:
    """Return what the newest run's metrics gave as their reasons."""
    return {score.metric: score.reason for score in project.scores()}


@pytest.mark.parametrize(
    "answer",
    [
        f"<think>\n{THOUGHTS}\n</think>\n\n{ANSWER}",
        f"{THOUGHTS}\n</think>\n\n{ANSWER}",
    ],
)
def test_a_right_answer_is_right_whatever_was_thought(thinking: Project, answer: str) -> None:
    """Metrics read what stands after the tags; the thoughts are in English, and flagged for it."""
    outcome = asked(thinking, answer)
    assert 1 == outcome.code, outcome.out
    assert values(thinking) == CLEAR | {"thought_language": 1.0}
    (stored,) = thinking.answers()
    assert (ANSWER, THOUGHTS) == (stored.response["text"], stored.response["thoughts"])
    assert "thoughts: detected English (en) by langid, expected Spanish (es)" in outcome.out
    assert f"thoughts ({len(THOUGHTS)} characters)" in outcome.out or "thoughts: Okay" in outcome.out
