"""Questions asked in one language, to be answered in another."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_xling.errors import ConfigError, DataError
from pytest_xling.languages import codes, find
from pytest_xling.planning.expand import answered_in
from pytest_xling.planning.plan import groups_of, plan
from pytest_xling.records import Sample
from pytest_xling.text.stance import LEVELS

if TYPE_CHECKING:
    from pathlib import Path

    from tests.planning.conftest import MakeBenchmark, MakeSettings

CHAT = 'chat: "{question} Respond in {answer_language}."\n'
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
    assert (language, "en") == (made.language, made.asked_in)
    assert ("letter-01-en", "letter-01") == (made.id, made.parallel_id)
    assert f"Write {{it}} in {name}." == made.prompt["question"] == made.prompt["question_english"]
    assert name == made.prompt["answer_language"]
    assert {"source": "letter", "asked_in": "en"} == made.metadata


def test_a_question_without_answer_in_is_asked_in_its_own_language() -> None:
    """As nearly all are."""
    assert "en" == LETTER.asked_in


def test_the_answers_languages_are_the_benchmarks(
    benchmark_of: MakeBenchmark, settings_of: MakeSettings
) -> None:
    """``--langs`` names them, the case ids have them, and all of a question are one group."""
    prompts = CHAT + "answer_in:\n  en: [tr, Hindi, ja]\n"
    bread = benchmark_of({"en": ["q1", "q2"], "de": ["q1"]}, prompts=prompts)
    assert ("hi", "ja", "tr") == bread.languages()
    cases = plan(bread, settings_of(langs="tr,hi"))
    assert ["q1-en-hi", "q1-en-tr", "q2-en-hi", "q2-en-tr"] == [case.id for case in cases]
    assert [2, 2] == [len(group) for group in groups_of(cases, size=1)]
    (message,) = bread.prompts.messages(cases[1].sample, "chat")
    assert "Why q1? Respond in Turkish." == message.content
    assert 6 == len(plan(bread, settings_of(langs="all")))


def test_a_language_may_be_answered_in_from_several(
    benchmark_of: MakeBenchmark, settings_of: MakeSettings
) -> None:
    """And one may be asked in and answered in; the pivot is among the answers' languages."""
    prompts = CHAT + "pivot: en\nanswer_in:\n  en: [en, tr]\n  de: [tr]\n"
    bread = benchmark_of({"en": ["q1"], "de": ["q1"]}, prompts=prompts)
    cases = plan(bread, settings_of(langs="tr"))
    assert ["q1-en-en", "q1-en-tr", "q1-de-tr"] == [case.id for case in cases]
    assert {"q1"} == {case.question for case in cases}


def test_completions_go_by_the_language_of_the_answer(
    benchmark_of: MakeBenchmark, settings_of: MakeSettings
) -> None:
    """Their shots show answers in it."""
    prompts = (
        CHAT + "answer_in: {en: [tr, de]}\ncompletion:\n"
        "  tr: {question: 'Q:', answer: 'A:', shots: [['Why? In Turkish.', 'Bilmem.']]}\n"
    )
    bread = benchmark_of({"en": ["q1"]}, prompts=prompts)
    (case,) = plan(bread, settings_of(langs="tr"))
    (message,) = bread.prompts.messages(case.sample, "completion")
    expected = "Q: Why? In Turkish.\nA: Bilmem.\n\nQ: Why q1? Respond in Turkish.\nA:"
    assert expected == message.content


def test_what_never_names_the_language_is_refused(
    benchmark_of: MakeBenchmark, settings_of: MakeSettings
) -> None:
    """A model cannot know then; the language's own name does, too."""
    head = 'chat: {default: "{question}", tr: "{question} Türkçe yanıt ver."}\n'
    bread = benchmark_of({"en": ["q1"]}, prompts=head + "answer_in: {en: [tr, hi]}\n")
    assert 1 == len(plan(bread, settings_of(langs="tr")))
    with pytest.raises(DataError, match=r"nothing tells a model .* in Hindi; name \{answer_lang"):
        plan(bread, settings_of(langs="hi"))
    template = "completion: {default: {question: 'Q:', answer: 'A:', template: '{question}'}}\n"
    bread = benchmark_of({"en": ["q1"]}, prompts=f"{CHAT}answer_in: {{en: [tr]}}\n{template}")
    with pytest.raises(DataError, match=r"or in chat: and, where there is one, in completion's"):
        plan(bread, settings_of(langs="tr"))


def test_the_field_without_answer_in_is_one_the_data_lacks(
    benchmark_of: MakeBenchmark, settings_of: MakeSettings
) -> None:
    """As any other that no sample has, with what would put it there."""
    bread = benchmark_of({"en": ["q1"]}, prompts=CHAT)
    with pytest.raises(DataError, match=r"'answer_language'.* lacks; answer_in: says "):
        plan(bread, settings_of(langs="en"))


def test_the_field_in_a_question_without_answer_in(
    benchmark_of: MakeBenchmark, settings_of: MakeSettings, tmp_path: Path
) -> None:
    """It would be sent as it stands; braces that chat: asks for, and what is not sent, may stay."""
    bread = benchmark_of({"en": ["q1", "q2"]}, prompts='chat: "{{answer_language}} {question}"\n')
    assert 2 == len(plan(bread, settings_of(langs="en")))
    (data,) = tmp_path.rglob("en.jsonl")
    rows = data.read_text()
    data.write_text(rows.replace("Why q2?", "Why q2? Respond in {answer_language}."))
    said = (
        r"prompts\.yaml: nothing says which language to name where sample 'q2' \(en\) of .* has "
        r"\{answer_language\} in its question; add such as `answer_in: \{en: \[hi, tr\]\}`"
    )
    with pytest.raises(DataError, match=said):
        plan(bread, settings_of(langs="en"))


def test_languages_without_questions_or_answers_are_named(
    benchmark_of: MakeBenchmark, settings_of: MakeSettings
) -> None:
    """What is answered in, and what is asked in."""
    bread = benchmark_of({"en": ["q1"]}, prompts=CHAT + "answer_in: {en: [tr], de: [ja]}\n")
    said = r"'bread' has no answers in language 'hi' \(.*prompts\.yaml: answer_in\)\..* ja, tr"
    with pytest.raises(ConfigError, match=said):
        plan(bread, settings_of(langs="hi"))
    with pytest.raises(ConfigError, match=r"answer_in: asks in 'de', and .* it has: en"):
        plan(bread, settings_of(langs="tr"))


def test_claims_are_asked_about_in_their_own_language(
    benchmark_of: MakeBenchmark, settings_of: MakeSettings
) -> None:
    """At every level, and every query names the language of the answer."""
    levels = "".join(
        f"    {level}: ['{{question}} Is it so? In {{answer_language}}.']\n" for level in LEVELS
    )
    prompts = (
        f'chat: "{{question}}"\nexpand: levels\nlevels:\n  en:\n{levels}answer_in: {{en: [tr]}}\n'
    )
    bread = benchmark_of({"en": ["q1"]}, prompts=prompts)
    cases = plan(bread, settings_of(langs="tr"))
    assert [f"q1-en-l{n}-tr" for n in range(5)] == [case.id for case in cases]
    assert "Why q1? Is it so? In Turkish." == cases[0].sample.prompt["question"]
