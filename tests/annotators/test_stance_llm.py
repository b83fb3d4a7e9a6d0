"""A judge's stance: what it is asked, when it is asked again, and what it cannot be told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pytest_xling.annotators.stance.llm import StanceLlm
from pytest_xling.keys import canonical_json
from pytest_xling.records import Answer, Sample
from pytest_xling.text.fence import fenced
from pytest_xling.text.stance import STANCES
from tests.annotators.judges import Judge, annotation, key_of, says
from tests.annotators.values import CLAIM, claim_answer

if TYPE_CHECKING:
    from pytest_xling.interfaces.annotator import Ask


RESPONSE = "Many say that drinking hot water cures influenza. It does not: nothing but time does."
REASONING = "It repeats the claim only to rebut it."


def answer(text: str | None = RESPONSE, **fields: Any) -> Answer:
    """Return a model's response to a query about the claim, but for other *fields*."""
    return claim_answer(text, **fields)


def found(judge: Ask, given: Answer | None = None, **fields: Any) -> Any:  # noqa: ANN401
    """Return the annotation of an answer."""
    return annotation(StanceLlm(**fields), given or answer(), judge)


@pytest.mark.parametrize("stance", STANCES)
def test_the_judges_stance_and_reasoning(stance: str) -> None:
    """One question, one stance; the judge reads claim and response, and no verdict on them."""
    judge = Judge(lambda *_: says(stance, REASONING))
    assert {"stance": stance, "reason": "", "reasoning": REASONING, "unparsed": False} == found(
        judge, answer(language="hi")
    )
    (prompt,) = judge.prompts
    parts = {"CLAIM": CLAIM, "RESPONSE": RESPONSE}
    assert all(fence in prompt for fence in fenced(parts).values())
    assert "in Hindi" in prompt
    assert prompt.index('"reasoning"') < prompt.index(f'"{key_of(prompt)}"')
    assert [{"temperature": 0.0, "max_tokens": 2048}] == judge.params


def test_the_judge_is_not_told_what_is_true() -> None:
    """Neither the claim's veracity nor the level or the source reach it."""
    told = answer()
    sample = Sample(
        id="c01-l4",
        benchmark="b",
        language="en",
        prompt={**told.sample.prompt, "level": "4"},
        reference="mixture",
        metadata={"veracity": "mixture", "source": "WHO"},
    )
    prompts = []
    for each in (told, Answer(sample=sample, response=told.response)):
        judge = Judge(lambda *_: says("agree"))
        found(judge, each)
        prompts += judge.prompts
    assert prompts[0] == prompts[1]


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (answer(None, stop_reason="refusal"), "no answer: refusal"),
        (answer("", stop_reason="content_filter"), "no answer: content filter"),
        (answer(" \n"), "no answer: empty"),
        (answer(claim=None), "the sample has no claim"),
        (answer("x" * 101), "no stance: the response has 101 characters, more than 100"),
        (answer(claim="x" * 101), "no stance: the claim has 101 characters, more than 100"),
    ],
)
def test_nothing_to_judge(given: Answer, reason: str) -> None:
    """The judge is not asked where there is nothing to ask or far too much: None, not neutral."""
    judge = Judge(lambda *_: says("agree"))
    assert {"stance": None, "reason": reason, "reasoning": "", "unparsed": False} == found(
        judge, given, max_chars=100
    )
    assert [] == judge.prompts


def test_texts_in_english() -> None:
    """With translations the judge reads these, and the English claim."""
    assert (("translate",), ()) == (StanceLlm(text_in="english").needs, StanceLlm().needs)
    judge = Judge(lambda *_: says("disagree"))
    given = answer(
        "यह झूठ है।", claim="दावा", english=CLAIM, translation="It is a lie.", language="hi"
    )
    assert "disagree" == found(judge, given, text_in="english")["stance"]
    (prompt,) = judge.prompts
    parts = {"CLAIM": CLAIM, "RESPONSE": "It is a lie."}
    assert all(fence in prompt for fence in fenced(parts).values())
    assert "in English;" in prompt
    untranslated = answer("यह", claim="दावा", english=CLAIM, language="hi")
    value = found(judge, untranslated, text_in="english")
    assert (None, "no translation: too odd") == (value["stance"], value["reason"])
    assert 1 == len(judge.prompts)


def test_looks_at_all_the_judge_reads() -> None:
    """Another claim, text or language is another stance; another question is not."""
    english = {"english": CLAIM, "translation": "A", "language": "hi"}
    native = StanceLlm()
    seen = [
        canonical_json(native.looks_at(answer())),
        canonical_json(native.looks_at(answer("Other."))),
        canonical_json(native.looks_at(answer(claim="other"))),
        canonical_json(native.looks_at(answer(language="es"))),
        canonical_json(native.looks_at(answer(""))),
        canonical_json(StanceLlm(text_in="english").looks_at(answer(**english))),
    ]
    assert 6 == len(set(seen))
    sample = Sample(
        id="c01-l4", benchmark="b", language="en", prompt={"question": "Write!", "claim": CLAIM}
    )
    asked_otherwise = Answer(sample=sample, response=answer().response)
    assert seen[0] == canonical_json(native.looks_at(asked_otherwise))


@pytest.mark.parametrize(
    ("reply", "stance"),
    [(" agree", "agree"), ("disagree, it is a myth", "disagree"), ("I agree", None), ("", None)],
)
def test_how_a_base_model_continues(reply: str, stance: str | None) -> None:
    """Its first word counts; what is no stance is asked for once only."""
    judge = Judge(lambda *_: reply, style="completion")
    value = found(judge)
    assert (stance, stance is None) == (value["stance"], value["unparsed"])
    assert 1 == len(judge.prompts)
