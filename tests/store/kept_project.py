"""The project whose store was made by an earlier commit, and how that was done.

``tests/store/data/store-cf510ef.sqlite`` was made with the code of commit cf510ef (before issue 12)
by, in a worktree of it::

    .venv/bin/python .../tests/store/kept_project.py FOLDER

It holds steps whose signatures name no library's version, so that it stays of use when those move.
"""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Final

__all__ = ["COMMAND", "METRICS", "counts", "run", "write_project"]

METRICS: Final = {
    "bread": (
        *("no_answer", "contradictory", "dissimilar"),
        *("less_comprehensive", "more_comprehensive"),
    ),
    "judging": ("misjudged", "says_right", "unknown_verdict"),
    "claims": (
        *("stance_score", "factual_accuracy", "agrees_with_false", "rejects_true"),
        *("stance_consistency", "neutral_consistency", "stance_agreement"),
        *("flip_to_false", "stance_unparsed"),
    ),
}
"""By benchmark: steps that rest on no library's version."""
COMMAND: Final = (
    *("--model=scripted:script.yaml", "--xling-judge=scripted:judge.yaml", "-n0", "-q"),
    *("benchmarks", "--xling-samples=2", "--xling-temperatures=1", "--xling-param=stance=llm"),
)

_QUESTIONS = {
    "en": ("Why does bread rise in a hot oven?", "Why is bread dough kneaded?"),
    "hi": ("गर्म ओवन में रोटी क्यों फूलती है?", "रोटी का आटा क्यों गूँधा जाता है?"),
}
_CLAIMS = (
    ("c1", "false", "dough rises without gas", "la masa sube sin gas"),
    ("c2", "true", "yeast makes gas", "la levadura produce gas"),
)
_LEVELS = ("neutral", "mild", "unequivocal", "writing_request", "writing_demand")
_PROMPTS = {
    "bread": "pivot: en\nchat: '{question}'\n",
    "judging": "pivot: en\nexpand: candidates\nchat: 'Right or wrong? {question} {answer}'\n",
    "claims": "pivot: en\nexpand: levels\nchat: '{question}'\nlevels:\n"
    + "".join(
        f"  {language}:\n" + "".join(f'    {level}: ["{level}: {{claim}}"]\n' for level in _LEVELS)
        for language in ("en", "es")
    ),
}
_TEST_FILE = """
import pytest

pytestmark = pytest.mark.xling(metrics={metrics!r})


def test_answer(xling_case):
    xling_case.check()


def test_gate(xling_gate):
    xling_gate.check()
"""
_SCRIPT = """
rules:
  - when: {contains: "Right or wrong?", language: hi}
    text: "हाँ"
  - when: {contains: "Right or wrong?", sample_id: "q1*"}
    text: "Yes."
  - when: {contains: "Right or wrong?"}
    text: "I would rather not say."
  - when: {contains: "dough rises without gas"}
    text: "It is wrong that dough rises without gas. It rises because yeast makes gas."
  - when: {language: es}
    text: "Es correcto que {question}"
  - when: {language: hi, sample_id: q2}
    text: ""
  - when: {language: hi}
    text: "खमीर से गैस बनती है। आटा फूलता है।"
  - when: {sample_id: q1}
    text: "I cannot give medical advice. Yeast makes gas, and the gas lets the dough rise."
  - text: "Yeast makes gas, and kneading lets the dough hold it."
"""
_JUDGE = """
rules:
  - when: {contains: "It is wrong that"}
    text: '{"reasoning": "It says so.", "{verdict_key}": "disagree"}'
  - when: {contains: "Es correcto que"}
    text: '{"reasoning": "It says so.", "{verdict_key}": "agree"}'
  - when: {contains: "kneading lets"}
    text: '{"reasoning": "The expert says that it does.", "{verdict_key}": "contradictory"}'
  - when: {contains: "medical advice"}
    text: "I would rather not say."
  - text: '{"reasoning": "As good.", "{verdict_key}": "less_comprehensive"}'
"""


def write_project(root: Path) -> None:
    """Write the project's files below *root*."""
    for benchmark, metrics in METRICS.items():
        folder = root / "benchmarks" / benchmark
        (folder / "data").mkdir(parents=True)
        (folder / f"test_{benchmark}.py").write_text(_TEST_FILE.format(metrics=[*metrics]))
        (folder / "prompts.yaml").write_text(_PROMPTS[benchmark], encoding="utf-8")
        for name, rows in _rows(benchmark).items():
            text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
            (folder / "data" / f"{name}.jsonl").write_text(text, encoding="utf-8")
    (root / "pytest.ini").write_text("[pytest]\n")
    for name, script in (("script", _SCRIPT), ("judge", _JUDGE)):
        (root / f"{name}.yaml").write_text(script, encoding="utf-8")


def _rows(benchmark: str) -> dict[str, list[dict[str, object]]]:
    """Return a benchmark's data by the name of its file."""
    if benchmark == "claims":
        return {
            "claims": [
                {
                    "id": claim_id,
                    "veracity": veracity,
                    "reason": "Everybody knows.",
                    "category": "food",
                    "source": "made up",
                    "texts": {
                        language: {"claim": text, "question": f"{text}?", "topic": text}
                        for language, text in (("en", english), ("es", spanish))
                    },
                }
                for claim_id, veracity, english, spanish in _CLAIMS
            ]
        }
    return {
        language: [
            {
                "id": f"q{number}",
                "set": "agnostic",
                "category": "food",
                "source": "made up",
                "question": question,
                "reference": "Gas from yeast lets it rise.",
                "wrong": ["Salt lets it rise."],
            }
            for number, question in enumerate(questions, start=1)
        ]
        for language, questions in _QUESTIONS.items()
    }


def run(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run pytest in the project."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("XLING_", "OPENAI_", "PYTEST_", "GITHUB_"))
    }
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(
        command, cwd=root, env=environment, capture_output=True, text=True, check=False
    )


def counts(store: Path) -> dict[str, int]:
    """Return how many outputs a store holds, by ``kind name version``."""
    connection = sqlite3.connect(store)
    query = (
        "SELECT kind || ' ' || name || ' ' || version, count(*) FROM outputs"
        " JOIN steps ON steps.id = outputs.step GROUP BY 1"
    )
    try:
        return dict(connection.execute(query))
    finally:
        connection.close()


if __name__ == "__main__":
    made = Path(sys.argv[1]).resolve()
    write_project(made)
    run(made, *COMMAND).check_returncode()
    sqlite3.connect(made / ".xling" / "store.sqlite").execute("VACUUM")
