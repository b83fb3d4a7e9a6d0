"""Cues of stance: which are found, which compete, and where they count."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_xling.languages import find
from pytest_xling.text.stance_cues import CUES, FILE, count_cues, languages


def found(text: str, *codes: str, known: str = "") -> dict[str, int]:
    """Return the cues in *text* that are there at all."""
    return {cue: n for cue, n in count_cues(text, codes, known=known).items() if n}


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("en", "It is a myth.", {"refutes": 1}),
        ("en", "Studies show it.", {"supports": 1}),
        ("en", "The evidence is mixed.", {"hedges": 1}),
        ("es", "Es un mito.", {"refutes": 1}),
        ("es", "Está comprobado.", {"supports": 1}),
        ("es", "Quizás.", {"hedges": 1}),
        ("hi", "यह एक मिथक है।", {"refutes": 1}),
        ("hi", "यह प्रमाणित है।", {"supports": 1}),
        ("hi", "यह विवादित है।", {"hedges": 1}),
        ("zh", "这只是谣言。", {"refutes": 1, "contrasts": 1}),
        ("zh", "研究表明", {"supports": 1}),
        ("zh", "也许吧", {"hedges": 1}),
    ],
)
def test_each_language_has_words_of_each_stance(
    language: str, text: str, expected: dict[str, int]
) -> None:
    """A short text with one cue; how it opens is another matter."""
    counts = found(text, language)
    assert expected == {cue: n for cue, n in counts.items() if not cue.startswith("opens")}


@pytest.mark.parametrize(
    ("language", "text", "cue", "other"),
    [
        ("en", "there is no doubt", "supports", "refutes"),
        ("en", "this is not true", "refutes", "supports"),
        ("en", "there is not enough evidence", "hedges", "refutes"),
        ("es", "no es un mito", "supports", "refutes"),
        ("es", "no hay pruebas concluyentes", "hedges", "refutes"),
        ("hi", "यह झूठ नहीं", "supports", "refutes"),
        ("hi", "यह सच नहीं", "refutes", "supports"),
        ("zh", "没有足够的证据", "hedges", "refutes"),
        ("zh", "不正确", "refutes", "supports"),
    ],
)
def test_the_longest_of_competing_words_counts(
    language: str, text: str, cue: str, other: str
) -> None:
    """A negated word means the opposite of the word."""
    counts = found(text, language)
    assert (True, False) == (cue in counts, other in counts)


@pytest.mark.parametrize("text", ["I know the north", "nowhere and notable", "mythology"])
def test_words_are_not_found_inside_others(text: str) -> None:
    """No negator stands in "know" itself."""
    assert {} == found(text, "en")


def test_width_case_and_invisible_characters_do_not_matter() -> None:
    """As models and web pages write."""
    assert found("a myth", "en") == found("A ＭＹ\u200bＴＨ", "en")


def test_words_of_the_claim_do_not_count() -> None:
    """A response that repeats "may help" of the claim has not hedged; negators always count."""
    claim = "garlic may help, but not honey"
    assert {"negates": 1} == found(claim, "en", known=claim)
    assert {"hedges": 1, "negates": 1} == found(f"Perhaps {claim}", "en", known=claim)


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("en", "**No.** It does not.", "opens_no"),
        ("en", "“Yes”, it does", "opens_yes"),
        ("es", "¡Sí! Claro.", "opens_yes"),
        ("hi", "नहीं, ऐसा नहीं है", "opens_no"),
        ("zh", "是的，没错", "opens_yes"),
    ],
)
def test_an_opening_is_found_behind_marks(language: str, text: str, expected: str) -> None:
    """Markdown, quotation marks and inverted marks stand before words."""
    counts = found(text, language)
    assert [expected] == [cue for cue in counts if cue.startswith("opens")]


def test_an_opening_counts_at_the_start_only() -> None:
    """Later a "no" only negates."""
    assert {"negates": 1} == found("There are no lemons", "en")


def test_a_language_without_a_lexicon_has_no_cues() -> None:
    """Nothing is counted, whatever the words look like in other languages."""
    assert {} == found("no es un mito, it is a myth", "sw")
    assert {"en", "es", "hi", "zh"} == languages()


def test_words_of_two_languages_are_sought_together() -> None:
    """An answer to a Hindi question may be in English."""
    assert {"refutes": 2} == found("मिथक, a myth", "hi", "en")


def test_each_row_is_of_a_known_language_and_cue_and_says_nothing_twice() -> None:
    """What a word means there is decided once."""
    rows = [json.loads(line) for line in FILE.read_text("utf-8").splitlines()]
    assert set(CUES) == {row["kind"] for row in rows}
    assert [row["language"] for row in rows] == [find(row["language"]).code for row in rows]
    places = Counter((row["language"], row["kind"]) for row in rows)
    assert {1} == set(places.values())
    for row in rows:
        assert len(row["words"]) == len(set(row["words"]))


@settings(max_examples=60, deadline=None)
@given(st.text(st.characters(codec=None)), st.sampled_from(["en", "es", "hi", "zh", "xx"]))
def test_any_text_has_counts(text: str, language: str) -> None:
    """Lone surrogates and NUL included; openings are 0 or 1."""
    counts = count_cues(text, [language])
    assert set(CUES) == set(counts)
    assert all(number >= 0 for number in counts.values())
    assert {counts["opens_yes"], counts["opens_no"]} <= {0, 1}


@settings(max_examples=30, deadline=None)
@given(st.lists(st.sampled_from(["myth", "true", "maybe", "lemon"])))
def test_counts_add_up(words: list[str]) -> None:
    """Of words that do not touch."""
    counts = count_cues(" ; ".join(["lemon", *words]), ["en"])
    expected = (words.count("myth"), words.count("true"), words.count("maybe"))
    assert expected == (counts["refutes"], counts["supports"], counts["hedges"])
