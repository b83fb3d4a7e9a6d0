"""UPHILL's stored responses as transcripts: small tables of our own wording in its layout."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

import pytest

from pytest_xling.datasets.uphill import UphillReader
from pytest_xling.datasets.uphill.answers import transcript_rows
from pytest_xling.errors import ConfigError, DataError
from pytest_xling.providers.transcript import TranscriptProvider
from pytest_xling.records import Message, Request
from tests.datasets.uphill_files import queries, responses, write_csv

if TYPE_CHECKING:
    from pathlib import Path

QUERIES = [*queries("pub_7", "false"), *queries("a b", "mixture", claim="rain smells of iron")]
TOLD = [
    *responses(QUERIES, model="gpt-3.5-turbo", texts=["Yes.", "", "No.\nNever.", "नहीं", '"x", y']),
    *responses(QUERIES, model="bing-copilot", texts=["Perhaps."]),
]


def test_a_response_becomes_a_row(tmp_path: Path) -> None:
    """Repeats count from 0; the id is the question's."""
    rows = transcript_rows(write_csv(tmp_path / "any.csv", TOLD), answers_by="GPT-3.5-Turbo")
    assert 50 == len(rows)
    assert {
        "sample_id": "pub_7-l0",
        "language": "en",
        "text": "No.\nNever.",
        "repeat": 2,
        "stop_reason": "stop",
        "model": "gpt-3.5-turbo",
    } == rows[2]


def test_an_empty_response_keeps_its_row(tmp_path: Path) -> None:
    """It is no answer, and is to be counted as that."""
    rows = transcript_rows(write_csv(tmp_path / "u.csv", TOLD), answers_by="gpt-3.5-turbo")
    assert ["", "stop", 1] == [rows[1][key] for key in ("text", "stop_reason", "repeat")]
    blank = [row | {"model_response": " \n"} for row in TOLD[:1]]
    (row,) = transcript_rows(write_csv(tmp_path / "u.csv", blank), answers_by="gpt-3.5-turbo")
    assert "" == row["text"]
    (tmp_path / "u.jsonl").write_text(json.dumps(TOLD[0] | {"model_response": None}))
    (row,) = transcript_rows(tmp_path / "u.jsonl", answers_by="gpt-3.5-turbo")
    assert "" == row["text"]


def test_the_provider_answers_every_question(tmp_path: Path) -> None:
    """The same file gives the questions and what the model said, repeat by repeat."""
    file = write_csv(tmp_path / "UPHILL.csv", TOLD)
    rows = transcript_rows(file, answers_by="gpt-3.5-turbo")
    out = tmp_path / "t.jsonl"
    out.write_text("".join(json.dumps(row) + "\n" for row in rows))
    provider = TranscriptProvider(str(out))
    stored = {
        (row["query_with_presupposition"], int(row["response_num"]) - 1): row["model_response"]
        for row in TOLD
        if row["conversational_model"] == "gpt-3.5-turbo"
    }

    async def ask_all() -> dict[tuple[str, int], str | None]:
        said = {}
        for sample in UphillReader.read(file, benchmark="b", languages=["en"]):
            for repeat in range(5):
                request = Request(
                    model="m",
                    messages=(Message(role="user", content=sample.prompt["question"]),),
                    params={"temperature": 1.0},
                    repeat=repeat,
                    sample_id=sample.id,
                    language="en",
                )
                answer = await provider.generate(request)
                said[sample.prompt["question"], repeat] = answer.text
        return said

    assert stored == asyncio.run(ask_all())


@pytest.mark.parametrize("first", [0, 1, 3])
def test_the_lowest_number_is_repeat_0(tmp_path: Path, first: int) -> None:
    """Wherever the file begins to count, and also as pandas writes whole numbers."""
    rows = [
        row | {"response_num": f"{int(row['response_num']) - 1 + first}.0"} for row in TOLD[:50]
    ]
    found = transcript_rows(write_csv(tmp_path / "u.csv", rows), answers_by="gpt-3.5-turbo")
    assert [*range(5)] * 10 == [row["repeat"] for row in found]


def test_without_numbers_responses_count_up(tmp_path: Path) -> None:
    """In the file's order, for each query."""
    rows = [{k: v for k, v in row.items() if k != "response_num"} for row in TOLD]
    found = transcript_rows(write_csv(tmp_path / "u.csv", rows), answers_by="gpt-3.5-turbo")
    assert [*range(5)] * 10 == [row["repeat"] for row in found]


def test_a_response_given_twice_is_named(tmp_path: Path) -> None:
    """With both lines; it cannot be told which one to replay."""
    rows = [row | {"main_text": ""} for row in [TOLD[0], TOLD[1], TOLD[0]]]
    with pytest.raises(
        DataError,
        match=r"u\.csv:4: response_num 1 to the query of claim 'pub_7' at level 0 is on line 2",
    ):
        transcript_rows(write_csv(tmp_path / "u.csv", rows), answers_by="gpt-3.5-turbo")


