"""``xling transcripts calmqa``: stored answers become a transcript."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_xling.cli import main

CALMQA = Path(__file__).resolve().parents[2] / "../shared/data/calmqa"

pytestmark = pytest.mark.skipif(not CALMQA.exists(), reason="no CaLMQA checkout beside the repo")


def _run(output: Path, *more: str, answers_by: str = "GPT 4o") -> int:
    named = ["--answers-by", answers_by, "-o", str(output)]
    return main(["transcripts", "calmqa", str(CALMQA), *named, *more])


def test_rows_are_counted_and_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One JSON object per line, as the transcript provider reads them."""
    path = tmp_path / "gpt-4o.jsonl"
    assert 0 == _run(path)
    rows = [json.loads(line) for line in path.read_text("utf-8").split("\n")[:-1]]
    languages = {row["language"] for row in rows}
    assert f"{path}: {len(rows):,} answers in {len(languages)} languages\n" == (
        capsys.readouterr().out
    )
    assert 23 == len(languages)
    assert {"sample_id", "language", "text", "stop_reason", "model"} <= set(rows[0])


def test_a_file_is_not_replaced_unless_forced(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is there stays, whole."""
    path = tmp_path / "t.jsonl"
    path.write_text("mine")
    assert 4 == _run(path)
    assert "--force" in capsys.readouterr().err
    assert "mine" == path.read_text()
    assert 0 == _run(path, "--force")
    assert path.stat().st_size > 1000


def test_an_unknown_model_leaves_nothing_behind(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The models there are, are listed."""
    assert 4 == _run(tmp_path / "t.jsonl", answers_by="GPT 5o")
    assert "Did you mean" in capsys.readouterr().err
    assert [] == list(tmp_path.iterdir())
