"""The reader of MMLU-like tables: what it accepts, and what it says of what it does not."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

import pytest

from pytest_xling.errors import DataError
from pytest_xling.importers.mmlu import Mmlu

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_xling.records import Sample

HEAD = ("question", "A", "B", "C", "D", "answer")
# Invented for these tests.
KETTLE = ("Why does a kettle sing?", "Bubbles collapse", "It is glad", "Salt", "The lid", "A")
ICE = ("Why does ice float?", "It is cold", "It is less dense", "Air", "Salt", "B")
KETTLE_ES = ("¿Por qué canta la tetera?", "Burbujas", "Alegría", "Sal", "La tapa", "A")
ICE_ES = ("¿Por qué flota el hielo?", "Por frío", "Menos denso", "Aire", "Sal", "B")


def _write(folder: Path, name: str, *rows: tuple[str, ...]) -> Path:
    folder.mkdir(exist_ok=True)
    with (folder / name).open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter="\t" if name.endswith("tsv") else ",").writerows(rows)
    return folder


def _read(path: Path, *languages: str) -> list[Sample]:
    return Mmlu().read(path, benchmark="information", languages=languages or ("en",))


def _message(path: Path) -> str:
    with pytest.raises(DataError) as caught:
        _read(path)
    return str(caught.value).replace(f"{path}/", "")


@pytest.mark.parametrize("head", [(), (HEAD,), (tuple(name.upper() for name in HEAD),)])
@pytest.mark.parametrize("name", ["en.csv", "mmlu_en.csv", "openai_mmmlu_EN-US.csv", "english.tsv"])
def test_a_file_per_language(tmp_path: Path, name: str, head: tuple[tuple[str, ...], ...]) -> None:
    """With a head or without one; the question alone is the prompt, the options are kept aside."""
    folder = _write(tmp_path / "d", name, *head, KETTLE, ICE)
    assert Mmlu().recognises(folder)
    assert Mmlu().recognises(folder / name)
    assert ("en",) == Mmlu().languages(folder)
    first, second = _read(folder)
    assert {"question": KETTLE[0]} == first.prompt
    assert ("q0001", "q0002") == (first.id, second.id)
    assert "It is less dense" == second.reference
    assert ("It is cold", "Air", "Salt") == second.wrong


def test_languages_are_parallel_by_their_rows(tmp_path: Path) -> None:
    """The n-th rows are one question; right letters that differ show that they are not."""
    folder = _write(tmp_path / "d", "en.csv", KETTLE, ICE)
    _write(folder, "es.csv", HEAD, KETTLE_ES, ICE_ES)
    assert ("en", "es") == Mmlu().languages(folder)
    ids = [(sample.parallel_id, sample.language) for sample in _read(folder, "es", "en")]
    assert [("q0001", "es"), ("q0002", "es"), ("q0001", "en"), ("q0002", "en")] == ids
    _write(folder, "es.csv", HEAD, ICE_ES, KETTLE_ES)
    said = _message(folder)
    assert "es.csv:2: question 'q0001' has the answer B in 'es', and A in 'en' at en.csv:1" in said
    assert "or name them in a column 'id'" in said


def test_a_column_of_languages(tmp_path: Path) -> None:
    """And of ids and subjects, in any order; an index without a name does not matter."""
    head = ("", "Language", *HEAD[:1], "Subject", *HEAD[1:], "id")
    rows = [
        ("0", "es", ICE_ES[0], "physics", *ICE_ES[1:], "ice"),
        ("1", "en", KETTLE[0], "kitchen", *KETTLE[1:-1], "0", "kettle"),
        ("2", "en", ICE[0], "physics", *ICE[1:], "ice"),
    ]
    folder = _write(tmp_path / "d", "mmlu.csv", head, *rows)
    assert ("en", "es") == Mmlu().languages(folder)
    samples = _read(folder, "en", "es")
    assert ["kettle", "ice", "ice"] == [sample.id for sample in samples]
    assert ["kitchen", "physics", "physics"] == [sample.metadata["set"] for sample in samples]
    assert KETTLE[1] == samples[0].reference


def test_questions_that_speak_of_options_are_told(tmp_path: Path) -> None:
    """They are asked, but a notice says how many, in English only."""
    which = ("Which of the following is salty?", *ICE[1:])
    folder = _write(tmp_path / "d", "en.csv", KETTLE, which, ("Ice is ____.", *ICE[1:]))
    assert 3 == len(_read(folder))
    assert ["d: 2 of 3 questions, such as 'q0002', speak of options, which are not shown"] == (
        Mmlu().notices(folder, languages=("en",))
    )
    _write(folder, "en.csv", KETTLE)
    assert [] == Mmlu().notices(folder, languages=("en",))


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ((*ICE[:-1], "E"), "en.csv:2: key 'answer' is 'E', and must be A, B, C or D, or 0 to 3"),
        ((*ICE[:-1], ""), "en.csv:2: key 'answer' is ''"),
        ((" ", *ICE[1:]), "en.csv:2: key 'question' is empty; write its text"),
        ((*ICE[:3], "", *ICE[4:]), "en.csv:2: key 'C' is empty; write its text"),
        (ICE[:-1], "en.csv:2: the row has 5 cells, and the head 6"),
    ],
)
@pytest.mark.parametrize("first", [HEAD, KETTLE])
def test_wrong_cells(
    tmp_path: Path, first: tuple[str, ...], row: tuple[str, ...], said: str
) -> None:
    """Each is named by file, line and column, below a head and without one."""
    assert said in _message(_write(tmp_path / "d", "en.csv", first, row))


def test_wrong_files(tmp_path: Path) -> None:
    """Other columns, an id that is there twice."""
    folder = _write(tmp_path / "d", "en.csv", ("prompt", "A", "B", "C", "D", "target"), ICE)
    said = _message(folder)
    assert "en.csv:1: key 'answer' is 'target'" in said
    assert "its columns must be called question, A, B, C, D, answer" in said
    _write(folder, "en.csv", ("question", "subject", "choices", "answer"), ICE)
    assert "en.csv:1: column 'A' is missing." in _message(folder)
    _write(folder, "en.csv", ("prompt", "subject", "choices", "answer"), ICE)
    said = _message(folder)
    assert "en.csv:1: column 'question' is missing; or, if this is no head, the row has 4" in said
    _write(folder, "en.csv", (*HEAD, "id"), (*ICE, "q"), (*KETTLE, "q"))
    assert "en.csv:3: id 'q' in 'en' is already at en.csv:2; give each" in _message(folder)
    _write(folder, "en.csv", (*HEAD, "language"), (*ICE, "xx"))
    assert "en.csv:2: key 'language': unknown language 'xx'" in _message(folder)
    _write(folder, "en.csv", ICE)
    other = _write(tmp_path / "e", "mmlu_test.csv", ICE)
    assert "mmlu_test.csv:1: column 'language' is missing, and the file's name" in _message(other)
    with pytest.raises(DataError, match="no table here"):
        _read(tmp_path / "nothing")
    assert not Mmlu().recognises(_write(tmp_path / "f", "questions.csv", ICE))
