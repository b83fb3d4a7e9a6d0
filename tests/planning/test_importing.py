"""Foreign questions and answers in our own layout."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from pytest_xling.errors import ConfigError, DataError
from pytest_xling.interfaces.importer import Answer
from pytest_xling.planning.importing import Transcript, transcripts


def _answer(sample_id: str = "q1", *, model: str = "GPT 4o", **changes: Any) -> Answer:
    values = {"place": "f:1", "language": "hi", "text": "क्योंकि।", **changes}
    return Answer(sample_id=sample_id, model=model, **values)


def _only(*answers: Answer, questions: tuple[str, ...] = (), by: str | None = None) -> Transcript:
    asked = [(name, "hi") for name in questions]
    (transcript,) = transcripts(answers, questions=asked, answers_by=by)
    return transcript


def test_an_answer_becomes_a_row() -> None:
    """As the provider reads it, without what says nothing."""
    assert [
        {
            "sample_id": "q1",
            "language": "hi",
            "text": "क्योंकि।",
            "stop_reason": "stop",
            "model": "GPT 4o",
        }
    ] == _only(_answer()).rows


def test_what_was_said_instead_is_kept() -> None:
    """Where something was said."""
    fault = _answer(text=None, stop_reason="content_filter", error="SAFETY")
    silent = _answer("q2", text=None, stop_reason="error")
    transcript = _only(fault, silent)
    assert ["SAFETY", None] == [row.get("error") for row in transcript.rows]
    assert ["content_filter", "error"] == [row["stop_reason"] for row in transcript.rows]
    assert ["2 answers have an error in place of a text"] == transcript.notices()


def test_half_a_character_can_be_written() -> None:
    """JSON can escape it, and no file can hold it."""
    assert "half \ufffd" == _only(_answer(text="half \ud83d")).rows[0]["text"]


def test_all_models_are_there_unless_one_is_named() -> None:
    """By their names, each with its own answers."""
    answers = [_answer(model="b"), _answer(model="a", text="x")]
    assert ["a", "b"] == [each.model for each in transcripts(answers)]
    assert ["x"] == [row["text"] for row in _only(*answers, by="a").rows]


LLAMA = "Llama 3 70B (together.ai)"


@pytest.mark.parametrize("name", [LLAMA, "Llama 3 70B", "llama 3  70b", " LLAMA 3 70B "])
def test_case_and_host_may_be_left_out(name: str) -> None:
    """The row has the name as stored."""
    assert LLAMA == _only(_answer(model=LLAMA), _answer(), by=name).rows[0]["model"]


def test_the_full_name_wins_over_one_without_its_host() -> None:
    """``Human`` is not ``Human (dot points)``."""
    answers = [_answer(model="Human (dot points)", text="a"), _answer(model="Human", text="b")]
    assert "b" == _only(*answers, by="human").rows[0]["text"]


def test_a_name_that_fits_two_hosts_is_refused() -> None:
    """Neither is chosen in silence."""
    with pytest.raises(ConfigError, match=r"may mean Llama \(a\) or Llama \(b\)"):
        _only(_answer(model="Llama (b)"), _answer(model="Llama (a)"), by="llama")


def test_an_unknown_model_lists_those_there_are() -> None:
    """And what is close; nobody where there is none."""
    with pytest.raises(
        ConfigError,
        match=r"no answers by 'GPT4o' here\. Did you mean 'gpt 4o'\? .*by: Claude Opus, GPT 4o$",
    ):
        _only(_answer(), _answer(model="Claude Opus"), by="GPT4o")
    with pytest.raises(ConfigError, match=r"no answers by 'x' here\. There are answers by: nobody"):
        _only(by="x")


@pytest.mark.parametrize(("number", "says"), [("", "the answer of"), ("7", "the answer 7 of")])
def test_an_answer_that_is_there_twice(number: str, says: str) -> None:
    """Both places are named: it cannot be told which one to replay."""
    again = _answer(place="f:9", number=number)
    says = rf"f:9: {says} 'GPT 4o' to 'q1' in 'hi' is already at f:1; keep one"
    with pytest.raises(DataError, match=says):
        _only(_answer(number=number), again)


@pytest.mark.parametrize(
    ("numbers", "order"),
    [
        (["10", "9", "1000"], "bac"),
        (["3", "1", "2"], "bca"),
        (["y", "x", "10"], "abc"),
        ([None, None, None], "abc"),
    ],
)
def test_a_number_is_an_id_and_no_repeat(numbers: list[str | None], order: str) -> None:
    """Repeats count from 0, by rising number, or as they come where one is no number."""
    answers = [_answer(text=t, number=n) for t, n in zip("abc", numbers, strict=True)]
    rows = _only(*answers).rows
    assert [0, 1, 2] == [row["repeat"] for row in rows]
    assert [*order] == [row["text"] for row in rows]


def test_what_a_model_was_not_asked_is_said() -> None:
    """Questions only others answered, and responses fewer than elsewhere."""
    answers = [
        *(_answer("q1", number=n) for n in "12"),
        _answer("q2", number="1"),
        _answer("q3", model="b", number="1"),
    ]
    transcript = _only(*answers, questions=("q1", "q2", "q3"), by="GPT 4o")
    lacking = [(row["sample_id"], row["repeat"]) for row in transcript.rows if "asked" in row]
    assert [("q2", 1), ("q3", 0), ("q3", 1)] == lacking
    assert Counter({True: 3, False: 3}) == Counter(row["text"] is None for row in transcript.rows)
    assert "3 answers in 1 language" == transcript.summary()
    assert [
        "up to 2 to each of 2 questions: add --xling-samples=2",
        (
            "3 of 6 were not asked and are left out: "
            "1 question has no answer, 1 question has fewer than 2"
        ),
    ] == transcript.notices()


def test_repairs_are_counted_once() -> None:
    """Not in the rows: the provider would call them unknown keys."""
    transcript = _only(*(_answer(f"q{n}", repair="cut at a blank line") for n in range(3)))
    assert ["3: cut at a blank line"] == transcript.notices()
    assert not any("repair" in row for row in transcript.rows)
