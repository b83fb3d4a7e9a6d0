"""Yes or no, read from replies as models write them.

Those of ``data/yes_no-*.jsonl`` with halves are machine-written, before the words of their language
were: by one half (``dev``) the words were tried, the other is only measured. docs/guide.md has the
shares. The others were written by hand, and all are read.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_xling.text.yes_no import begins, languages, yes_or_no

DATA = Path(__file__).parent / "data"
MEASURED = ("ar", "bn", "de", "fr", "id", "ja", "ko", "pt", "ru", "sw", "tr", "vi")
BY_HAND = ("en", "es", "hi", "zh")
SAID = {"yes": True, "no": False, "neither": None}


def replies(language: str, half: str = "") -> list[dict[str, str]]:
    """Return the replies in a file, or in one of its halves."""
    lines = (DATA / f"yes_no-{language}.jsonl").read_text(encoding="utf-8").splitlines()
    return [row for line in lines if half == (row := json.loads(line)).get("half", "")]


@pytest.mark.parametrize("said", SAID)
@pytest.mark.parametrize("language", BY_HAND)
def test_messy_replies(language: str, said: str) -> None:
    """However it is put; doubt, both at once, refusals and repeated prompts are neither, and why.

    Negations and contraries are a no. Some are the embedded model's own words at temperature 1.
    """
    texts = [row["text"] for row in replies(language) if row["is"] == said]
    assert len(texts) >= (18 if said == "neither" else 25)
    read = {text: yes_or_no(text, language) for text in texts}
    assert [] == [text for text, each in read.items() if each.yes is not SAID[said]]
    assert [] == [text for text, each in read.items() if (each.yes is None) != bool(each.why)]


def share_right(language: str, half: str) -> float:
    """Return the share of a half's replies that are read as labelled."""
    rows = replies(language, half)
    assert len(rows) >= 20
    return sum(yes_or_no(row["text"], language).yes is SAID[row["is"]] for row in rows) / len(rows)


def test_languages_with_words() -> None:
    """Each has replies to measure it on."""
    assert {*BY_HAND, *MEASURED} == languages()


@pytest.mark.parametrize("language", MEASURED)
def test_labelled_replies(language: str) -> None:
    """Nearly all are read as labelled, in the half that no word was chosen by as well."""
    assert share_right(language, "dev") >= 0.95
    assert share_right(language, "held-out") >= 0.95


@pytest.mark.parametrize("language", ["en", "sw", "he", "hi"])
def test_english_is_understood_everywhere(language: str) -> None:
    """Spanish is not."""
    assert yes_or_no("Yes, the answer is correct.", language).yes is True
    assert yes_or_no("No.", language).yes is False
    assert yes_or_no("Es correcta.", language).yes is None


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("he", "כן, זה נכון."),
        ("hu", "Igen, ez helyes."),
        ("nl", "Ja, dat is correct."),
        ("pl", "No tak, to prawda."),
        ("it", "No, la risposta non è corretta secondo le linee guida."),
        ("ta", "ஆம்"),
    ],
)
def test_a_language_without_words_is_unread(language: str, text: str) -> None:
    """Whatever English word it seems to hold: what it says is not known."""
    read = yes_or_no(text, language)
    assert (None, True) == (read.yes, read.unread)
    assert "no words for yes and no" in read.why


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Yes", True),
        ("**No.**", False),
        ("👍", True),
        ("No, antibiotics do not help against viruses.", False),
        ("I cannot say whether the given answer is right.", None),
        ("", None),
    ],
)
def test_english_in_a_language_without_words(text: str, said: bool | None) -> None:  # noqa: FBT001
    """Is read, and so are signs; what says neither then says neither."""
    read = yes_or_no(text, "nl")
    assert (said, False) == (read.yes, read.unread)


def test_the_other_languages_words_are_no_words() -> None:
    """Spanish "si" is "if" and "sí" nothing in English; Hindi "na" is none in Spanish."""
    assert yes_or_no("Si.", "en").yes is None
    assert yes_or_no("是的", "es").yes is None


def test_a_repeated_prompt_says_nothing() -> None:
    """What was asked is set aside; what follows it counts."""
    answer = "No, antibiotics are wrong here. It is not right to take them."
    question = "Is it right to take antibiotics for a cold?"
    reply = f"Question: {question}\nGiven answer: {answer}\n\nIs the given answer right? Yes"
    assert yes_or_no(reply, "en", echo=(question, answer)).yes is True
    assert yes_or_no(answer, "en", echo=(question, answer)).yes is None
    assert yes_or_no("No", "en", echo=("No",)).yes is False


def test_the_reasons_tell_cases_apart() -> None:
    """Nothing said, both said, and one taken back."""
    assert "says neither yes nor no" == yes_or_no("Hello.", "en").why
    assert "says yes and no at once" == yes_or_no("Yes and no.", "en").why
    assert "contradicts itself" == yes_or_no("Yes, it is wrong.", "en").why
    both = "The dose they name is right. The duration they name is wrong."
    assert "says both yes and no" == yes_or_no(both, "en").why


