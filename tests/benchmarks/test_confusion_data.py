"""The bundled requests that tempt models out of a language: complete, parallel, labelled."""

from __future__ import annotations

import csv
import io
import re
import shutil
import subprocess
import zipfile
from collections import Counter
from pathlib import Path

import py3langid
import pytest

from pytest_xling.languages import find
from pytest_xling.planning.benchmark import benchmark_name, open_benchmark
from pytest_xling.text.prose import prose
from tests.benchmarks.bundled_data import Row, by_cld2, read_rows, shingles

BENCHMARK = Path(__file__).resolve().parents[2] / "benchmarks/confusion"
MIRROR = Path("/work/.mirror/for-ai+language-confusion/repo")
LANGUAGES = (
    *("ar", "de", "en", "es", "fr", "hi", "id", "it", "ja", "ko", "pt", "ru", "tr", "vi"),
    "zh",
)
SOURCES = {
    *("letter", "how_to", "list", "opinion", "summary", "code", "terms", "translation"),
    *("instructions", "creative"),
}
MONOLINGUAL = ("plain", "english_names", "english_terms", "english_text", "english_reader", "code")
CROSSLINGUAL = ("start", "end", "within")


def _all_rows() -> list[tuple[str, Row]]:
    rows = [(code, row) for code in LANGUAGES for row in read_rows("confusion/monolingual", code)]
    return [*rows, *(("en", row) for row in read_rows("confusion/crosslingual", "en"))]


def test_both_halves_are_in_the_fifteen_languages_of_the_paper() -> None:
    """Asked in them all, and in English for all others."""
    halves = {
        benchmark_name(folder): open_benchmark(folder, data={}).languages()
        for folder in (BENCHMARK / "monolingual", BENCHMARK / "crosslingual")
    }
    others = tuple(code for code in LANGUAGES if code != "en")
    assert {"monolingual": LANGUAGES, "crosslingual": others} == halves


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_the_same_requests(language: str) -> None:
    """A hundred, ten of each source, taking turns, each in a category."""
    rows = read_rows("confusion/monolingual", language)
    assert 100 == len(rows)
    assert dict.fromkeys(SOURCES, 10) == Counter(row["source"] for row in rows)
    assert set(MONOLINGUAL) >= {row["category"] for row in rows}
    for at in range(0, 100, 10):
        assert SOURCES == {row["source"] for row in rows[at : at + 10]}


def test_cross_lingual_requests_say_where_they_name_the_language() -> None:
    """At the start, at the end or within, each about as often; in each just once."""
    rows = read_rows("confusion/crosslingual", "en")
    assert dict.fromkeys(SOURCES, 6) == Counter(row["source"] for row in rows)
    counts = Counter(row["category"] for row in rows)
    assert set(CROSSLINGUAL) == counts.keys()
    assert min(counts.values()) >= 17
    instructions = set()
    for row in rows:
        text = row["question"]
        before, _, after = text.partition("{answer_language}")
        assert 1 == text.count("{answer_language}")
        instructions.add((before[-14:], after[:10]))
        if row["category"] == "start":
            assert len(before) <= 40, text
        if row["category"] == "end":
            assert len(after) <= 10, text
    assert len(instructions) >= 40


def test_quoted_texts_and_code_are_the_same_in_all_languages() -> None:
    """What is summarised or explained is English, or code, in each."""
    for index, original in enumerate(read_rows("confusion/monolingual", "en")):
        if original["source"] == "summary" and original["category"] == "english_text":
            quoted = re.findall('"(.+)"', original["question"])
            assert 1 == len(quoted)
            for code in LANGUAGES:
                assert quoted[0] in read_rows("confusion/monolingual", code)[index]["question"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_identifiers_know_the_language_of_plain_requests(language: str) -> None:
    """CLD2 or langid, of those that hold no English on purpose; few are told apart by neither."""
    plain = [
        row for row in read_rows("confusion/monolingual", language) if row["category"] == "plain"
    ]
    mistaken = []
    for row in plain:
        text = prose(row["question"], find(language).script)
        if language not in {by_cld2(text), py3langid.classify(text)[0]}:
            mistaken.append(row["id"])
    assert len(plain) >= 45
    assert len(mistaken) <= 2, mistaken


@pytest.mark.slow
@pytest.mark.skipif(not MIRROR.is_dir(), reason="the authors' repository is not here")
def test_no_request_is_taken_from_the_benchmark_of_the_paper() -> None:
    """No seven words in a row, nor in Chinese and Japanese fourteen characters, are theirs."""
    packed = subprocess.run(
        [shutil.which("git") or "git", f"--git-dir={MIRROR}", "show", "HEAD:test_sets.zip"],
        check=True,
        capture_output=True,
    ).stdout
    theirs: set[str] = set()
    with zipfile.ZipFile(io.BytesIO(packed)) as files:
        for name in files.namelist():
            if name.endswith(".csv") and "__MACOSX" not in name:
                text = files.read(name).decode()
                for row in csv.DictReader(io.StringIO(text)):
                    theirs |= shingles(row["prompt"], 7)
    assert len(theirs) > 10_000
    shared = {(c, r["id"]): shingles(r["question"], 7) & theirs for c, r in _all_rows()}
    assert {} == {name: found for name, found in shared.items() if found}
