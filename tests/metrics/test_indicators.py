"""The textual indicators of CaLMQA's Appendix C.2: apology, names, translation, emoji, English."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_xling.metrics.indicators import (
    Apology,
    Emoji,
    EnglishAnswer,
    NamesLanguage,
    OffersTranslation,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_xling.records import Answer

IN_ENGLISH = (None, "the question is in English")


@pytest.mark.parametrize(
    ("text", "language", "value", "reason"),
    [
        ("I'm sorry for any confusion", "aa", 1.0, "says 'sorry'"),
        ("We APOLOGIZE.", "aa", 1.0, "says 'APOLOGIZE'"),
        ("Apologies! I can't read it", "ja", 1.0, "says 'Apologies'"),
        ("日本語をunderstandできません", "ja", 1.0, "says 'understand'"),
        ("the Sorrys misunderstood my sorrys", "aa", 0.0, ""),
        ("Es tut mir leid, das Lexikon", "de", 0.0, ""),
        ("I'm sorry", "en", *IN_ENGLISH),
    ],
)
def test_apology(
    make_answer: Callable[..., Answer], text: str, language: str, value: float | None, reason: str
) -> None:
    """Words of the paper's family, where no English was asked for."""
    (reading,) = Apology().score([make_answer(text, language=language)])
    assert (value, reason) == (reading.value, reading.reason)


@pytest.mark.parametrize(
    ("text", "language", "value"),
    [
        ("A question in Kirundi!", "rn", 1.0),
        ("AFAR is a Cushitic language", "aa", 1.0),
        ("これはJapaneseです", "ja", 1.0),
        ("seen from afar", "aa", 0.0),
        ("the Samoans", "sm", 0.0),
        ("I see you speak Wolof", "aa", 0.0),
        ("It is English", "en", None),
    ],
)
def test_names_language(
    make_answer: Callable[..., Answer], text: str, language: str, value: float | None
) -> None:
    """The English name of the question's own language, as a whole word with its capital."""
    (reading,) = NamesLanguage().score([make_answer(text, language=language)])
    assert value == reading.value


@pytest.mark.parametrize(
    ("text", "language", "value"),
    [
        ('Translation: "What is it?"', "rn", 1.0),
        ("it translates to", "hi", 1.0),
        ("Could you translate that?", "hi", 1.0),
        ("在英语中translate是翻译", "zh", 1.0),
        ("las transacciones translaticias", "es", 0.0),
        ("a translation", "en", None),
    ],
)
def test_offers_translation(
    make_answer: Callable[..., Answer], text: str, language: str, value: float | None
) -> None:
    """English words of translating, where no English was asked for."""
    (reading,) = OffersTranslation().score([make_answer(text, language=language)])
    assert value == reading.value


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("great 😊!", "has 😊 (U+1F60A)"),
        ("I ❤️ it", "has ❤️ (U+2764 U+FE0F)"),
        ("press 1️⃣", "has 1️⃣ (U+0031 U+FE0F U+20E3)"),
        ("flag 🇪🇸", "has 🇪🇸 (U+1F1EA U+1F1F8)"),
        ("2 * 3 = 6 #1 © ™ ® ☺ ✓ ❤ ♀ → ‼", ""),
        ("text style 😊\ufe0e", ""),
        ("ग़लत मर्\u200dद \ufe0f", ""),
        ("日本語の㊗と〽", ""),
        ("", ""),
    ],
)
def test_emoji(make_answer: Callable[..., Answer], text: str, reason: str) -> None:
    """What Unicode shows as a picture; digits, signs and text style are none."""
    (reading,) = Emoji().score([make_answer(text)])
    assert (float(bool(reason)), reason) == (reading.value, reading.reason)


@pytest.mark.parametrize(
    ("text", "language", "value", "reason"),
    [
        (
            "This is an ordinary English sentence.",
            "wo",
            1.0,
            "answered in English, expected Wolof (wo)",
        ),
        ("Das ist ein ganz gewöhnlicher Satz.", "es", 0.0, ""),
        ("This is an ordinary English sentence.", "en", *IN_ENGLISH),
        ("7", "wo", None, "the answer holds no letters"),
    ],
)
def test_english_answer(
    make_answer: Callable[..., Answer], text: str, language: str, value: float | None, reason: str
) -> None:
    """English by langid, for every language that is not English."""
    answer = make_answer(text, language=language, needs=("language_id",))
    (reading,) = EnglishAnswer().score([answer])
    assert (value, reason) == (reading.value, reading.reason)
