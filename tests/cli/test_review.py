"""``xling review``: what it writes, and what it refuses."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.reports.review.answers import (
    COMPARED,
    page_data,
    put_compared,
    reviewed,
    saved_ratings,
    stances,
    told_flags,
)
from tests.runs import put_run

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Xling


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store with stances and flags; the test stands in its folder."""
    monkeypatch.chdir(tmp_path)
    return put_run(tmp_path / "s.sqlite", [*stances(languages=("en", "hi")), *told_flags()])


def test_a_page_is_written(tmp_path: Path, xling: Xling) -> None:
    """With a table of what was drawn; weights sum to the answers of each stratum."""
    said = xling("review", "latest", "--metric", "stance_score", "--sample", "40", "-o", "r.html")
    assert (0, "") == (said.code, said.err)
    assert "40 of 72 answers of run run-1, by what stance_score said" in said.out
    assert "page: r.html" in said.out
    data = page_data(tmp_path / "r.html")
    assert ("run-1", "presupposition", "stance_score", 72) == tuple(
        data[key] for key in ("run", "benchmark", "metric", "population")
    )
    for stratum in data["strata"]:
        judge = None if stratum["said"] == "no value" else stratum["said"]
        own = [
            item["weight"]
            for item in data["items"]
            if (item["language"], item["judge"]) == (stratum["language"], judge)
        ]
        assert stratum["drawn"] == len(own)
        assert pytest.approx(stratum["answers"]) == sum(own)
    assert {"en": "ltr", "hi": "ltr"} == {
        code: language["dir"] for code, language in data["languages"].items()
    }


def test_the_seed_decides(tmp_path: Path, xling: Xling) -> None:
    """The same page twice, another one with another seed."""
    pages = []
    for seed in ("0", "0", "1"):
        asked = ["--metric", "stance_score", "--sample", "20", "--seed", seed, "--force"]
        xling("review", "run-1", *asked, "-o", "r.html", code=0)
        pages.append((tmp_path / "r.html").read_bytes())
    assert pages[0] == pages[1] != pages[2]
    assert b"http" not in pages[0].replace(b"http-equiv", b"")


def test_languages(tmp_path: Path, xling: Xling) -> None:
    """By code or name, several of them."""
    asked = ["review", "run-1", "--metric", "stance_score", "--force", "-o", "r.html"]
    xling(*asked, "--language", "Hindi", code=0)
    assert {"hi"} == {item["language"] for item in page_data(tmp_path / "r.html")["items"]}
    xling(*asked, "--language", "hi,en", code=0)
    assert {"hi", "en"} == {item["language"] for item in page_data(tmp_path / "r.html")["items"]}


def test_all_answers_where_there_are_fewer(tmp_path: Path, xling: Xling) -> None:
    """Each then stands for itself."""
    asked = ["--metric", "repetition", "--sample", "1000", "-o", "r.html"]
    said = xling("review", "run-1", *asked)
    assert "40 of 40 answers" in said.out
    assert "2 cases without an answer are left out." in said.out
    assert {1.0} == {item["weight"] for item in page_data(tmp_path / "r.html")["items"]}


