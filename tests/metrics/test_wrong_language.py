"""Answers in the wrong language."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_xling.metrics.wrong_language import WrongLanguage

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_xling.records import Answer

ENGLISH = "This is a perfectly ordinary English sentence about the weather."
HINDI = "यह मौसम के बारे में एक साधारण हिन्दी वाक्य है।"
NEEDS = ("language_id",)


@pytest.mark.parametrize(
    ("text", "language", "value", "reason"),
    [
        (HINDI, "hi", 0.0, ""),
        (ENGLISH, "en", 0.0, ""),
        (ENGLISH, "hi", 1.0, "detected English (en) by cld2, expected Hindi (hi)"),
        (ENGLISH, "es", 1.0, "detected English (en) by langid, expected Spanish (es)"),
        ("Hau euskarazko esaldi arrunt bat da.", "en", 1.0, "detected 'eu' by langid"),
        ("1945.", "de", None, "the answer holds no letters"),
    ],
)
def test_readings(
    make_answer: Callable[..., Answer],
    text: str,
    language: str,
    value: float | None,
    reason: str,
) -> None:
    """The value says whether, the reason says what was detected by what."""
    (reading,) = WrongLanguage().score([make_answer(text, language=language, needs=NEEDS)])
    assert value == reading.value
    assert reading.reason.startswith(reason)
    assert bool(reason) == bool(reading.reason)


@pytest.mark.parametrize(
    ("language", "name"),
    [("bal", "Balochi"), ("rn", "Kirundi"), ("pap", "Papiamento"), ("hil", "Hiligaynon")],
)
def test_languages_that_cannot_be_identified(
    make_answer: Callable[..., Answer], language: str, name: str
) -> None:
    """They are never called wrong, not even in plain English."""
    (reading,) = WrongLanguage().score([make_answer(ENGLISH, language=language, needs=NEEDS)])
    assert reading.value is None
    assert f"{name} cannot be identified reliably (CaLMQA §3.1)" == reading.reason
