"""The bundled health questions: complete, parallel, in their languages, none of them borrowed."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import py3langid
import pytest

from pytest_xling.importers.rows import Rows
from tests.benchmarks.bundled_data import by_cld2, read_card, shingles

if TYPE_CHECKING:
    from pytest_xling.records import Sample

BENCHMARK = Path(__file__).resolve().parents[2] / "benchmarks/health"
XLINGHEALTH = (BENCHMARK / "../../../shared/data/xlinghealth").resolve()
LANGUAGES = ("en", "es", "hi", "zh")
IDS = [f"q{n:02}" for n in range(1, 61)]


@cache
def _samples(language: str) -> tuple[Sample, ...]:
    return tuple(Rows().read(BENCHMARK, benchmark="health", languages=[language]))


def _all() -> list[Sample]:
    return [sample for language in LANGUAGES for sample in _samples(language)]


def _texts(sample: Sample) -> list[str]:
    assert sample.reference is not None
    return [sample.prompt["question"], sample.reference, *sample.wrong]


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_the_60_questions_with_four_wrong_answers(language: str) -> None:
    """In the same order, with a reference each."""
    samples = _samples(language)
    assert IDS == [sample.id for sample in samples]
    assert {4} == {len(sample.wrong) for sample in samples}
    assert {"health"} == {sample.metadata["set"] for sample in samples}


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
    rows = re.findall(
        r"^\| (q\d\d) \| [^|]+ \| ([^|]+) \|$", read_card("health"), flags=re.MULTILINE
    )
    assert [(sample.id, sample.metadata["source"]) for sample in _samples("en")] == rows


@pytest.mark.parametrize("language", LANGUAGES)
def test_identifiers_know_the_language_of_every_question_and_reference(language: str) -> None:
    """CLD2 and py3langid agree; wrong answers are too short to be told from a neighbour."""
    for sample in _samples(language):
        for text in (sample.prompt["question"], sample.reference or ""):
            assert (language, language) == (by_cld2(text), py3langid.classify(text)[0]), text


@pytest.mark.parametrize("language", LANGUAGES)
def test_cld2_knows_the_language_of_all_wrong_answers_together(language: str) -> None:
    """No question's wrong answers were left in another language."""
    for sample in _samples(language):
        assert language == by_cld2(" ".join(sample.wrong)), sample.wrong


@pytest.mark.slow
@pytest.mark.skipif(not XLINGHEALTH.is_dir(), reason="XLingHealth's files are not here")
@pytest.mark.parametrize("name", ["LiveQA.xlsx", "MedicationQA.xlsx"])
def test_no_text_is_taken_from_xlinghealth(name: str) -> None:
    """No eight words in a row, nor in Chinese sixteen characters, are theirs."""
    reader = pytest.importorskip("pytest_xling.importers.xlinghealth").XLingHealth()
    theirs: set[str] = set()
    for sample in reader.read(XLINGHEALTH / name, benchmark="health", languages=LANGUAGES):
        for text in (sample.prompt["question"], sample.reference):
            theirs |= shingles(text, 8)
    ours = {
        (sample.language, sample.id): shingles(text, 8) & theirs
        for sample in _all()
        for text in _texts(sample)
    }
    assert {} == {name: shared for name, shared in ours.items() if shared}
