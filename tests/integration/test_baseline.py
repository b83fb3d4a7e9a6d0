"""``--baseline``: a candidate that is worse in Hindi only is found there, and nowhere else."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest

from tests.integration.project import Project, make_bread
from tests.integration.test_same_verdicts import same_verdicts

if TYPE_CHECKING:
    from pathlib import Path

    from tests.integration.project import Outcome

METRICS = ("no_answer", "wrong_language", "answer_length")
THRESHOLDS = """\
defaults: {min_n: 8, on_inconclusive: warn}
benchmarks:
  bread:
    no_answer: {max_drop: 0.05}
    wrong_language: {max_rate: 0.9, max_drop: 0.1}
"""
THEN = "rules: [{text: '{question}'}]\n"
# Hindi answers to two thirds of the questions are in English now; one Spanish answer is, too.
NOW = """\
rules:
  - {when: {language: hi, sample_id: "q000?"}, text: "Because of the steam in the dough, I think."}
  - {when: {language: hi, sample_id: "q001[0-5]"}, text: "Because of the steam in the dough."}
  - {when: {language: es, sample_id: "q0003"}, text: "Because of the steam in the dough, I think."}
  - {text: "{question}"}
"""
DROPS = {
    "no_answer-drop-en": "inconclusive",
    "no_answer-drop-es": "inconclusive",
    "no_answer-drop-hi": "inconclusive",
    "wrong_language-drop-en": "inconclusive",
    "wrong_language-drop-es": "inconclusive",
    "wrong_language-drop-hi": "fail",
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A project with 24 parallel questions in three languages, and a run to compare with."""
    made = make_bread(
        tmp_path_factory.mktemp("made"),
        count=24,
        languages=("en", "es", "hi"),
        prompts="pivot: en\n",
        limits=THRESHOLDS,
    )
    made.write_tests(*METRICS)
    made.write("then.yaml", THEN)
    made.write("now.yaml", NOW)
    outcome = made.run("--model=scripted:then.yaml", "--xling-run-name=base-1", code=0)
    assert "xling: drops (max_drop) are not judged: no --baseline is named" in outcome.out
    assert {f"wrong_language-{code}" for code in ("en", "es", "hi")} == set(made.verdicts())
    return made


@pytest.fixture
def bread(made: Project, tmp_path: Path) -> Project:
    """A copy of it."""
    shutil.copytree(made.root, tmp_path, dirs_exist_ok=True)
    return Project(tmp_path)


def _candidate(project: Project, *arguments: str) -> Outcome:
    return project.run("--model=scripted:now.yaml", *arguments)


@pytest.mark.slow
def test_worse_in_hindi_only(bread: Project) -> None:
    """On two processes, and a stored run is judged alike."""
    outcome = _candidate(bread, "--baseline=base-1", "-n2")
    assert 1 == outcome.code, outcome.out + outcome.err
    assert "xling: baseline run base-1 of scripted:then.yaml" in outcome.out
    verdicts = same_verdicts(bread, "--baseline=base-1")
    drops = {name: verdict for name, verdict in verdicts.items() if "-drop-" in name}
    assert DROPS == {name: verdict.outcome for name, verdict in drops.items()}
    failed = drops["wrong_language-drop-hi"]
    assert failed.reason.startswith(
        "66.7 pp worse than base-1 on 24 questions (drop's 95% interval"
    )
    assert "worse only here 16, only in base-1 0: McNemar p < .001" in failed.reason
    assert "after Holm over 3 gates" in failed.reason
    assert ("base-1", "", 24) == (
        failed.estimate.baseline,
        failed.estimate.pivot,
        failed.estimate.n,
    )
    found = outcome.properties("test_gate[wrong_language-drop-hi]")
    assert ("base-1", "0.1", "fail") == tuple(
        found[f"xling_{name}"] for name in ("baseline", "max_drop", "outcome")
    )
    assert failed.reason == found["xling_reason"]


