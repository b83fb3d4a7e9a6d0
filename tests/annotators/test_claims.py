"""The claims of an answer: what a judge is asked, and which replies list claims."""

from __future__ import annotations

import asyncio
import json
import re
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_xling.annotators.claims import Claims
from pytest_xling.annotators.claims.windows import native_sentence, windows
from pytest_xling.engine.steps import StepFactory
from pytest_xling.errors import ConfigError
from pytest_xling.keys import canonical_json
from tests.annotators.judges import Judge
from tests.answers import annotated_answer, translation

if TYPE_CHECKING:
    from pytest_xling.keys import JsonValue
    from pytest_xling.records import Answer

TEXT = "Copper is a metal. It conducts heat well. It was known before iron."
CLAIMS = ["Copper is a metal.", "Copper conducts heat well.", "Copper was known before iron."]
KEY = re.compile(r"claims_[0-9a-f]{16}")


def answer(text: str, language: str = "en", *, translated: str | None = None) -> Answer:
    """Return an answer with the annotations it is read with."""
    said: dict[str, JsonValue] = {
        "language_id": {"language": language, "langid": language},
        "translate": translation(translated, "too odd"),
    }
    return annotated_answer(text, language, said)


def listing(*claims: object, form: str = "{}") -> str:
    """Return a reply that lists claims, numbered as their sentences are."""
    entries = [
        {"sentence": number, "claim": claim} if isinstance(claim, str) else claim
        for number, claim in enumerate(claims, start=1)
    ]
    return form.format(json.dumps({"KEY": entries}, ensure_ascii=False))


def lister(*replies: str) -> Judge:
    """Return a judge that gives these replies, the last again and again, under the right key."""

    def reply(prompt: str, number: int) -> str:
        said = replies[min(number, len(replies)) - 1]
        return said.replace("KEY", KEY.findall(prompt)[-1])

    return Judge(reply)


def annotated(reply: str | list[str], text: str = TEXT, **fields: int) -> tuple[Any, Judge]:
    """Return what the annotator makes of *text*, and the judge it asked."""
    judge = lister(*([reply] if isinstance(reply, str) else reply))
    return asyncio.run(Claims(**fields).annotate(answer(text), judge)), judge  # type: ignore[arg-type]  # all but text_in are numbers


def texts(value: dict[str, Any]) -> list[str]:
    """Return the claims alone."""
    return [claim["text"] for claim in value["claims"]]


@pytest.mark.parametrize(
    "form", ["{}", "```json\n{}\n```", "<think>Copper…</think>\n{}", "Here it is:\n{}\nDone."]
)
def test_claims_are_listed_in_order_with_their_sentences(form: str) -> None:
    """Whatever stands around the list."""
    value, judge = annotated(listing(*CLAIMS, form=form))
    assert CLAIMS == texts(value)
    assert "It conducts heat well." == value["claims"][1]["sentence"]
    assert 1 == len(judge.prompts)
    assert "2. It conducts heat well." in judge.prompts[0]


def test_what_differs_in_case_spacing_or_punctuation_is_listed_once() -> None:
    """The first wording counts; what has no letter is no claim."""
    value, _ = annotated(listing("Copper is a metal.", "copper is  a METAL", "…", "Copper is red."))
    assert ["Copper is a metal.", "Copper is red."] == texts(value)


def test_marks_that_tell_words_apart_tell_claims_apart() -> None:
    """Vowel signs of Hindi are no punctuation."""
    hindi = "दिन छोटा है। दान छोटा है।"
    judge = lister(listing("दिन छोटा है।", "दान छोटा है।"))
    value: Any = asyncio.run(Claims().annotate(answer(hindi, "hi"), judge))
    assert 2 == len(value["claims"])


@pytest.mark.parametrize(
    "reply",
    ["- Copper is a metal.\n- Copper conducts heat well.", "1. Copper is a metal.\n2) It is red."],
)
def test_a_list_of_lines_is_read_too(reply: str) -> None:
    """Each claim is then of the sentence it shares most words with."""
    value, _ = annotated(reply)
    assert 2 == len(value["claims"])
    assert "Copper is a metal." == value["claims"][0]["sentence"]


@pytest.mark.parametrize("reply", [listing(), "None", "No claims."])
def test_an_answer_that_claims_nothing_has_an_empty_list(reply: str) -> None:
    """That is not the same as no list."""
    value, judge = annotated(reply, "Hello! How may I help?")
    assert {"claims": [], "reason": ""} == value
    assert 1 == len(judge.prompts)