def test_references_that_the_run_does_not_keep(tmp_path: Path, xling: Xling, store: Path) -> None:
    """Are said to be missing; those it keeps are shown."""
    labels = ("more_comprehensive", "less_comprehensive", "dissimilar", "contradictory")
    for run, metadata in (("run-2", {}), ("run-3", {"reference": "the expert's words"})):
        told = [
            reviewed(
                id=f"q{number}",
                language="en",
                benchmark="health-correctness",
                readings={name: (float(name == labels[number % 4]), "") for name in labels},
                metadata=metadata,
            )
            for number in range(8)
        ]
        put_run(store, told, run_id=run)
    asked = ["--metric", "correctness_label", "--sample", "8", "--force", "-o", "r.html"]
    assert "does not keep its references" in xling("review", "run-2", *asked).out
    assert "references" not in xling("review", "run-3", *asked).out
    items = page_data(tmp_path / "r.html")["items"]
    assert {"the expert's words"} == {item["reference"] for item in items}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--metric", "stance_score"], "say where to write"),
        (["--metric", "stance_score", "-o", "s.sqlite"], "exists already; say --force"),
        (["--metric", "stance_score", "--label-studio", "t.xml"], "would be written twice"),
        (["--metric", "stance_score", "--sample", "3", "-o", "r.html"], "cannot hold one of each"),
        (["--metric", "stance_score", "--sample", "0", "-o", "r.html"], "at least 1"),
        (["--metric", "stance_score", "--language", "xx", "-o", "r.html"], "unknown language 'xx'"),
        (["--metric", "stance_score", "--language", "zh", "-o", "r.html"], "no answers in 'zh'"),
        (["--metric", "length", "-o", "r.html"], "people label one at a time"),
        (["-o", "r.html"], "--metric"),
        (["--rate", "--metric", "stance_score", "-o", "r.html"], "not allowed with argument"),
        (["--rate"], "say where to write: -o review.html\n"),
        (["--rate", "-o", "r.html", "--veracity"], "--veracity means nothing with --rate"),
        (["--rate", "--label-studio", "t.json"], "--label-studio means nothing with --rate"),
        (["--rate", "-o", "r.html"], "name one with --benchmark: culture, presupposition"),
        (["latest", "--metric", "repetition", "-o", "r.html"], "answers of one run are labelled"),
        (["run-11", "--rate", "-o", "r.html"], "Did you mean 'run-1'"),
        (["--metric", "stance_score", "-o", "none/r.html"], "cannot write none/r.html"),
    ],
)
def test_what_is_refused(
    tmp_path: Path, xling: Xling, store: Path, arguments: list[str], said: str
) -> None:
    """With exit code 4, and nothing written."""
    before = store.read_bytes()
    assert said in xling("review", "run-1", *arguments, code=4).err
    assert before == store.read_bytes()
    assert [store] == [path for path in tmp_path.iterdir() if path.suffix != ".sqlite-wal"]


def test_answers_side_by_side_are_rated(tmp_path: Path, xling: Xling) -> None:
    """From the page and its key to a model of what raters saved there, as it is."""
    put_compared(tmp_path / "s.sqlite", questions=12)
    said = xling("review", *COMPARED, "--rate", "-o", "r.html", "--sample", "10")
    assert (0, "") == (said.code, said.err)
    assert "10 questions of benchmark culture, 3 answers each" in said.out
    then = "Then: xling ratings ratings-culture-*.jsonl --key r.key.csv"
    assert "key: r.key.csv (keep it from raters)" in said.out
    assert then in said.out
    assert b"http" not in (tmp_path / "r.html").read_bytes().replace(b"http-equiv", b"")
    data = page_data(tmp_path / "r.html")
    files = []
    for number, annotator in enumerate(("आना", "Ben", "Zoë")):
        ratings = {
            (question, model): 1 + (2 * question + model + number) % 5
            for question in range(10)
            for model in range(3)
        }
        rows = saved_ratings(data, annotator, ratings)
        files.append(tmp_path / f"ratings-culture-{annotator}.jsonl")
        files[-1].write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    fitted = xling("ratings", *map(str, files), "--key", "r.key.csv", "--json")
    assert (0, "") == (fitted.code, fitted.err)
    made = json.loads(fitted.out)
    assert 90 == made["fit"]["n"]
    assert "rating ~ model + (1 | annotator)" == made["formula"]
    assert sorted(COMPARED.values()) == [row["of"] for row in made["counts"]]
    assert {30} == {row["correct_language"]["yes"] for row in made["answers"]}
    xling("review", *COMPARED, "--rate", "-o", "s.html", "--sample", "10", code=0)
    assert data == page_data(tmp_path / "s.html")
    refused = xling("review", *COMPARED, "--rate", "-o", "r.html")
    assert "r.html exists already; say --force" in refused.err


def test_questions_left_out_are_counted(tmp_path: Path, xling: Xling) -> None:
    """One is no "1 questions"."""
    put_compared(tmp_path / "s.sqlite", questions=3, runs={"a": "m"})
    put_compared(tmp_path / "s.sqlite", questions=2, runs={"b": "n"})
    said = xling("review", "a", "b", "--rate", "-o", "r.html")
    assert "2 questions of benchmark culture, 2 answers each" in said.out
    assert "left out: 1 question not answered in each run\n" in said.out
