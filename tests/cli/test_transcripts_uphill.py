"""``xling transcripts uphill``: stored responses become a transcript."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from pytest_xling.cli import main
from tests.datasets.uphill_files import queries, responses, write_csv

if TYPE_CHECKING:
    from pathlib import Path

QUERIES = [*queries("c1", "false"), *queries("c2", "true")]


def _run(folder: Path, rows: list[dict[str, str]], *more: str, answers_by: str = "gpt-4") -> int:
    file = write_csv(folder / "UPHILL.csv", rows)
    out = ["-o", str(folder / "t.jsonl")]
    return main(["transcripts", "uphill", str(file), "--answers-by", answers_by, *out, *more])


def test_rows_are_written_and_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With how to ask for all of them."""
    assert 0 == _run(tmp_path, responses(QUERIES, model="gpt-4", texts=["Yes.", "No.", ""]))
    path = tmp_path / "t.jsonl"
    assert [
        f"{path}: 30 answers in 1 language",
        "3 to each of 10 questions: add --xling-samples=3",
    ] == capsys.readouterr().out.splitlines()
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    assert {"c1-l0", "c2-l4"} <= {row["sample_id"] for row in rows}
    assert {0, 1, 2} == {row["repeat"] for row in rows}


def test_one_answer_to_each_needs_no_more_words(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """That is what is asked for anyway."""
    assert 0 == _run(tmp_path, responses(QUERIES, model="gpt-4", texts=["Yes."]))
    assert f"{tmp_path / 't.jsonl'}: 10 answers in 1 language\n" == capsys.readouterr().out


OUT = "were not asked and are left out"
GONE = "are not there and left out"


@pytest.mark.parametrize("lacking", ["1", "2", "3"])
def test_answers_that_are_lacking_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], lacking: str
) -> None:
    """Whatever number it had, a response is lacking at the end; a question may have none."""
    rows = responses(QUERIES, model="gpt-4", texts=["Yes.", "No.", "So."])
    rows = [row for row in rows if row["query_response_id"] != f"c1-0-{lacking}"]
    rows = [row for row in rows if not row["query_response_id"].startswith(("c2-4-", "c1-3-"))]
    rows += responses(QUERIES[3:4], model="bing-copilot", texts=["Yes."])
    assert 0 == _run(tmp_path, rows)
    assert [
        "up to 3 to each of 8 questions: add --xling-samples=3",
        f"4 of 27 {OUT}: 1 question has no answer, 1 question has fewer than 3",
        f"UPHILL.csv: 1 claim lacks levels of presupposition: 1 of 10 queries {GONE}",
    ] == capsys.readouterr().out.splitlines()[1:]


def test_mistakes_leave_nothing_behind(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An unknown model, and a row that is wrong."""
    rows = responses(QUERIES, model="gpt-4", texts=["Yes."])
    assert 4 == _run(tmp_path, rows, answers_by="gpt-5")
    assert "Did you mean 'gpt-4'?" in capsys.readouterr().err
    rows[3]["claim_veracity"] = "tru"
    assert 4 == _run(tmp_path, rows)
    assert "unknown veracity 'tru'. Did you mean 'true'?" in capsys.readouterr().err
    assert not (tmp_path / "t.jsonl").exists()


def test_help_names_the_layouts(capsys: pytest.CaptureFixture[str]) -> None:
    """With what comes next."""
    assert 0 == main(["transcripts", "--help"])
    text = capsys.readouterr().out
    assert "calmqa" in text
    assert "pytest benchmarks/presupposition --model=transcript:FILE" in text