def test_a_number_is_an_id_and_no_repeat(tmp_path: Path) -> None:
    """Numbers of any size, counted over the whole file, or names: each question's count from 0."""
    numbered = [row | {"response_num": str(1000 + at)} for at, row in enumerate(TOLD[:50])]
    file = write_csv(tmp_path / "u.csv", numbered[::-1])
    rows = transcript_rows(file, answers_by="gpt-3.5-turbo")
    assert [*range(5)] * 10 == [row["repeat"] for row in rows]
    assert ["Yes.", "", "No.\nNever."] == [row["text"] for row in rows[:3]]
    named = [row | {"response_num": f"{row['response_num']}-x"} for row in TOLD[:5]]
    rows = transcript_rows(write_csv(tmp_path / "u.csv", named[::-1]), answers_by="gpt-3.5-turbo")
    assert [*range(5)] == [row["repeat"] for row in rows]
    assert ["Yes.", ""] == [row["text"] for row in rows[:-3:-1]]


def test_an_empty_number_is_named(tmp_path: Path) -> None:
    """With the line."""
    file = write_csv(tmp_path / "u.csv", [TOLD[0] | {"response_num": " "}])
    with pytest.raises(DataError, match=r"u\.csv:2: key 'response_num' is empty"):
        transcript_rows(file, answers_by="gpt-3.5-turbo")


def test_what_a_model_was_not_asked_is_said(tmp_path: Path) -> None:
    """Questions only others answered, and responses fewer than elsewhere; no claim needs levels."""
    told = [
        *responses(QUERIES[:2], model="gpt-4", texts=["Yes.", "No."]),
        *responses(QUERIES[2:3], model="gpt-4", texts=["Yes."]),
        *responses(QUERIES[3:4], model="bing-copilot", texts=["Perhaps."] * 4),
    ]
    rows = transcript_rows(write_csv(tmp_path / "u.csv", told), answers_by="gpt-4")
    lacking = [(row["sample_id"], row["repeat"]) for row in rows if not row.get("asked", True)]
    assert [("pub_7-l2", 1), ("pub_7-l3", 0), ("pub_7-l3", 1)] == lacking
    assert 5 == sum("stop_reason" in row for row in rows)
    out = tmp_path / "t.jsonl"
    out.write_text("".join(json.dumps(row) + "\n" for row in rows))
    provider = TranscriptProvider(str(out))
    assert {(sample, "en", repeat) for sample, repeat in lacking} == provider.left_out
    assert ("gpt-4",) == provider.models


def test_a_json_array_gives_the_same(tmp_path: Path) -> None:
    """As the authors publish it; and its mistakes name the row."""
    rows = transcript_rows(write_csv(tmp_path / "u.csv", TOLD), answers_by="gpt-3.5-turbo")
    file = tmp_path / "UPHILL.json"
    file.write_text(json.dumps(TOLD))
    assert rows == transcript_rows(file, answers_by="gpt-3.5-turbo")
    file.write_text(json.dumps([TOLD[0], TOLD[0]]))
    with pytest.raises(DataError, match=r"UPHILL\.json: row 2: response_num 1 .* is on row 1 alre"):
        transcript_rows(file, answers_by="gpt-3.5-turbo")


def test_an_unknown_model_lists_those_there_are(tmp_path: Path) -> None:
    """And what is close."""
    file = write_csv(tmp_path / "u.csv", TOLD)
    with pytest.raises(
        ConfigError,
        match=r"no answers by 'gpt3\.5-turbo' here\. Did you mean 'gpt-3\.5-turbo'\? "
        r"There are answers by: bing-copilot, gpt-3\.5-turbo$",
    ):
        transcript_rows(file, answers_by="gpt3.5-turbo")


def test_queries_alone_have_no_answers(tmp_path: Path) -> None:
    """The columns that are missing are named."""
    with pytest.raises(DataError, match="column 'conversational_model' is missing"):
        transcript_rows(write_csv(tmp_path / "queries.csv", QUERIES), answers_by="gpt-4")


def test_half_a_character_can_be_written(tmp_path: Path) -> None:
    """JSON can escape it, and no file can hold it."""
    told = json.dumps(TOLD[0] | {"model_response": "half \ud83d"})
    (tmp_path / "u.jsonl").write_text(told)
    (row,) = transcript_rows(tmp_path / "u.jsonl", answers_by="gpt-3.5-turbo")
    assert "half \ufffd" == row["text"]


def test_a_response_that_is_no_text_is_named(tmp_path: Path) -> None:
    """JSONL may hold anything."""
    (tmp_path / "u.jsonl").write_text(json.dumps(TOLD[0] | {"model_response": 3}))
    with pytest.raises(DataError, match="key 'model_response' must be a text, not 3"):
        transcript_rows(tmp_path / "u.jsonl", answers_by="gpt-3.5-turbo")
