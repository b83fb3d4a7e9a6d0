"""The bundled conversations: complete, parallel, in their languages, with one English text each."""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import py3langid
import pycld2
import pytest
from ruamel.yaml import YAML

from pytest_xling.languages import find

if TYPE_CHECKING:
    from collections.abc import Iterator

BENCHMARK = Path(__file__).resolve().parents[2] / "benchmarks/conversation"
LANGUAGES = ("ar", "de", "en", "es", "fr", "hi", "id", "ja", "pt", "ru", "sw", "zh")
IDS = [f"c{n:02}" for n in range(1, 49)]
KEYS = ("id", "parallel_id", "set", "category", "source", "question", "turns")

# The writing systems of a text in each script, by the first word of Unicode character names.
WRITING = {
    "Arab": {"ARABIC"},
    "Cyrl": {"CYRILLIC"},
    "Deva": {"DEVANAGARI"},
    "Hans": {"CJK"},
    "Jpan": {"CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA"},
    "Latn": {"LATIN"},
}

# What identifiers take for another language than its file's; the data card names these.
CLD2_SAYS: dict[tuple[str, str], str] = {}
PY3LANGID_SAYS: dict[tuple[str, str], str] = {}

Row = dict[str, Any]


@cache
def _rows(language: str) -> tuple[Row, ...]:
    text = (BENCHMARK / "data" / f"{language}.jsonl").read_text(encoding="utf-8")
    return tuple(json.loads(line) for line in text.splitlines())


def _all_rows() -> Iterator[tuple[str, Row]]:
    return ((code, row) for code in LANGUAGES for row in _rows(code))


@cache
def _card() -> str:
    return (BENCHMARK / "README.md").read_text(encoding="utf-8")


def _pasted(row: Row) -> str:
    """Return the English text at the end of the third user turn."""
    text: str = row["turns"][1].partition("\n\n")[2]
    return text


def _said(row: Row) -> list[str]:
    """Return the five user turns without the English text."""
    return [row["question"], *(turn.partition("\n\n")[0] for turn in row["turns"])]


def _letters(text: str) -> Counter[str]:
    """Return how many letters of each writing system are in *text*."""
    return Counter(
        unicodedata.name(char).split()[0] for char in text if unicodedata.category(char)[0] == "L"
    )


def _by_cld2(text: str) -> str:
    """Return the code of the language CLD2 takes *text* for."""
    code: str = pycld2.detect(text)[2][0][1]
    return code.partition("-")[0]


def test_there_is_a_file_for_each_language_and_no_other() -> None:
    """Named by the language's code."""
    assert list(LANGUAGES) == sorted(file.stem for file in (BENCHMARK / "data").iterdir())
    assert list(LANGUAGES) == [find(code).code for code in LANGUAGES]


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_the_same_conversations_in_the_same_order(language: str) -> None:
    """Ids and categories are those of the English file; translations say what they are."""
    rows = _rows(language)
    assert IDS == [row["id"] for row in rows]
    for row, original in zip(rows, _rows("en"), strict=True):
        assert (KEYS if language == "en" else (*KEYS, "translation")) == tuple(row)
        assert (row["id"], "agnostic") == (row["parallel_id"], row["set"])
        assert original["category"] == row["category"]
        assert "written for pytest-xling" == row["source"]
        assert "machine" == row.get("translation", "machine")


@pytest.mark.parametrize("language", LANGUAGES)
def test_four_turns_follow_and_only_the_second_of_them_ends_with_the_english_text(
    language: str,
) -> None:
    """After one empty line, and the same text in all languages."""
    for row, original in zip(_rows(language), _rows("en"), strict=True):
        assert 4 == len(row["turns"])
        texts = [row["question"], *row["turns"]]
        assert [0, 0, 1, 0, 0] == [text.count("\n\n") for text in texts]
        assert all("\n" not in text for text in _said(row))
        assert _pasted(original) == _pasted(row)


def test_the_pasted_texts_are_english_and_have_30_to_60_words() -> None:
    """Latin letters only, identified as English; what begins like JSON is JSON."""
    for row in _rows("en"):
        pasted = _pasted(row)
        assert 30 <= len(pasted.split()) <= 60, pasted
        assert {"LATIN"} == _letters(pasted).keys(), pasted
        assert "en" == _by_cld2(pasted), pasted
        if pasted.startswith("{"):
            assert dict is type(json.loads(pasted))


