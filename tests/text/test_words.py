"""Words of texts in many scripts."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path

import icu4py
import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_xling.text.words import MAX_PIECE, tokenizer, words

CALMQA = Path(__file__).resolve().parents[2] / "../shared/data/calmqa/datasets"
ANY_TEXT = st.text(st.characters(exclude_categories=()))
# Letters of three alphabets, digits, and the punctuation that UAX 29 has rules for; without
# apostrophes, for which, before vowels, ``regex`` goes beyond the standard.
ALPHABETIC = st.text("abTzéñßжЩиωΣ019.,:;-_!?¿()/ \n", max_size=60)
UAX_29 = regex.compile(r"(?V1w)\b")
"""The same boundaries, as another program draws them."""


def by_regex(text: str) -> list[str]:
    """Return the words of *text* by the package ``regex``, in the form in which we give them."""
    parts = [part for part in UAX_29.split(text) if regex.search(r"[\p{L}\p{N}]", part)]
    return [
        unicodedata.normalize("NFKC", part).casefold().replace("’", "'").strip("_")
        for part in parts
    ]


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        (
            "en",
            "Take 2.5 mg, twice -- don't stop!",
            ["take", "2.5", "mg", "twice", "don't", "stop"],
        ),
        ("en", "a follow-up (COVID-19)", ["a", "follow", "up", "covid", "19"]),
        ("es", "¿Qué síntomas tenía? ¡Niños!", ["qué", "síntomas", "tenía", "niños"]),
        ("fr", "L'hôpital d’accord", ["l'hôpital", "d'accord"]),
        ("hi", "उच्च रक्तचाप के क्या कारण हैं?", ["उच्च", "रक्तचाप", "के", "क्या", "कारण", "हैं"]),
        ("zh", "吸烟会增加患肺癌的风险。", ["吸烟", "会", "增加", "患", "肺癌", "的", "风险"]),
        ("ja", "高血圧の原因は何ですか？", ["高血圧", "の", "原因", "は", "何", "です", "か"]),
        ("th", "ควรตรวจระดับน้ำตาลในเลือด", ["ควร", "ตรวจ", "ระดับ", "น้ำตาล", "ใน", "เลือด"]),
        ("lo", "ຂ້ອຍຮັກເຈົ້າ", ["ຂ້ອຍ", "ຮັກ", "ເຈົ້າ"]),
        ("km", "ជំងឺទឹកនោមផ្អែម", ["ជំងឺ", "ទឹកនោមផ្អែម"]),
        ("ko", "저는 의사입니다.", ["저는", "의사입니다"]),
        ("ar", "ما هو العلاج؟", ["ما", "هو", "العلاج"]),
        ("zh", "每天服用 aspirin 100mg", ["每天", "服用", "aspirin", "100mg"]),
        ("en", "吸烟 is bad: ผู้ป่วย", ["吸烟", "is", "bad", "ผู้", "ป่วย"]),
    ],
)
def test_finds_the_words_of_any_script(language: str, text: str, expected: list[str]) -> None:
    """Spaces or none, punctuation of any kind, one script or several."""
    assert expected == words(text, language)


@pytest.mark.parametrize(
    "text", ["", " \n", "?!… — «»", "😀👩‍👩‍👧🇪🇸", "ℹ️ 1️⃣ ❤️", "___ ** --", "™ ©", "\0\u200d\u200f"]
)
def test_what_is_no_word(text: str) -> None:
    """Punctuation, symbols, emoji (those made of letters and digits, too) and invisible marks."""
    assert [] == words(text, "en")


@pytest.mark.parametrize(
    ("language", "first", "second"),
    [
        ("en", "DON’T", "don't"),
        ("de", "STRASSE", "Straße"),
        ("el", "ΟΔΟΣ", "οδος"),
        ("tr", "IŞIK İYİ", "ışık iyi"),
        ("ja", "ｽﾏｰﾄ Ｗｉｆｉ １２", "スマート wifi 12"),
        ("es", "servicio\u0301", "servició"),
        ("en", "_really_ **bold**", "really bold"),
        ("en", "hyphen\u00adation \u2066left\u2069", "hyphenation left"),
        ("th", "น้\u0e4d\u0e32", "น้ำ"),
    ],
)
def test_what_is_the_same_word(language: str, first: str, second: str) -> None:
    """Case, width, composition, kinds of apostrophe, emphasis and invisible marks make none new."""
    assert words(first, language) == words(second, language) != []


def test_turkish_dots_matter_in_turkish() -> None:
    """I and İ are two letters there, and one with or without a dot elsewhere."""
    assert words("ISI", "tr") == ["ısı"] != words("ISI", "en")


@pytest.mark.parametrize("word", ["क्‍या", "श्रीमान्", "पढ़ता", "می‌کنم", "நிமோனியா", "ผู้"])
def test_marks_stay_with_their_letters(word: str) -> None:
    """Virama, vowel signs, nukta, tone marks and the joiners that spelling needs are kept."""
    (found,) = words(f"({word})", "hi")
    assert unicodedata.normalize("NFC", word) == found


@settings(max_examples=100)
@given(ALPHABETIC)
def test_alphabets_are_split_by_uax_29(text: str) -> None:
    """Another implementation of the standard finds the same words."""
    assert by_regex(unicodedata.normalize("NFC", text)) == words(text, "en")


@pytest.mark.slow
@pytest.mark.parametrize(("name", "code"), [("english", "en"), ("spanish", "es"), ("wolof", "wo")])
def test_real_answers_are_split_by_uax_29(name: str, code: str) -> None:
    """So it is with answers of models."""
    path = CALMQA / f"dataset-agnostic-{name}.json"
    if not path.exists():
        pytest.skip("needs ../shared/data/calmqa")
    entries = json.loads(path.read_text(encoding="utf-8"))["entries"]
    texts = [
        translation["text"]
        for entry in entries[:8]
        for answer in entry["answers"]
        for translation in answer["translations"].values()
        if translation["text"]
    ]
    assert len(texts) > 20
    for text in texts:
        assert by_regex(unicodedata.normalize("NFC", text)) == words(text, code)


@given(ANY_TEXT, st.sampled_from(["en", "th", "zh", "tr", "bal", "", "nonsense-XX-@"]))
def test_any_text_has_clean_words(text: str, language: str) -> None:
    """Whatever the text: words have a letter or a digit, no white space, and can be encoded."""
    for word in words(text, language):
        word.encode()
        assert any(char.isalnum() for char in word)
        assert not any(char.isspace() for char in word)


@given(st.lists(st.sampled_from(["don't", "肺癌", "क्या", "3.14", "niño"]), max_size=20))
def test_words_of_words(chosen: list[str]) -> None:
    """Words put together with spaces are found again."""
    assert chosen == words(" ".join(chosen), "en")


def test_long_text_is_read_in_pieces() -> None:
    """Nothing is lost or cut in two where a piece ends after a space."""
    text = "some words " * (MAX_PIECE // 8)
    assert ["some", "words"] * (MAX_PIECE // 8) == words(text, "en")


@pytest.mark.slow
@pytest.mark.parametrize("piece", ["a", "ก", "字", "\u0301", "\u200d", "é ", "😀", "'"])
def test_hostile_text_takes_linear_time(piece: str) -> None:
    """Half a million of anything is read; a quadratic search would not end."""
    assert words(piece * 500_000, "en") is not None


def test_the_tokenizer_is_named_with_its_version() -> None:
    """So that numbers made with other dictionaries are not compared."""
    assert tokenizer().startswith(f"icu {icu4py.icu_version}")
