"""What is wrong with a translation is seen, and what is not is none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_xling.annotators.translate.faults import fault
from pytest_xling.languages import find
from pytest_xling.records import Response

CALMQA = Path(__file__).resolve().parents[2] / "../shared/data/calmqa/datasets"


@pytest.mark.parametrize(
    ("sentence", "language", "text"),
    [
        ("You should see a doctor about that.", "hi", "You should see a doctor about that."),
        ("You should see a doctor about that.", "es", "You should see a doctor about that."),
        ("Paracetamol, ibuprofeno", "es", "Paracetamol, ibuprofeno"),
        ("第一", "zh", "1."),
        ("《本草纲目》", "zh", "Compendium (本草纲目)"),
    ],
)
def test_what_may_stay_as_it_is(sentence: str, language: str, text: str) -> None:
    """Answers in English after all, names and numbers are no echo."""
    response = Response(text=text, stop_reason="stop")
    assert "" == fault(response, sentence=sentence, source=language, target="en")


@pytest.mark.slow
def test_translations_by_people_have_no_fault() -> None:
    """Of CaLMQA's questions and their English translations, nearly all pass; echoes do not."""
    if not CALMQA.is_dir():
        pytest.skip("needs ../shared/data/calmqa")
    pairs, echoes = [], []
    for file in sorted(CALMQA.glob("*.json")):
        for entry in json.loads(file.read_text(encoding="utf-8"))["entries"]:
            texts = entry["question"]["translations"]
            if entry["question"]["language"] == "English" or "English" not in texts:
                continue
            source = find(entry["question"]["language"]).code
            text, english = texts[entry["question"]["language"]]["text"], texts["English"]["text"]
            if "[link]" in text or not text.strip() or not english.strip():
                continue
            pairs.append((text, source, Response(text=english, stop_reason="stop")))
            echoes.append((text, source, Response(text=text, stop_reason="stop")))
    assert len(pairs) > 1_000
    wrong = [
        found
        for text, source, response in pairs
        if (found := fault(response, sentence=text, source=source, target="en"))
    ]
    assert len(wrong) <= 0.005 * len(pairs), wrong
    seen = [fault(r, sentence=text, source=source, target="en") for text, source, r in echoes]
    assert sum(map(bool, seen)) >= 0.97 * len(echoes)
