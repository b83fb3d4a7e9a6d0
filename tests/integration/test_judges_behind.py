"""How good the judge behind a gate is: measured on the way, demanded, and told by every report."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from pytest_xling.analysis.labelled import bundled_labels
from tests.annotators.judges import says
from tests.integration.project import QUESTIONS
from tests.servers.openai_server import answering, stats

if TYPE_CHECKING:
    from tests.integration.project import Project

LANGUAGES = ("en", "hi")
TEST_FILE = """
import pytest

pytestmark = pytest.mark.xling(metrics=["contradictory"])


def test_answer(xling_case):
    xling_case.check("contradictory")


def test_gate(xling_gate):
    xling_gate.check()
"""
THRESHOLDS = """
benchmarks:
  bread:
    contradictory: {max_rate: 0.9, min_n: 3, min_judge_f1: 0.8}
"""
JUDGED = ("--xling-judge=openai:judge", "--langs=en,hi")


@pytest.fixture
def judged(project: Project) -> Project:
    """A project whose answers have references, and what the judge knows.

    It is right of all labelled answers in English, and finds all in Hindi to leave something out.
    """
    project.write("thresholds.yaml", THRESHOLDS)
    project.write("benchmarks/bread/test_bread.py", TEST_FILE)
    for language in LANGUAGES:
        rows = [
            {
                "id": f"q{number}",
                "set": "agnostic",
                "category": "food",
                "source": "made up",
                "question": f"{QUESTIONS[language]} ({number})",
                "reference": f"{QUESTIONS[language]} CO2!",
            }
            for number in range(3)
        ]
        text = "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
        project.write(f"benchmarks/bread/data/{language}.jsonl", text + "\n")
    known = [
        ([item.claim, item.reference, item.response], says(item.label))
        for item in bundled_labels("correctness").of("en")
    ]
    project.write("known.json", json.dumps(known, ensure_ascii=False))
    return project


def test_every_report_says_what_a_gate_rests_on(judged: Project) -> None:
    """Terminal, JUnit, HTML and GitHub; and asking for all calibrations asks nothing again."""
    summary = judged.root / "summary.md"
    with answering(
        answers=str(judged.root / "known.json"), answer=says("less_comprehensive")
    ) as url:
        judged.environment.update(
            OPENAI_BASE_URL=url, OPENAI_API_KEY="k", GITHUB_STEP_SUMMARY=str(summary)
        )
        outcome = judged.run("--model=scripted", "-q", "--xling-report=report.html", *JUDGED)
        assert 1 == outcome.code, outcome.out + outcome.err
        asked = stats(url)["requests"]
        one = judged.xling("calibrate", "correctness", "--json", *JUDGED)
        assert (0, asked) == (one.returncode, stats(url)["requests"]), one.stderr
    verdicts = judged.verdicts()
    assert "pass" == verdicts["contradictory-en"].outcome
    assert "inconclusive" == verdicts["contradictory-hi"].outcome
    said = "correctness_label has F1 0.10 in hi on 48 labelled answers (bundled@"
    assert said in verdicts["contradictory-hi"].reason
    assert re.search(r"^hi Hindi +0\.10 +0\.10–0\.10$", outcome.out, re.MULTILINE), outcome.out
    property_said = outcome.properties("test_gate[contradictory-hi]")["xling_judge"]
    assert property_said.startswith(said)
    page = (judged.root / "report.html").read_text(encoding="utf-8")
    assert '"heads":[["correctness_label"]]' in re.sub(r"\s", "", page)
    told = summary.read_text(encoding="utf-8")
    assert "| Hindi `hi` | 0.10<br><sub>0.10–0.10</sub> |" in told
    shown = judged.xling("show", "latest").stdout
    for text in (outcome.out, told.replace("\\_", "_"), shown):
        assert re.search(
            r"correctness_label:\s+bundled,\s+a\s+language\s+model's,\s+of\s+20\d\d-", text
        )
    rows = json.loads(one.stdout)
    assert {("en", 64), ("hi", 48)} == {
        (row["language"], row["n"]) for row in rows if row["label"] == "all"
    }


@pytest.mark.slow
@pytest.mark.parametrize("processes", ["0", "2"])
def test_which_gates_cannot_decide_is_said_before_anything_is_asked(
    judged: Project, processes: str
) -> None:
    """By a judge that was measured, or that nobody can measure; of one to be measured nothing."""
    path = judged.root / "benchmarks/bread/data"
    text = (path / "hi.jsonl").read_text(encoding="utf-8")
    judged.write("benchmarks/bread/data/gn.jsonl", text)
    command = (
        "--model=scripted",
        "--xling-judge=openai:judge",
        "--langs=en,gn,hi",
        "-n",
        processes,
    )
    with answering(
        answers=str(judged.root / "known.json"), answer=says("less_comprehensive")
    ) as url:
        judged.environment.update(OPENAI_BASE_URL=url, OPENAI_API_KEY="k")
        first, second = judged.run(*command), judged.run(*command)
    begun = "[gw" if processes == "2" else "\nbenchmarks/bread/test_bread.py "
    head = first.out[: first.out.index(begun)]
    assert "xling: bread: 1 gate cannot decide, by what it rests on:" in first.out
    unmeasured = (
        "xling:   correctness_label has not been measured in gn (xling calibrate correctness "
        "--langs=gn --labels=labels-gn.csv), needs F1 0.8\n"
    )
    assert unmeasured in head
    assert " in hi on 48 labelled answers" not in head
    remedy = (
        "xling:   so name a better judge (--xling-judge=MODEL), or measure it on labels of your "
        "own (xling calibrate correctness --labels=FILE)\n"
    )
    head = second.out[: second.out.index(remedy)]
    assert "xling: bread: 2 gates cannot decide, by what they rest on:\n" in head
    assert "correctness_label has F1 0.10 in hi on 48 labelled answers (bundled@" in head
    assert unmeasured in head
    assert " in en on " not in head