_WORD = {"en": "Yes", "es": "sí", "hi": "हाँ", "zh": "是的"}


_HOSTILE = {
    "surrogates": ("\ud800", "\udfff"),
    "nul": ("\x00", "\x00"),
    "invisible": ("\ufeff\u200b", "\u2060"),
    "colours": ("\x1b[1;31m", "\x1b[0m"),
    "spaces": (" " * 5_000_000, " " * 5_000_000),
    "lines": ("\n" * 5_000_000, "\n" * 5_000_000),
    "one word": ("", ". " + "a" * 10_000_000),
    "words": ("", ". " + "drink water " * 1_000_000),
    "quotes": ("", ". " + '"' * 1_000_000),
    "keys": ("", ". " + '"a" ' * 1_000_000),
    "tags": ("", ". " + "<a" * 1_000_000),
    "ligatures": ("", ". " + "\ufdfa" * 1_000_000),
    "accents": ("e" + "\u0301" * 1_000_000 + "\n", ""),
    "thoughts": ("<think></think>" * 500_000, ""),
}


@pytest.mark.parametrize("name", _HOSTILE)
@pytest.mark.parametrize(
    "language", ["en", "zh", *(pytest.param(code, marks=pytest.mark.slow) for code in ("es", "hi"))]
)
def test_hostile_text(language: str, name: str) -> None:
    """Surrogates and control characters hide no verdict, nor do ten megabytes, read but once."""
    reply = _WORD[language].join(_HOSTILE[name])
    assert yes_or_no(reply, language, echo=("x" * 30,)).yes is True


def test_the_middle_of_a_very_long_reply_is_not_read() -> None:
    """A verdict is at the beginning or at the end."""
    filler = "Ibuprofen lowers fever. " * 1_000
    assert yes_or_no(f"{filler}The answer is wrong.{filler}", "en").yes is None
    assert yes_or_no(f"{filler}Therefore, the answer is wrong.", "en").yes is False


@settings(max_examples=100, deadline=None)
@given(
    text=st.text(st.characters(exclude_categories=())),
    language=st.sampled_from(["en", "es", "hi", "zh", "fr"]),
)
def test_any_text_is_read(text: str, language: str) -> None:
    """There is a verdict or a reason, and begins() takes any token."""
    read = yes_or_no(text, language)
    assert (read.yes is None) == bool(read.why)
    assert begins(text, language) in {True, False, None}


@settings(max_examples=60, deadline=None)
@given(
    reply=st.sampled_from(
        [(c, r["text"]) for c in BY_HAND for r in replies(c) if r["is"] != "neither"]
    ),
    around=st.sampled_from(["**{}**", "\n\n{}\n", "# {}", "“{}”", "「{}」", "Answer: {}", "- {}"]),
)
def test_what_is_around_a_reply_changes_nothing(reply: tuple[str, str], around: str) -> None:
    """Mark-up, quotes, a label, line ends."""
    language, text = reply
    assert yes_or_no(text, language) == yes_or_no(around.replace("{}", text), language)


@pytest.mark.parametrize(
    ("language", "token", "side"),
    [
        ("en", " Yes", True),
        ("en", "▁yes", True),
        ("en", "ĠNo", False),
        ("en", "YES", True),
        ("en", "Y", True),
        ("en", " n", False),
        ("en", "**No", False),
        ("en", " no.", False),
        ("en", "Correct", True),
        ("en", "Inc", False),
        ("en", " Not", False),
        ("en", "In", None),
        ("en", "The", None),
        ("en", "None", None),
        ("en", "Nothing", None),
        ("en", "", None),
        ("en", "\n\n", None),
        ("en", "\ufffd", None),
        ("en", "sí", None),
        ("es", " Sí", True),
        ("es", "S", True),
        ("es", " si", True),
        ("es", "No", False),
        ("es", "Incor", False),
        ("es", "Yes", True),
        ("es", "El", None),
        ("hi", " हाँ", True),
        ("hi", "ह", True),
        ("hi", " नहीं", False),
        ("hi", "नह", False),
        ("hi", "सही", True),
        ("hi", "ग", None),
        ("hi", "गल", False),
        ("hi", "यह", None),
        ("hi", " No", False),
        ("zh", "是", True),
        ("zh", "是的", True),
        ("zh", "正确", True),
        ("zh", "对", True),
        ("zh", "不", False),
        ("zh", "不是", False),
        ("zh", "否", False),
        ("zh", "错误", False),
        ("zh", "没", None),
        ("zh", "这个", None),
        ("zh", "对于", None),
        ("zh", "Yes", True),
    ],
)
def test_the_first_token(language: str, token: str, side: bool | None) -> None:  # noqa: FBT001
    """As tokenizers cut words; a token that may begin either says nothing."""
    assert begins(token, language) is side
