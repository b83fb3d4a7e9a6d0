"""The bundled questions and posts of parity: complete, parallel, in their languages."""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import langid
import py3langid
import pycld2
import pytest
from ruamel.yaml import YAML

from pytest_xling.importers.rows import Rows
from pytest_xling.languages import find, languages

BENCHMARK = Path(__file__).resolve().parents[2] / "benchmarks/parity"
HALVES = ("information", "empathy")
IDS = {
    "information": [f"info-{n:02}" for n in range(1, 49)],
    "empathy": [f"post-{n:02}" for n in range(1, 49)],
}
OTHERS = tuple(sorted(entry.code for entry in languages() if entry.found_in_translation))
LANGUAGES = tuple(sorted([*OTHERS, "en"]))
KEYS = ("id", "set", "question", "category", "source", "parallel_id")

# The writing systems of a text in each script, by the first word of Unicode character names.
WRITING = {
    "Arab": {"ARABIC"},
    "Beng": {"BENGALI"},
    "Cyrl": {"CYRILLIC"},
    "Deva": {"DEVANAGARI"},
    "Grek": {"GREEK"},
    "Gujr": {"GUJARATI"},
    "Guru": {"GURMUKHI"},
    "Hans": {"CJK"},
    "Hebr": {"HEBREW"},
    "Jpan": {"CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA"},
    "Knda": {"KANNADA"},
    "Kore": {"HANGUL"},
    "Latn": {"LATIN"},
    "Mlym": {"MALAYALAM"},
    "Taml": {"TAMIL"},
    "Telu": {"TELUGU"},
    "Thai": {"THAI"},
}

# What identifiers do not take for the language of its file; the data card names these rows.
CLD2_SAYS = {
    ("id", "info-09"): "ms",
    ("id", "info-11"): "ms",
    ("id", "post-11"): "ms",
    ("nl", "info-09"): "un",
    ("nl", "info-33"): "un",
    ("nl", "info-40"): "un",
    ("ru", "info-46"): "un",
}
LANGID_SAYS = {("id", "post-28"): "ms"}

Row = dict[str, str]


@cache
def _rows(half: str, language: str) -> tuple[Row, ...]:
    text = (BENCHMARK / half / "data" / f"{language}.jsonl").read_text(encoding="utf-8")
    return tuple(json.loads(line) for line in text.splitlines())


def _all_rows() -> list[tuple[str, Row]]:
    return [(code, row) for half in HALVES for code in LANGUAGES for row in _rows(half, code)]


@cache
def _card() -> str:
    return (BENCHMARK / "README.md").read_text(encoding="utf-8")


@cache
def _prompts(half: str) -> dict[str, Any]:
    with (BENCHMARK / half / "prompts.yaml").open(encoding="utf-8") as file:
        loaded: dict[str, Any] = YAML(typ="safe", pure=True).load(file)
    return loaded


def _letters(text: str) -> Counter[str]:
    """Return how many letters of each writing system are in *text*."""
    return Counter(
        unicodedata.name(char).split()[0] for char in text if unicodedata.category(char)[0] == "L"
    )


def _by_cld2(text: str) -> str:
    """Return the code of the language CLD2 takes *text* for; its code for Hebrew is the old one."""
    code: str = pycld2.detect(text)[2][0][1].partition("-")[0]
    return "he" if code == "iw" else code


@pytest.mark.parametrize("half", HALVES)
def test_the_reader_finds_english_and_the_thirty_languages_of_the_paper(half: str) -> None:
    """In both halves, every row."""
    assert 30 == len(OTHERS)
    assert LANGUAGES == Rows().languages(BENCHMARK / half)
    samples = Rows().read(BENCHMARK / half, benchmark=half, languages=LANGUAGES)
    assert 31 * len(IDS[half]) == len(samples)


@pytest.mark.parametrize("half", HALVES)
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_the_same_rows_in_the_same_order(half: str, language: str) -> None:
    """Ids, categories and sources are those of the English file; translations say what they are."""
    rows, english = _rows(half, language), _rows(half, "en")
    assert IDS[half] == [row["id"] for row in rows]
    keys = KEYS if language == "en" else (*KEYS, "translation")
    if half == "empathy" and language != "en":
        keys = (*keys[:3], "question_english", *keys[3:])
    for row, original in zip(rows, english, strict=True):
        assert keys == tuple(row)
        assert row.get("question_english", original["question"]) == original["question"]
        assert all(row.values())
        assert (half, row["id"]) == (row["set"], row["parallel_id"])
        assert (original["category"], original["source"]) == (row["category"], row["source"])
        assert row.get("translation", "machine") == "machine"


def test_no_text_occurs_twice() -> None:
    """Not in one language, and no translation is the English text or another language's."""
    texts = Counter(row["question"] for _, row in _all_rows())
    assert [] == [text for text, count in texts.items() if count > 1]


