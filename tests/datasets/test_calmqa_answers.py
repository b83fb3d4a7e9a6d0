"""CaLMQA's stored answers as transcripts, checked against the files read with json alone."""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from pytest_xling.datasets.calmqa import CalmqaReader
from pytest_xling.datasets.calmqa.answers import transcript_rows
from pytest_xling.errors import ConfigError, DataError

CHECKOUT = (Path(__file__).resolve().parents[2] / "../shared/data/calmqa").resolve()
real = pytest.mark.skipif(not CHECKOUT.is_dir(), reason="the CaLMQA checkout is not here")


def _write(folder: Path, answers: dict[str, str], *, language: str = "Hindi") -> None:
    entry = {
        "question": {
            "name": "non_cultural:7",
            "type": 6,
            "translations": {language: {"text": "?"}},
        },
        "answers": [
            {
                "prompting_state": {"model_name": model},
                "translations": {language: {"text": text}},
            }
            for model, text in answers.items()
        ],
    }
    file = folder / f"dataset-agnostic-{language.lower()}.json"
    file.write_text(json.dumps({"entries": [entry]}), encoding="utf-8")


def _row(folder: Path, model: str) -> dict[str, Any]:
    (row,) = transcript_rows(folder, answers_by=model)
    return row


def test_an_answer_becomes_a_row(tmp_path: Path) -> None:
    """With the sample id the reader gives the question."""
    _write(tmp_path, {"GPT 4o": "क्योंकि।"})
    assert {
        "sample_id": "non_cultural-7",
        "language": "hi",
        "text": "क्योंकि।",
        "stop_reason": "stop",
        "model": "GPT 4o",
    } == _row(tmp_path, "GPT 4o")


@pytest.mark.parametrize(
    ("stored", "reason"),
    [
        ("OTHER", "error"),
        ("SAFETY", "content_filter"),
        ("RECITATION", "content_filter"),
        ("BLOCKLIST", "content_filter"),
    ],
)
def test_gemini_faults_have_no_text(tmp_path: Path, stored: str, reason: str) -> None:
    """What the API said is kept."""
    _write(tmp_path, {"Gemini 1.5 Pro": stored})
    row = _row(tmp_path, "Gemini 1.5 Pro")
    assert (None, reason, stored) == (row["text"], row["stop_reason"], row["error"])


def test_an_empty_gemini_answer_is_an_error_that_says_nothing(tmp_path: Path) -> None:
    """There is nothing to keep, so no key."""
    _write(tmp_path, {"Gemini 1.5 Pro": ""})
    row = _row(tmp_path, "Gemini 1.5 Pro")
    assert (None, "error") == (row["text"], row["stop_reason"])
    assert "error" not in row


@pytest.mark.parametrize("text", ["", "OTHER"])
def test_other_models_wrote_what_is_stored(tmp_path: Path, text: str) -> None:
    """An empty answer is an answer; a word that looks like a fault is a word."""
    _write(tmp_path, {"Gemma 7B": text})
    row = _row(tmp_path, "Gemma 7B")
    assert (text, "stop") == (row["text"], row["stop_reason"])


@pytest.mark.parametrize(
    "name", ["Llama 3 70B (together.ai)", "Llama 3 70B", "llama 3  70b", " LLAMA 3 70B "]
)
def test_case_and_host_may_be_left_out(tmp_path: Path, name: str) -> None:
    """The row has the name as stored."""
    _write(tmp_path, {"Llama 3 70B (together.ai)": "a", "GPT 4o": "b"})
    assert "Llama 3 70B (together.ai)" == _row(tmp_path, name)["model"]


def test_the_full_name_wins_over_one_without_its_host(tmp_path: Path) -> None:
    """``Human`` is not ``Human (dot points)``."""
    _write(tmp_path, {"Human (dot points)": "a", "Human": "b"})
    assert "b" == _row(tmp_path, "human")["text"]


def test_a_name_that_fits_two_hosts_is_refused(tmp_path: Path) -> None:
    """Neither is chosen in silence."""
    _write(tmp_path, {"Llama (a)": "a", "Llama (b)": "b"})
    with pytest.raises(ConfigError, match=r"may mean Llama \(a\) or Llama \(b\)"):
        transcript_rows(tmp_path, answers_by="llama")


def test_an_unknown_model_lists_those_there_are(tmp_path: Path) -> None:
    """At the call, not at the first row."""
    _write(tmp_path, {"GPT 4o": "a", "Claude Opus": "b"})
    with pytest.raises(
        ConfigError,
        match=r"no answers by 'GPT4o' here\. Did you mean 'gpt 4o'\? .*by: Claude Opus, GPT 4o$",
    ):
        transcript_rows(tmp_path, answers_by="GPT4o")


def test_a_folder_that_is_no_checkout_is_refused(tmp_path: Path) -> None:
    """As by the reader."""
    with pytest.raises(DataError, match="not a CaLMQA checkout"):
        transcript_rows(tmp_path, answers_by="GPT 4o")


@cache
def _stored(model: str) -> Counter[tuple[str, str]]:
    """Return (language name, text) of a model's answers, with json alone."""
    found: Counter[tuple[str, str]] = Counter()
    for file in (CHECKOUT / "datasets").glob("*.json"):
        for entry in json.loads(file.read_bytes())["entries"]:
            for answer in entry["answers"]:
                if answer["prompting_state"]["model_name"] == model:
                    text = answer["translations"][answer["language"]]["text"]
                    found[answer["language"], text] += 1
    return found


@real
@pytest.mark.parametrize("model", ["GPT 4o", "Mixtral 8x22B (together.ai)"])
def test_every_stored_answer_comes_through_unchanged(model: str) -> None:
    """No answer is lost, doubled or altered."""
    rows = list(transcript_rows(CHECKOUT, answers_by=model))
    assert Counter(t for _, t in _stored(model).elements()) == Counter(r["text"] for r in rows)


@real
def test_real_gemini_faults_are_counted() -> None:
    """822 faults among 1,968 answers, as counted in the files by hand."""
    rows = list(transcript_rows(CHECKOUT, answers_by="gemini 1.5 pro"))
    assert {
        ("stop", None): 1144,
        ("error", "OTHER"): 658,
        ("error", None): 158,
        ("content_filter", "SAFETY"): 4,
        ("content_filter", "RECITATION"): 3,
        ("content_filter", "BLOCKLIST"): 1,
    } == Counter((row["stop_reason"], row.get("error")) for row in rows)
    assert {None} == {row["text"] for row in rows if row["stop_reason"] != "stop"}


@real
def test_rows_match_the_samples_in_order() -> None:
    """One row per question, sorted by language, as the reader gives the questions."""
    languages = CalmqaReader.languages(CHECKOUT)
    samples = CalmqaReader.read(CHECKOUT, benchmark="culture", languages=languages)
    rows = list(transcript_rows(CHECKOUT, answers_by="GPT 4o"))
    assert [(s.language, s.id) for s in samples] == [(r["language"], r["sample_id"]) for r in rows]
