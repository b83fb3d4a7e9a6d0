"""Secrets are found in whatever form a server repeats them, and other text stays as it is."""

from __future__ import annotations

import itertools
import json

import pytest

from pytest_xling.text.secrets import Secrets, hide_keys

KEY = "Tn0tARealKey-0123456789"
WORDY = "local-model-2024"
"""A key that begins with a word and ends in a year, as those of servers at home do."""


def redact(text: str, *, secret: str = KEY, answer: bool = False) -> str:
    """Return *text* without a secret."""
    return Secrets([secret]).redact_bytes(text.encode(), answer=answer).decode()


@pytest.mark.parametrize("gap", ["…", "...", "..", "*", "*****", " … ", "[...]", "••••", "\\u2026"])
@pytest.mark.parametrize(("first", "last"), [(8, 8), (4, 4), (12, 4), (4, 11)])
def test_what_is_shown_of_a_secret_around_a_gap_is_hidden(first: int, last: int, gap: str) -> None:
    """First and last characters, at least four of each, with dots or stars between."""
    for secret, answer in itertools.product((KEY, WORDY, "openthesesame"), (False, True)):
        shown = f"{secret[:first]}{gap}{secret[-last:]}"
        text = redact(f'Your key "{shown}" is wrong.', secret=secret, answer=answer)
        assert secret[:4] not in text
        assert secret[-4:] not in text
        assert "Your key" in text
        assert text.endswith("is wrong.")


@pytest.mark.parametrize("shown", [4, 6, 20])
def test_one_end_of_a_secret_is_hidden_in_an_error(shown: int) -> None:
    """Before a gap or after one."""
    for secret in (KEY, WORDY, "deadbeef" * 4):
        assert "key ***… no" == redact(f"key {secret[:shown]}… no", secret=secret)
        assert "key …*** no" == redact(f"key …{secret[-shown:]} no", secret=secret)


@pytest.mark.parametrize(
    "text",
    [
        "The local... baker",
        "**local** bread",
        "in the year **2024**",
        "since ...2024",
        "loca… Tn0 … 789",
        "Tn0tARealKe is no end… of it, nor -0123456789",
        "Tn0tA is nothing without a gap, nor is 56789",
    ],
)
def test_an_answer_keeps_its_words_and_numbers(text: str) -> None:
    """One end of a secret that may be a word or a number is hidden only beside the other end."""
    assert text == Secrets([KEY, WORDY]).redact_bytes(text.encode(), answer=True).decode()


def test_one_end_of_a_secret_that_is_no_word_is_hidden_in_an_answer() -> None:
    """Nobody writes it by chance."""
    assert "***…" == redact("Tn0tA…", answer=True)
    assert "…***" == redact("…Key-0123456789", answer=True)
    assert "***… or" == redact("local-… or", secret=WORDY, answer=True)


def test_a_whole_secret_is_hidden_as_it_was() -> None:
    """Also as JSON, in a URL and in HTML."""
    for form in (KEY, json.dumps(KEY), KEY.replace("-", "%2D"), KEY.replace("-", "&#45;")):
        assert "***" == redact(form, answer=True).strip('"')


def test_a_secret_of_five_characters_is_none() -> None:
    """It stands in texts that know nothing of it."""
    assert "adm… admin" == redact("adm… admin", secret="admin")  # noqa: S106  no password


@pytest.mark.slow
@pytest.mark.parametrize("unit", ["\\", "*", ".", "Tn0t*", "…", "&#", "Tn0tA"])
def test_a_long_text_is_read_once(unit: str) -> None:
    """If work grew with the square of the length, as it did for backslashes, this would not end."""
    text = unit * ((1 << 18) // len(unit))
    for answer in (False, True):
        read = redact(f"{text} {KEY[:8]}…{KEY[-8:]}", answer=answer)
        assert read.endswith(" ***")
        assert KEY[:4] not in read.removeprefix(text)


def test_keys_of_others_are_hidden_as_far_as_they_are_shown() -> None:
    """By their look: a gateway repeats its own key."""
    for shown in ("sk-abcdefghij", "sk-ab…6789", "sk-proj-****6789", "sk-abc...6789"):
        assert "key ***, no" == hide_keys(f"key {shown}, no")
    assert "sk-… and sk-learn" == hide_keys("sk-… and sk-learn")
