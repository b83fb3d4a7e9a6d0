"""CaLMQA's routing between CLD2 and langid."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import langid
import pycld2
import pytest

from pytest_xling.annotators.language_id import LanguageId
from pytest_xling.errors import ConfigError
from pytest_xling.languages import find

CALMQA = Path(__file__).resolve().parents[2] / "../shared/data/calmqa/datasets"
ASKED_FIRST = frozenset(
    ["aa", "ar", "bal", "fj", "fo", "hi", "hil", "ps", "rn", "ru", "sm", "tn", "to", "wo"]
)


def by_the_paper(text: str, expected: str) -> str:
    """Route as CaLMQA's released code does, with the libraries themselves."""
    if expected in ASKED_FIRST:
        reliable, _, found = pycld2.detect(text.encode(), bestEffort=False)
        if not reliable:
            reliable, _, found = pycld2.detect(text.encode(), bestEffort=True)
        if reliable:
            return str(found[0][1])
    return str(langid.classify(text)[0])


@pytest.mark.slow
def test_agrees_with_the_papers_routing_on_stored_answers() -> None:
    """Stored answers in all 23 languages get the language that the released code would give."""
    if not CALMQA.is_dir():
        pytest.skip("needs ../shared/data/calmqa")
    drawn = random.Random(3)  # noqa: S311  a sample, not a secret
    pairs = []
    for file in sorted(CALMQA.glob("*.json")):
        entries = json.loads(file.read_text(encoding="utf-8"))["entries"]
        for answer in drawn.sample([a for entry in entries for a in entry["answers"]], 10):
            text = answer["translations"][answer["language"]]["text"]
            if text.strip(" ."):
                pairs.append((text, find(answer["language"]).code))
    assert len(pairs) > 400
    texts, codes = zip(*pairs, strict=True)
    expected = [by_the_paper(*pair) for pair in pairs]
    values: list[Any] = LanguageId().annotate(texts, codes)
    assert expected == [value["language"] for value in values]
    assert {"cld2", "langid"} == {value["by"] for value in values}


@pytest.mark.parametrize("hostile", ["\x00", "\x07", "\x9b31m", "\ufffe", "\U0010ffff", "\ud800"])
def test_characters_that_cld2_refuses(hostile: str) -> None:
    """Control characters, non-characters and surrogates do not hide the language."""
    text = f"यह एक हिन्दी वाक्य है{hostile} और यह दूसरा हिन्दी वाक्य है।"
    (value,) = LanguageId().annotate([text], ["hi"])
    assert {"language": "hi", "by": "cld2", "best_effort": False, "langid": "hi"} == value


@pytest.mark.parametrize("text", ["", " \n\t", "\x00", "42", "😀 …"])
def test_text_without_letters_has_no_language(text: str) -> None:
    """Nothing to read is no language, whatever langid says of nothing."""
    for code in ("hi", "de"):
        (value,) = LanguageId().annotate([text], [code])
        assert {"language": None, "by": None, "langid": None} == value


def test_cld2_codes_become_ours() -> None:
    """CLD2 calls Hebrew iw; our table calls it he."""
    text = "זהו משפט ארוך מספיק בעברית, וכאן עוד משפט אחד בעברית."
    (value,) = LanguageId().annotate([text], ["ar"])
    assert isinstance(value, dict)
    assert ("he", "cld2") == (value["language"], value["by"])


def test_unknown_expected_language_is_a_mistake() -> None:
    """A language that is not in our table cannot be routed."""
    with pytest.raises(ConfigError, match="unknown language 'xx'"):
        LanguageId().annotate(["text"], ["xx"])