@pytest.mark.parametrize(
    ("reply", "wrong"),
    [
        ("Copper is a metal that conducts heat.", "no list under the key"),
        ('{"claims": [{"sentence": 1, "claim": "Copper is red."}]}', "no list under the key"),
        ('{"KEY": [{"sentence": 1, "claim": "Copp', "no JSON"),
        ('{"KEY": [1, 2]}', "something else than claims"),
        (listing("ताँबा एक धातु है।"), "another language"),
        (listing("a" * 2000), "a claim of 2000 characters"),
        ("", "no list under the key"),
    ],
)
def test_a_reply_that_cannot_be_read_is_asked_for_once_more(reply: str, wrong: str) -> None:
    """Then there is no list, and the reason quotes the reply; a good second one counts."""
    value, judge = annotated(reply)
    assert value["claims"] is None
    assert wrong in value["reason"]
    assert 2 == len(judge.prompts)
    assert wrong in judge.prompts[1]
    value, _ = annotated([reply, listing(*CLAIMS)])
    assert CLAIMS == texts(value)


def test_too_many_claims_are_no_list() -> None:
    """Nobody would check them all; as many as are allowed are."""
    many = [f"Copper has {number} uses." for number in range(500)]
    value, _ = annotated(listing(*many))
    assert (None, "no claims: 500 of them, more than 400") == (value["claims"], value["reason"])
    value, _ = annotated(listing(*many), max_claims=500)
    assert many == texts(value)


def test_long_answers_are_read_in_windows_with_context() -> None:
    """Each sentence is numbered in one window, and shown as context beside it."""
    sentences = [f"Copper mine {number} is deep." for number in range(10)]
    value, judge = annotated("None", " ".join(sentences), window=4, before=2, after=1)
    assert [] == value["claims"]
    assert 3 == len(judge.prompts)
    second = judge.prompts[1]
    context, numbered = second.split("<<<BEGIN SENTENCES")
    assert "1. Copper mine 4 is deep." in numbered
    assert "Copper mine 3 is deep." in context
    assert "Copper mine 1 is deep." not in context
    assert "Copper mine 8 is deep." in context
    assert "Copper mine 9 is deep." not in second


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no answer: empty"),
        ("word " * 20_000, "characters, more than 50000"),
        ("As an AI language model I cannot give medical advice.", "declines to answer"),
    ],
)
def test_what_cannot_have_claims_is_not_asked_about(text: str, reason: str) -> None:
    """No answer, one of 20,000 words, and one that declines, in whichever language."""
    value, judge = annotated("None", text)
    assert value["claims"] is None
    assert reason in value["reason"]
    assert [] == judge.prompts


def test_an_answer_of_one_word_may_have_a_claim() -> None:
    """It is asked about like any other."""
    value, _ = annotated(listing("The answer is copper."), "Copper")
    assert ["The answer is copper."] == texts(value)


def test_claims_of_a_translation_name_the_native_sentence() -> None:
    """Lines stay where they are; within a line sentences correspond by their place."""
    hindi = "ताँबा एक धातु है। यह गर्मी का संचालन करता है।\n\nयह लोहे से पहले जाना गया।"
    english = "Copper is a metal. It conducts heat.\n\nIt was known before iron."
    judge = lister(listing(*CLAIMS))
    value: Any = asyncio.run(
        Claims(text_in="english").annotate(answer(hindi, "hi", translated=english), judge)
    )
    natives = [claim["native"] for claim in value["claims"]]
    assert ["ताँबा एक धातु है।", "यह गर्मी का संचालन करता है।", "यह लोहे से पहले जाना गया।"] == natives
    value = asyncio.run(Claims(text_in="english").annotate(answer(hindi, "hi"), judge))
    assert (None, "no answer: too odd") == (value["claims"], value["reason"])


@given(st.lists(st.text(st.characters(exclude_categories=())), max_size=4), st.integers(1, 3))
def test_any_text_has_windows(lines: list[str], size: int) -> None:
    """Every sentence is in one window, and has a native sentence or none."""
    text = "\n".join(lines)
    parts = windows(text, "en", size=size, before=1, after=1)
    every = [sentence for part in parts for sentence in part.sentences]
    assert len(every) == len(set(every))
    for sentence in every:
        assert native_sentence(sentence, text, "en") == sentence.text
        native_sentence(sentence, "x", "hi")
    canonical_json([sentence.text for sentence in every])


@pytest.mark.parametrize("field", ["window", "max_claims", "before", "after"])
def test_fields_have_limits(field: str) -> None:
    """The error names the field."""
    with pytest.raises(ConfigError, match=field):
        StepFactory(own={f"claims.{field}": -1}).make("annotator", "claims")