@pytest.mark.parametrize("language", LANGUAGES)
def test_turns_are_short(language: str) -> None:
    """Five to 25 words; where words are not set apart, 6 to 60 characters."""
    for row in _rows(language):
        for text in _said(row):
            if language in {"ja", "zh"}:
                assert 6 <= len(text) <= 60, text
            else:
                assert 5 <= len(text.split()) <= 25, text


def test_no_text_occurs_twice() -> None:
    """No turn is said twice, in one language or two, and no English text is pasted twice."""
    said = Counter(text for _, row in _all_rows() for text in _said(row))
    assert [] == [text for text, count in said.items() if count > 1]
    assert len(IDS) == len({_pasted(row) for row in _rows("en")})


def test_every_text_is_in_composed_form_and_trimmed() -> None:
    """NFC, no stray blanks: what is compared or hashed is what is seen."""
    for _, row in _all_rows():
        for text in (*_said(row), *_pasted(row).splitlines()):
            assert unicodedata.normalize("NFC", text) == text
            assert " ".join(text.split()) == text


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_turn_is_in_its_script(language: str) -> None:
    """Beside the English text there is no letter of another script."""
    for row in _rows(language):
        for text in _said(row):
            assert _letters(text).keys() <= WRITING[find(language).script], text


@pytest.mark.skipif("ja" not in LANGUAGES, reason="no Japanese file")
def test_japanese_is_not_chinese() -> None:
    """Kana in every Japanese turn."""
    for row in _rows("ja"):
        for text in _said(row):
            assert re.search("[\u3040-\u30ff]", text), text


def test_identifiers_know_the_language_of_the_conversations() -> None:
    """By the five turns without the English text; the data card names the exceptions."""
    cld2, langid = {}, {}
    for code, row in _all_rows():
        text = " ".join(_said(row))
        if (taken := _by_cld2(text)) != code:
            cld2[code, row["id"]] = taken
        if (taken := py3langid.classify(text)[0]) != code:
            langid[code, row["id"]] = taken
    assert CLD2_SAYS == cld2
    assert PY3LANGID_SAYS == langid
    assert not CLD2_SAYS.keys() & PY3LANGID_SAYS.keys()


def test_the_system_prompt_is_english_and_names_no_language() -> None:
    """Three to six sentences; nothing in it says which language to answer in."""
    with (BENCHMARK / "prompts.yaml").open(encoding="utf-8") as file:
        prompts: dict[str, str] = YAML(typ="safe", pure=True).load(file)
    assert {"system", "chat", "judge_turns"} == prompts.keys()
    assert "{question}" == prompts["chat"]
    system = prompts["system"]
    assert 3 <= len(re.findall(r"[.?!](?:\s|$)", system)) <= 6
    assert "en" == _by_cld2(system)
    assert not re.search("language|english|translat", system, flags=re.IGNORECASE)


def test_four_conversations_in_each_category_of_the_card() -> None:
    """The card lists each category in use and no other."""
    (listing,) = re.findall(r"^Categories: (.*?)\.$", _card(), flags=re.DOTALL | re.MULTILINE)
    counts = Counter(row["category"] for row in _rows("en"))
    assert sorted(re.findall(r"`(\w+)`", listing)) == sorted(counts)
    assert {4} == set(counts.values())


def test_the_card_counts_what_is_there() -> None:
    """Languages, conversations, the size of the files, and what identifiers mistake."""
    assert f"| Languages | {', '.join(LANGUAGES)} |" in _card()
    assert f"| Rows | 48 per language ({48 * len(LANGUAGES)}) |" in _card()
    size = sum(file.stat().st_size for file in (BENCHMARK / "data").iterdir())
    assert f"| Size | about {size / 1000:.0f} kB |" in _card()
    (told,) = re.findall(r"^- CLD2 and py3langid.*?\n\n", _card(), flags=re.DOTALL | re.MULTILINE)
    mistaken = {name for _, name in CLD2_SAYS | PY3LANGID_SAYS}
    assert mistaken == set(re.findall(r"`(c\d\d)`", told))
