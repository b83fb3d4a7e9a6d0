"""The bundled health questions: complete, parallel, in their languages, none of them borrowed."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import py3langid
import pycld2
import pytest

from pytest_xling.importers.rows import Rows
from pytest_xling.languages import find

if TYPE_CHECKING:
    from pytest_xling.records import Sample

BENCHMARK = Path(__file__).resolve().parents[2] / "benchmarks/health"
XLINGHEALTH = (BENCHMARK / "../../../shared/data/xlinghealth").resolve()
LANGUAGES = ("en", "es", "hi", "zh")
IDS = [f"q{n:02}" for n in range(1, 61)]

# The writing system of each script's letters, by the first word of their Unicode names.
WRITING = {"Deva": "DEVANAGARI", "Hans": "CJK", "Latn": "LATIN"}


@cache
def _samples(language: str) -> tuple[Sample, ...]:
    return tuple(Rows().read(BENCHMARK, benchmark="health", languages=[language]))


def _all() -> list[Sample]:
    return [sample for language in LANGUAGES for sample in _samples(language)]


def _texts(sample: Sample) -> list[str]:
    assert sample.reference is not None
    return [sample.prompt["question"], sample.reference, *sample.wrong]


@cache
def _card() -> str:
    return (BENCHMARK / "README.md").read_text(encoding="utf-8")


def test_the_reader_finds_the_four_languages() -> None:
    """Those of XLingEval."""
    assert LANGUAGES == Rows().languages(BENCHMARK)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_the_60_questions_with_four_wrong_answers(language: str) -> None:
    """In the same order, with a reference each."""
    samples = _samples(language)
    assert IDS == [sample.id for sample in samples]
    assert {4} == {len(sample.wrong) for sample in samples}
    assert {"health"} == {sample.metadata["set"] for sample in samples}


def test_versions_of_a_question_are_parallel() -> None:
    """They share id, category and source."""
    for versions in zip(*map(_samples, LANGUAGES), strict=True):
        assert 1 == len({(v.id, v.parallel_id) for v in versions})
        assert versions[0].id == versions[0].parallel_id
        assert 1 == len({(v.metadata["category"], v.metadata["source"]) for v in versions})


def test_no_topic_occurs_twice() -> None:
    """Each question has a page of its own."""
    sources = Counter(sample.metadata["source"] for sample in _samples("en"))
    assert [] == [source for source, count in sources.items() if count > 1]


def test_versions_say_the_same_numbers() -> None:
    """A dose or a limit got lost in no translation; small ones may be spelt out."""
    for versions in zip(*map(_samples, LANGUAGES), strict=True):
        for texts in zip(*map(_texts, versions), strict=True):
            large = [{n for n in re.findall(r"\d+", text) if int(n) > 12} for text in texts]
            assert [large[0]] * len(LANGUAGES) == large, texts


def test_machine_translations_say_so() -> None:
    """Every row but the English ones."""
    for sample in _all():
        expected = None if sample.language == "en" else "machine"
        assert expected == sample.metadata.get("translation"), sample


def test_no_text_occurs_twice() -> None:
    """Neither as a question nor as an answer, right or wrong."""
    texts = [text for sample in _all() for text in _texts(sample)]
    assert [] == [text for text, count in Counter(texts).items() if count > 1]


@pytest.mark.parametrize("language", LANGUAGES)
def test_answers_are_short_enough_to_be_affordable(language: str) -> None:
    """References have two to five sentences, wrong answers one or two."""
    for sample in _samples(language):
        assert 2 <= len(re.findall(r"[.。।]", sample.reference or "")) <= 5, sample.reference
        for text in sample.wrong:
            assert 1 == len(re.findall(r"[.。।]", text)), text
            assert len(text) < len(sample.reference or ""), text


def test_sources_are_pages_without_invented_addresses() -> None:
    """An institution and the title of a page, never a URL."""
    for sample in _all():
        assert re.fullmatch(
            r"(CDC|MedlinePlus|National Institute of Mental Health \(USA\)|NHS|WHO): [A-Z][^:/]+",
            sample.metadata["source"],
        )


def test_the_card_names_every_source_beside_its_question() -> None:
    """One line a question, with what the data says."""
    rows = re.findall(r"^\| (q\d\d) \| [^|]+ \| ([^|]+) \|$", _card(), flags=re.MULTILINE)
    assert [(sample.id, sample.metadata["source"]) for sample in _samples("en")] == rows


def test_categories_are_those_of_the_data_card() -> None:
    """The card lists each category in use and no other."""
    (listing,) = re.findall(r"^Categories: (.*?)\.$", _card(), flags=re.DOTALL | re.MULTILINE)
    assert set(re.findall(r"`(\w+)`", listing)) == {s.metadata["category"] for s in _all()}


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_text_is_in_its_script(language: str) -> None:
    """Latin letters in Chinese only for abbreviations such as HPV; in Hindi none."""
    script = find(language).script
    for sample in _samples(language):
        for text in _texts(sample):
            letters = Counter(unicodedata.name(char).split()[0] for char in text if char.isalpha())
            foreign = {"LATIN"} if script == "Hans" else set()
            assert letters.keys() <= {WRITING[script]} | foreign, text
            assert letters[WRITING[script]] >= 0.85 * letters.total(), text


@pytest.mark.parametrize("language", LANGUAGES)
def test_identifiers_know_the_language_of_every_question_and_reference(language: str) -> None:
    """CLD2 and py3langid agree; wrong answers are too short to be told from a neighbour."""
    for sample in _samples(language):
        for text in (sample.prompt["question"], sample.reference or ""):
            cld2 = pycld2.detect(text)[2][0][1].partition("-")[0]
            assert (language, language) == (cld2, py3langid.classify(text)[0]), text


@pytest.mark.parametrize("language", LANGUAGES)
def test_cld2_knows_the_language_of_all_wrong_answers_together(language: str) -> None:
    """No question's wrong answers were left in another language."""
    for sample in _samples(language):
        found = pycld2.detect(" ".join(sample.wrong))[2]
        assert language == found[0][1].partition("-")[0], sample.wrong


def test_every_text_is_in_composed_form_and_trimmed() -> None:
    """NFC, no stray blanks: what is compared or hashed is what is seen."""
    for text in (text for sample in _all() for text in _texts(sample)):
        assert unicodedata.normalize("NFC", text) == text
        assert " ".join(text.split()) == text


@pytest.mark.skipif(not XLINGHEALTH.is_dir(), reason="XLingHealth's files are not here")
@pytest.mark.parametrize("name", ["LiveQA.xlsx", "MedicationQA.xlsx"])
def test_no_text_is_taken_from_xlinghealth(name: str) -> None:
    """No eight words in a row, nor in Chinese sixteen characters, are theirs."""
    reader = pytest.importorskip("pytest_xling.importers.xlinghealth").XLingHealth()
    theirs: set[str] = set()
    for sample in reader.read(XLINGHEALTH / name, benchmark="health", languages=LANGUAGES):
        for text in (sample.prompt["question"], sample.reference):
            theirs |= _shingles(text, sample.language)
    ours = {
        (sample.language, sample.id): _shingles(text, sample.language) & theirs
        for sample in _all()
        for text in _texts(sample)
    }
    assert {} == {name: shared for name, shared in ours.items() if shared}


def _shingles(text: str, language: str) -> set[str]:
    plain = re.sub(r"[^\w\s]", "", text.casefold())
    if language == "zh":
        return {plain[i : i + 16] for i in range(len(plain) - 15)}
    words = plain.split()
    return {" ".join(words[i : i + 8]) for i in range(len(words) - 7)}
