"""``xling import``: questions and answers of other layouts, written in ours."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest

from pytest_xling.cli import main
from pytest_xling.providers.transcript import TranscriptProvider
from tests.importers.lcb_files import OUTPUTS, as_csv, make_clone
from tests.importers.uphill_files import queries, responses, write_csv

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

Import: TypeAlias = "Callable[..., tuple[int, str]]"
QUERIES = [*queries("c1", "false"), *queries("c2", "true")]


@pytest.fixture
def import_(capsys: pytest.CaptureFixture[str]) -> Import:
    """Returns how ``xling import`` ends, and what it prints or says is wrong."""

    def run(*paths: Path, out: Path, more: Sequence[str] = ()) -> tuple[int, str]:
        code = main(["import", *map(str, paths), "-o", str(out), *more])
        return code, "".join(capsys.readouterr())

    return run


def _rows(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text("utf-8").split("\n")[:-1]]


def _uphill(folder: Path) -> Path:
    texts = ["Yes.", "No."]
    return write_csv(folder / "UPHILL.csv", responses(QUERIES, model="gpt-4", texts=texts))


def test_answers_of_one_model_are_a_transcript(tmp_path: Path, import_: Import) -> None:
    """What is odd is told once, with how to ask for all of it."""
    rows = responses(QUERIES, model="gpt-4", texts=["Yes.", "No.", "So."])
    rows = [row for row in rows if row["query_response_id"] != "c1-0-2"]
    rows = [row for row in rows if not row["query_response_id"].startswith(("c2-4-", "c1-3-"))]
    rows += responses(QUERIES[3:4], model="bing-copilot", texts=["Yes."])
    file, out = write_csv(tmp_path / "UPHILL.csv", rows), tmp_path / "out"
    code, said = import_(file, out=out, more=["--answers-by", "GPT-4"])
    assert 0 == code
    assert [
        f"{out / 'data'}: 9 questions in 1 language",
        (
            "UPHILL.csv: 1 claim lacks levels of presupposition: 1 of 10 queries are not there and "
            "left out"
        ),
        f"{out / 'answers.jsonl'}: 23 answers in 1 language",
        "up to 3 to each of 8 questions: add --xling-samples=3",
        (
            "4 of 27 were not asked and are left out: 1 question has no answer, 1 question has "
            "fewer than 3"
        ),
    ] == said.splitlines()
    assert {"en.jsonl"} == {file.name for file in (out / "data").iterdir()}
    assert ("gpt-4",) == TranscriptProvider(str(out / "answers.jsonl")).models


def test_answers_of_several_models_are_a_file_each(tmp_path: Path, import_: Import) -> None:
    """Called like them; repairs are counted for each."""
    clone = make_clone(tmp_path / "clone")
    other = [row | {"model": "Model B (v2)"} for row in OUTPUTS]
    (clone / "outputs" / "b.csv").write_text(as_csv(other), "utf-8")
    code, told = import_(clone, out=tmp_path / "out")
    assert 0 == code
    names = ["answers-model-a.jsonl", "answers-model-b-v2.jsonl", "data"]
    assert names == sorted(file.name for file in (tmp_path / "out").iterdir())
    assert 2 == told.count("1: cut where the model goes on with a question of its own")
    assert 2 == told.count("1 of 4 were not asked and are left out: 1 question has no answer")
    import_(clone / "outputs" / "b.csv", out=tmp_path / "b", more=["--only=answers"])
    assert ["answers.jsonl"] == [file.name for file in (tmp_path / "b").iterdir()]


def test_a_file_that_says_nothing_of_itself(tmp_path: Path, import_: Import) -> None:
    """Its layout is named."""
    file = tmp_path / "mine.csv"
    file.write_text(as_csv(OUTPUTS), "utf-8")
    import_(file, out=tmp_path / "out", more=["--layout=lcb"])
    assert 3 == len(_rows(tmp_path / "out" / "answers.jsonl"))


def test_several_places_are_put_together(tmp_path: Path, import_: Import) -> None:
    """Unless they have different questions of one name."""
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "en.jsonl").write_text('{"id": "q1", "question": "Why?"}\n')
    import_(tmp_path / "a", tmp_path / "b", out=tmp_path / "out")
    assert [{"id": "q1", "question": "Why?"}] == _rows(tmp_path / "out" / "data" / "en.jsonl")
    (tmp_path / "b" / "en.jsonl").write_text('{"id": "q1", "question": "How?"}\n')
    code, said = import_(tmp_path / "a", tmp_path / "b", out=tmp_path / "other")
    assert 4 == code
    assert "question 'q1' in 'en' is another one in a PATH before it" in said


def test_mistakes_leave_nothing_behind(tmp_path: Path, import_: Import) -> None:
    """An unknown model, a row that is wrong, a place without anything or of no layout."""
    file, out = _uphill(tmp_path), tmp_path / "out"
    for path, more, says in (
        (file, ["--answers-by=gpt-5"], "Did you mean 'gpt-4'?"),
        (write_csv(tmp_path / "queries.csv", QUERIES), ["--only=answers"], "there are no answers"),
        (tmp_path / "nothing", [], "no such file or folder"),
        (make_clone(tmp_path / "clone") / "test_sets.zip", [], "has no layout we know; we read: "),
    ):
        code, said = import_(path, out=out, more=more)
        assert (4, True) == (code, says in said), said
    file.write_text(file.read_text().replace(",false,", ",flase,"))
    assert "unknown veracity 'flase'. Did you mean 'false'?" in import_(file, out=out)[1]
    assert not out.exists()


def test_files_are_not_replaced_unless_forced(tmp_path: Path, import_: Import) -> None:
    """What is there stays, whole; questions of other data are never mixed with these."""
    file, out = _uphill(tmp_path), tmp_path / "out"
    out.mkdir()
    (out / "answers.jsonl").write_text("mine")
    code, said = import_(file, out=out)
    assert (4, True) == (code, "--force" in said), said
    assert "mine" == (out / "answers.jsonl").read_text()
    assert not (out / "data").exists()
    assert 0 == import_(file, out=out, more=["--force"])[0]
    assert 20 == len(_rows(out / "answers.jsonl"))
    (out / "data" / "hi.jsonl").write_text("{}")
    code, said = import_(file, out=out, more=["--force"])
    assert (4, True) == (code, "hi.jsonl is of other data" in said), said


def test_the_former_command_names_this_one(capsys: pytest.CaptureFixture[str]) -> None:
    """Whoever has it in a script."""
    assert 4 == main(["transcripts", "calmqa", "CaLMQA", "--answers-by", "GPT 4o", "-o", "x"])
    says = "the command 'transcripts' is gone; it is now: xling import PATH --answers-by MODEL"
    assert says in capsys.readouterr().err