@pytest.mark.slow
def test_the_summary_shows_what_changed(bread: Project) -> None:
    """Found changes and those a gate did not let pass; the rest are counted, without limits too."""
    out = _candidate(bread, "--baseline=base-1").out
    shown = out[out.index("Changes since run base-1") : out.index("gate closed")]
    (row,) = [line for line in shown.splitlines() if line.startswith("wrong_language  hi")]
    assert "66.7%" in row
    assert "+66.7 pp worse" in row
    assert "other changes within chance (q ≥ .05) or not tested" in shown
    bread.write("thresholds.yaml", "defaults: {min_n: 8}\n")
    outcome = _candidate(bread, "--xling-baseline=base-1", "-q")
    assert 0 == outcome.code, outcome.out
    shown = outcome.out[outcome.out.index("Changes since run base-1") :]
    assert "wrong_language  hi" in shown
    assert "no_answer" not in shown.partition("other changes")[0]


@pytest.mark.slow
def test_a_checked_in_file_and_a_promoted_model(bread: Project) -> None:
    """Both say what the run itself says, the file also where the store has no such run."""
    bread.xling("export", "base-1", "-o", "base.json", code=0)
    promoted = bread.xling("promote", "base-1")
    assert "scripted:then.yaml, bread: run base-1 is the baseline, the first" in promoted.stdout
    outcome = _candidate(bread, "--baseline=base.json", "--xling-store=elsewhere.sqlite")
    assert 1 == outcome.code, outcome.out + outcome.err
    assert "xling: baseline base.json: run base-1 of scripted:then.yaml" in outcome.out
    assert "failed" == outcome.cases["test_gate[wrong_language-drop-hi]"]
    by_file = bread.xling(
        *("gate", "latest", "--thresholds=thresholds.yaml", "--json"),
        *("--baseline=base.json", "--xling-store=elsewhere.sqlite"),
    )
    outcome = _candidate(bread, "--baseline=scripted:then.yaml", "--xling-run-name=candidate")
    assert 1 == outcome.code, outcome.out + outcome.err
    assert "xling: baseline promoted for scripted:then.yaml: bread base-1" in outcome.out
    by_model = bread.verdicts()
    assert DROPS == {name: v.outcome for name, v in by_model.items() if "-drop-" in name}
    read = {one["case"]: one for one in json.loads(by_file.stdout)["verdicts"]}
    assert {name: v.estimate.value for name, v in by_model.items()} == {
        name: one["estimate"]["value"] for name, one in read.items()
    }
    # Judging moved nothing.
    assert "candidate" not in bread.xling("promote", "--list").stdout


def test_mistakes_are_found_before_anything_is_asked(bread: Project) -> None:
    """Exit 4, and no run is begun; tests/analysis/test_baseline.py has the others."""
    outcome = _candidate(bread, "--baseline=base-2", "-n2")
    assert 4 == outcome.code, outcome.out + outcome.err
    assert "Did you mean 'base-1'?" in outcome.said
    assert "base-1" == bread.latest().run_id


@pytest.mark.slow
def test_other_questions(bread: Project) -> None:
    """Hindi questions reworded by more than half are others: its gates are errors."""
    path = bread.benchmark / "data" / "hi.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for row in rows[:13]:
        row["question"] += " ?"
    bread.write_rows("benchmarks/bread/data/hi.jsonl", rows)
    outcome = bread.run("--model=scripted:then.yaml", "--baseline=base-1", code=1)
    verdicts = bread.verdicts()
    assert ("error", "base-1 has only 11 of 24 questions, fewer than half") == (
        verdicts["no_answer-drop-hi"].outcome,
        verdicts["no_answer-drop-hi"].reason,
    )
    assert "inconclusive" == verdicts["no_answer-drop-es"].outcome
    assert "2 of 9 gates cannot be judged" in outcome.out
