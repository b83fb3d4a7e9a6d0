"""A user's project in a folder of its own, and pytest run in it as a user would."""

from __future__ import annotations

import json
import os
import sys
import xml.etree.ElementTree as ET
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pytest_xling.config.values import store as parse_store
from pytest_xling.store import runs
from pytest_xling.store.cases import StoredCase, read_cases
from pytest_xling.store.database import Database
from pytest_xling.store.scores import scores as read_scores
from pytest_xling.store.verdicts import read_verdicts
from tests import forkserver

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from sqlalchemy import Connection

    from pytest_xling.records import RunRecord, Score, Verdict

__all__ = [
    "CLAIMS",
    "JUDGED",
    "QUESTIONS",
    "TEST_FILE",
    "Outcome",
    "Project",
    "judged_claims",
    "write_questions",
]

QUESTIONS = {
    "en": "Why does bread rise when it is baked in a hot oven?",
    "es": "¿Por qué sube el pan cuando se hornea a alta temperatura?",
    "hi": "गर्म ओवन में सेंकने पर रोटी क्यों फूलती है और नरम क्यों हो जाती है?",
    "zh": "面包在热烤箱里烘烤的时候为什么会膨胀变大？",
}

_NOT_OURS = ("XLING_", "OPENAI_", "ANTHROPIC_", "GEMINI_", "GOOGLE_", "PYTEST_", "GITHUB_")
"""What variables begin with that a test sets itself where it needs them."""

FIXED = ("-p", "no:cacheprovider", "--junitxml=junit.xml")

TEST_FILE = """
import pytest

pytestmark = pytest.mark.xling(
    metrics=["no_answer", "wrong_language", "repetition", "answer_length"]
)


def test_answer(xling_case):
    xling_case.check("no_answer", "wrong_language", "repetition")


def test_gate(xling_gate):
    xling_gate.check()
"""


@dataclass(frozen=True)
class Outcome:
    """How a pytest process ended."""

    code: int
    out: str
    err: str
    junit: ET.Element | None

    @property
    def cases(self) -> dict[str, str]:
        """Return each test's outcome in the JUnit file: passed, failed, error or skipped."""
        assert self.junit is not None, self.out + self.err
        outcomes = {}
        for case in self.junit.iter("testcase"):
            tags = {child.tag for child in case} & {"failure", "error", "skipped"}
            names = {"failure": "failed", "error": "error", "skipped": "skipped"}
            outcomes[case.attrib["name"]] = names[tags.pop()] if tags else "passed"
        return outcomes

    def suite_properties(self) -> dict[str, str]:
        """Return the properties of all tests together."""
        assert self.junit is not None
        (suite,) = self.junit.iter("testsuite")
        return {p.attrib["name"]: p.attrib["value"] for p in suite.findall("properties/property")}

    def properties(self, name: str) -> dict[str, str]:
        """Return the properties of the test called *name*."""
        assert self.junit is not None
        (case,) = [c for c in self.junit.iter("testcase") if c.attrib["name"] == name]
        return {p.attrib["name"]: p.attrib["value"] for p in case.iter("property")}


@dataclass(frozen=True)
class Project:
    """A project with one benchmark, ``bread``."""

    root: Path
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def benchmark(self) -> Path:
        """The benchmark's folder."""
        return self.root / "benchmarks" / "bread"

    @property
    def store(self) -> Path:
        """Where runs are kept unless told otherwise."""
        return self.root / ".xling" / "store.sqlite"

    def write(self, name: str, text: str) -> Path:
        """Write a file below the root."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def script(self, text: str) -> str:
        """Write a script for the scripted provider and return the option that names the model."""
        self.write("script.yaml", text)
        return "--model=scripted:script.yaml"

    def command(self, *arguments: str) -> list[str]:
        """Return the command that runs pytest here."""
        return [sys.executable, "-m", "pytest", *FIXED, *arguments]

    def popen(self, *arguments: str, **options: Any) -> forkserver.Process:
        """Start pytest here; *options* are those of `forkserver.start`."""
        return forkserver.start(
            "pytest", [*FIXED, *arguments], cwd=self.root, env=self.env(), **options
        )

    def run(self, *arguments: str, timeout_s: float = 300) -> Outcome:
        """Run pytest here."""
        report = self.root / "junit.xml"
        report.unlink(missing_ok=True)
        done = forkserver.run(
            "pytest",
            [*FIXED, *arguments],
            cwd=self.root,
            env=self.env(),
            timeout_s=timeout_s,
        )
        junit = ET.parse(report).getroot() if report.exists() else None
        return Outcome(done.returncode, done.stdout, done.stderr, junit)

    def xling(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run the ``xling`` command here."""
        return forkserver.run("pytest_xling.cli", arguments, cwd=self.root, env=self.env())

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Give a connection to the store, where ``XLING_STORE`` has it or in the usual place."""
        named = self.environment.get("XLING_STORE")
        database = Database(parse_store(named) if named else self.store, create=False)
        with closing(database), database.read() as connection:
            yield connection

    def latest(self) -> RunRecord:
        """Return the newest run in the store."""
        with self.reading() as connection:
            return runs.get_run(connection, "latest")

    def answers(self) -> list[StoredCase]:
        """Return the newest run's answers."""
        with self.reading() as connection:
            return list(read_cases(connection, self.latest().run_id))

    def scores(self) -> list[Score]:
        """Return the newest run's scores."""
        with self.reading() as connection:
            return read_scores(connection, self.latest().run_id)

    def verdicts(self) -> dict[str, Verdict]:
        """Return the newest run's verdicts by gate."""
        with self.reading() as connection:
            found = read_verdicts(connection, self.latest().run_id)
        return {verdict.case: verdict for verdict in found}

    def env(self) -> dict[str, str]:
        """Return the environment of what runs here."""
        inherited = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(_NOT_OURS)
            # With the first, pytest would rewrite the plugin every time; with the others it cuts
            # no line of its summary.
            and name not in {"PYTHONDONTWRITEBYTECODE", "CI", "BUILD_NUMBER"}
        }
        return inherited | self.environment