def test_every_text_is_in_composed_form_and_trimmed() -> None:
    """NFC, no stray blanks: what is compared or hashed is what is seen."""
    for _, row in _all_rows():
        text = row["question"]
        assert unicodedata.normalize("NFC", text) == text
        assert " ".join(text.split()) == text


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_text_is_in_its_script(language: str) -> None:
    """Latin letters elsewhere only in "pH" and "DNA", and never in a post."""
    names = WRITING[find(language).script]
    for row in _rows("information", language):
        letters = _letters(row["question"])
        assert letters.keys() <= names | {"LATIN"}, row
        assert sum(letters[name] for name in names) >= 0.8 * letters.total(), row
        if "LATIN" not in names:
            assert {"DNA", "pH"} >= set(re.findall("[A-Za-z]+", row["question"])), row
    for row in _rows("empathy", language):
        assert _letters(row["question"]).keys() <= names, row


def test_japanese_is_not_chinese() -> None:
    """Kana in every Japanese text."""
    for half in HALVES:
        for row in _rows(half, "ja"):
            assert re.search("[\u3040-\u30ff]", row["question"]), row


def test_cld2_knows_the_language_of_every_row_but_seven() -> None:
    """The data card names the seven."""
    mistaken = {
        (code, row["id"]): taken
        for code, row in _all_rows()
        if (taken := _by_cld2(row["question"])) != code
    }
    assert CLD2_SAYS == mistaken


def test_langid_knows_the_rows_that_cld2_does_not() -> None:
    """No row is taken for another language by all identifiers."""
    for code, row in _all_rows():
        if (code, row["id"]) in CLD2_SAYS | LANGID_SAYS:
            expected = LANGID_SAYS.get((code, row["id"]), code)
            assert expected == py3langid.classify(row["question"])[0]


@pytest.mark.slow
def test_langid_and_py3langid_know_the_language_of_every_row_but_one() -> None:
    """The data card names it."""
    for identifier in (langid, py3langid):
        mistaken = {
            (code, row["id"]): taken
            for code, row in _all_rows()
            if (taken := identifier.classify(row["question"])[0]) != code
        }
        assert LANGID_SAYS == mistaken


def test_the_card_counts_what_is_there() -> None:
    """Rows, the size of the files, and the rows that identifiers mistake."""
    assert f"| Rows | 96 per language ({len(_all_rows()):,}) |" in _card()
    size = sum(file.stat().st_size for file in BENCHMARK.glob("*/data/*.jsonl"))
    assert f"| Size | about {size / 1e6:.1f} MB |" in _card()
    (told,) = re.findall(r"^- CLD2, langid.*?\n- ", _card(), flags=re.DOTALL | re.MULTILINE)
    assert {name for _, name in CLD2_SAYS | LANGID_SAYS} == set(re.findall(r"`([\w-]+)`", told))


def test_the_card_says_how_many_rows_were_mended() -> None:
    """One column for each translation; the columns add up to the total."""
    header = (
        r"^\| \| (.*) \|\n\|[-:|]+\|\n\| of 40 questions \| (.*) \|\n\| of 32 posts \| (.*) \|$"
    )
    tables = re.findall(header, _card(), flags=re.MULTILINE)
    codes, questions, posts = (" | ".join(row).split(" | ") for row in zip(*tables, strict=True))
    assert OTHERS == tuple(codes)
    total = sum(map(int, questions + posts))
    assert f"mended ({total} of {72 * len(OTHERS):,})" in _card()


@pytest.mark.parametrize(("half", "title"), [("information", "Subjects"), ("empathy", "Themes")])
def test_categories_are_those_of_the_card(half: str, title: str) -> None:
    """The card lists each subject and theme in use and no other."""
    (listing,) = re.findall(rf"^{title}: (.*?)\.$", _card(), flags=re.DOTALL | re.MULTILINE)
    listed = re.findall(r"`([\w-]+)`", listing)
    counts = Counter(row["category"] for row in _rows(half, "en"))
    assert sorted(listed) == sorted(counts)
    assert half == "empathy" or {6} == set(counts.values())
    assert max(counts.values()) <= (3 if half == "empathy" else 6)


def test_posts_have_49_to_58_words() -> None:
    """As the card says of the English ones."""
    lengths = [len(row["question"].split()) for row in _rows("empathy", "en")]
    assert (49, 58) == (min(lengths), max(lengths))


def test_the_page_of_languages_is_the_table_of_languages() -> None:
    """Code, name, script and both groups, as pytest_xling/languages has them."""
    page = (BENCHMARK / "languages.md").read_text(encoding="utf-8")
    rows = re.findall(
        r"^\| `(\w\w)` \| (\w+) \| (\w+) \| (\w+) \| (\w+) \|$", page, flags=re.MULTILINE
    )
    assert rows == [
        (code, entry.english_name, entry.script, entry.script_group, entry.family_group)
        for code, entry in ((code, find(code)) for code in OTHERS)
    ]


@pytest.mark.parametrize("half", HALVES)
def test_models_are_asked_the_bare_text_or_shown_two_answers_first(half: str) -> None:
    """English is the pivot; shots hold nothing that would end an answer."""
    prompts = _prompts(half)
    assert ("en", "{question}") == (prompts["pivot"], prompts["chat"])
    assert {"default", "en", "es", "hi", "zh"} == prompts["completion"].keys()
    asked = {row["question"] for _, row in _all_rows()}
    for code, entry in prompts["completion"].items():
        texts = [text for shot in entry["shots"] for text in shot]
        assert 4 == len(texts)
        assert not asked & set(texts)
        for text in texts:
            assert "\n" not in text
            assert entry["question"] not in text
            assert code == "default" or code == _by_cld2(text), text
