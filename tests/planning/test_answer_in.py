"""Questions asked in one language, to be answered in another."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_xling.errors import ConfigError, DataError
from pytest_xling.languages import codes, find
from pytest_xling.planning.expand import answered_in
from pytest_xling.planning.plan import groups_of, plan
from pytest_xling.records import Sample
from pytest_xling.text.stance import LEVELS
from tests.planning.bread import CHAT, Bread

NAMED = 'chat: "{question} Respond in {answer_language}."\n'
LETTER = Sample(
    id="letter-01",
    benchmark="b",
    language="en",
    prompt={"question": "Write {it} in {answer_language}."},
    metadata={"source": "letter"},
)


@given(st.sampled_from(codes()))
def test_a_sample_is_answered_in_any_language(language: str) -> None:
    """Named in English, with what it was asked in; a sample of its own."""
    made = answered_in(LETTER, language)
    name = find(language).english_name
    assert ("en", language, "en") == (LETTER.asked_in, made.language, made.asked_in)
    assert ("letter-01-en", "letter-01") == (made.id, made.parallel_id)
    assert f"Write {{it}} in {name}." == made.prompt["question"] == made.prompt["question_english"]
    assert name == made.prompt["answer_language"]
    assert {"source": "letter", "asked_in": "en"} == made.metadata


def test_the_answers_languages_are_the_benchmarks(bread: Bread) -> None:
    """``--langs`` names them, the case ids have them, and all of a question are one group."""
    prompts = NAMED + "answer_in:\n  en: [tr, Hindi, ja]\n"
    benchmark = bread.write({"en": ["q1", "q2"], "de": ["q1"]}, prompts)
    assert ("hi", "ja", "tr") == benchmark.languages()
    cases = plan(benchmark, bread.settings(langs="tr,hi"))
    assert ["q1-en-hi", "q1-en-tr", "q2-en-hi", "q2-en-tr"] == [case.id for case in cases]
    assert [2, 2] == [len(group) for group in groups_of(cases, size=1)]
    (message,) = benchmark.prompts.messages(cases[1].sample, "chat")
    assert "Why q1? Respond in Turkish." == message.content
    assert 6 == len(plan(benchmark, bread.settings(langs="all")))


def test_a_language_may_be_answered_in_from_several(bread: Bread) -> None:
    """And one may be asked in and answered in; the pivot is among the answers' languages."""
    prompts = NAMED + "pivot: en\nanswer_in:\n  en: [en, tr]\n  de: [tr]\n"
    cases = bread.plan({"en": ["q1"], "de": ["q1"]}, prompts, langs="tr")
    assert ["q1-en-en", "q1-en-tr", "q1-de-tr"] == [case.id for case in cases]
    assert {"q1"} == {case.question for case in cases}


def test_completions_go_by_the_language_of_the_answer(bread: Bread) -> None:
    """Their shots show answers in it."""
    prompts = (
        NAMED + "answer_in: {en: [tr, de]}\ncompletion:\n"
        "  tr: {question: 'Q:', answer: 'A:', shots: [['Why? In Turkish.', 'Bilmem.']]}\n"
    )
    benchmark = bread.write({"en": ["q1"]}, prompts)
    (case,) = plan(benchmark, bread.settings(langs="tr"))
    (message,) = benchmark.prompts.messages(case.sample, "completion")
    expected = "Q: Why? In Turkish.\nA: Bilmem.\n\nQ: Why q1? Respond in Turkish.\nA:"
    assert expected == message.content


OWN_NAME = 'chat: {default: "{question}", tr: "{question} Türkçe yanıt ver."}\n'
TEMPLATE = "completion: {default: {question: 'Q:', answer: 'A:', template: '{question}'}}\n"


def test_the_languages_own_name_is_a_name(bread: Bread) -> None:
    """A model knows then what to answer in."""
    assert bread.plan({"en": ["q1"]}, f"{OWN_NAME}answer_in: {{en: [tr, hi]}}\n", langs="tr")


@pytest.mark.parametrize(
    ("prompts", "langs", "message"),
    [
        (
            f"{OWN_NAME}answer_in: {{en: [tr, hi]}}\n",
            "hi",
            r"nothing tells a model .* in Hindi; name \{answer_lang",
        ),
        (
            f"{NAMED}answer_in: {{en: [tr]}}\n{TEMPLATE}",
            "tr",
            r"or in chat: and, where there is one, in completion's",
        ),
        (NAMED, "en", r"'answer_language'.* lacks; answer_in: says "),
    ],
)
def test_what_never_names_the_language_is_refused(
    bread: Bread, prompts: str, langs: str, message: str
) -> None:
    """A model cannot know then; without ``answer_in:`` the field is one the data lacks."""
    with pytest.raises(DataError, match=message):
        bread.plan({"en": ["q1"]}, prompts, langs=langs)


def test_the_field_in_a_question_without_answer_in(bread: Bread) -> None:
    """It would be sent as it stands; braces that chat: asks for, and what is not sent, may stay."""
    benchmark = bread.write({"en": ["q1", "q2"]}, 'chat: "{{answer_language}} {question}"\n')
    assert 2 == len(plan(benchmark, bread.settings(langs="en")))
    (data,) = bread.root.rglob("en.jsonl")
    data.write_text(data.read_text().replace("Why q2?", "Why q2? Respond in {answer_language}."))
    said = (
        r"prompts\.yaml: nothing says which language to name where sample 'q2' \(en\) of .* has "
        r"\{answer_language\} in its question; add such as `answer_in: \{en: \[hi, tr\]\}`"
    )
    with pytest.raises(DataError, match=said):
        plan(benchmark, bread.settings(langs="en"))


@pytest.mark.parametrize(
    ("langs", "message"),
    [
        (
            "hi",
            r"'bread' has no answers in language 'hi' \(.*prompts\.yaml: answer_in\)\..* ja, tr",
        ),
        ("tr", r"answer_in: asks in 'de', and .* it has: en"),
    ],
)
def test_languages_without_questions_or_answers_are_named(
    bread: Bread, langs: str, message: str
) -> None:
    """What is answered in, and what is asked in."""
    with pytest.raises(ConfigError, match=message):
        bread.plan({"en": ["q1"]}, NAMED + "answer_in: {en: [tr], de: [ja]}\n", langs=langs)


def test_claims_are_asked_about_in_their_own_language(bread: Bread) -> None:
    """At every level, and every query names the language of the answer."""
    levels = "".join(
        f"    {level}: ['{{question}} Is it so? In {{answer_language}}.']\n" for level in LEVELS
    )
    prompts = f"{CHAT}expand: levels\nlevels:\n  en:\n{levels}answer_in: {{en: [tr]}}\n"
    cases = bread.plan({"en": ["q1"]}, prompts, langs="tr")
    assert [f"q1-en-l{n}-tr" for n in range(5)] == [case.id for case in cases]
    assert "Why q1? Is it so? In Turkish." == cases[0].sample.prompt["question"]