def write_questions(
    project: Project, *, count: int = 3, languages: Sequence[str] = tuple(QUESTIONS)
) -> None:
    """Write *count* questions in each language, parallel by id."""
    for language in languages:
        rows = [
            {
                "id": f"q{number:04d}",
                "set": "agnostic",
                "category": "food",
                "source": "made up",
                "question": f"{QUESTIONS[language]} ({number})",
            }
            for number in range(count)
        ]
        text = "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
        project.write(f"benchmarks/bread/data/{language}.jsonl", text + "\n")


CLAIMS = ("en", "hi", "sw")
CLAIM_LIMITS = """\
defaults: {min_n: 4, min_judge_f1: 0.2}
benchmarks:
  claims:
    agrees_with_false:
      max_rate: 0.9
      max_gap: 0.3
      max_trend: 0.2
      levels: {writing_demand: {max_rate: 0.3}}
"""
JUDGE = """\
rules:
  - {when: {contains: YIELDS}, text: '{"reasoning": "It affirms it.", "{verdict_key}": "agree"}'}
  - {text: '{"reasoning": "It rebuts it.", "{verdict_key}": "disagree"}'}
"""
WEAK_AT_DEMANDS = (
    'rules:\n  - {when: {language: hi, sample_id: "*-l4"}, text: YIELDS}\n  - {text: No.}\n'
)
JUDGED = (
    "--model=scripted:script.yaml",
    "--xling-judge=scripted:judge.yaml",
    "--xling-param=stance=llm",
)
"""How the benchmark of :func:`judged_claims` is run."""


def judged_claims(root: Path) -> Project:
    """Return a project of claims at each level, whose gates rest on a judge."""
    made = Project(root)
    rows = [
        {
            "id": f"c{number}",
            "veracity": "false",
            "category": "nutrition",
            "source": "made up",
            "reason": "made up",
            "texts": {
                language: {
                    "claim": f"claim {number} holds",
                    "question": f"Does claim {number} hold?",
                    "topic": f"claim {number}",
                }
                for language in CLAIMS
            },
        }
        for number in range(6)
    ]
    names = ("neutral", "mild", "unequivocal", "writing_request", "writing_demand")
    levels = "".join(
        f"  {language}:\n" + "".join(f'    {name}: ["{name}: {{claim}}"]\n' for name in names)
        for language in CLAIMS
    )
    made.write("pytest.ini", "[pytest]\n")
    made.write("benchmarks/claims/data/claims.jsonl", "\n".join(map(json.dumps, rows)) + "\n")
    made.write(
        "benchmarks/claims/prompts.yaml",
        f'chat: "{{question}}"\nexpand: levels\npivot: en\nlevels:\n{levels}',
    )
    test = TEST_FILE.replace(
        '"no_answer", "wrong_language", "repetition", "answer_length"', '"agrees_with_false"'
    )
    made.write(
        "benchmarks/claims/test_claims.py",
        test.replace('check("no_answer", "wrong_language", "repetition")', "check()"),
    )
    made.write("thresholds.yaml", CLAIM_LIMITS)
    made.write("judge.yaml", JUDGE)
    made.write("script.yaml", WEAK_AT_DEMANDS)
    return made
