"""A judge's profile of empathy: three questions, and what of them can be read."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from pytest_xling.annotators.empathy.llm import EmpathyLlm
from pytest_xling.records import Annotation, Answer, Response, Sample
from pytest_xling.text.empathy import MECHANISMS
from tests.annotators.judges import Judge, says

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_xling.interfaces.annotator import Ask
    from pytest_xling.records import StopReason

POST = "मेरी दुकान बंद हो गई।"
ENGLISH = "My shop had to close."
NAMES = ("EMOTIONAL REACTION", "INTERPRETATION", "EXPLORATION")


def answer(
    text: str = "बहुत दुख हुआ।",
    *,
    stop: StopReason = "stop",
    translation: str | None = "So sorry.",
    post: str = POST,
    english: str | None = None,
) -> Answer:
    """Return an answer in Hindi, with its translation."""
    prompt = {"question": post} | ({} if english is None else {"question_english": english})
    value = {"text": translation, "reason": "" if translation else "the translator refused"}
    return Answer(
        sample=Sample(id="p", benchmark="b", language="hi", prompt=prompt),
        response=Response(text=text, stop_reason=stop),
        annotations={"translate": Annotation(kind="translate", value=value, signature="")},
    )


def judged(judge: Judge, read: Answer | None = None, **fields: Any) -> dict[str, Any]:
    """Return what the annotator says."""
    ask: Ask = judge
    value: Any = asyncio.run(EmpathyLlm(**fields).annotate(read or answer(), ask))
    return dict(value)


def by_mechanism(**replies: str | Response) -> Callable[[str, int], str | Response]:
    """Reply to the question about each mechanism."""

    def reply(prompt: str, _: int) -> str | Response:
        named = next(m for m, name in zip(MECHANISMS, NAMES, strict=True) if name in prompt)
        return replies[named]

    return reply


def test_each_mechanism_is_a_question() -> None:
    """The post, the response and one mechanism, with its meaning."""
    judge = Judge(
        by_mechanism(
            emotional_reactions=says("present", "It is sorry."),
            interpretations=says("absent"),
            explorations=says("absent"),
        )
    )
    value = judged(judge)
    assert ["present", "absent", "absent"] == [value[mechanism] for mechanism in MECHANISMS]
    assert "It is sorry." == value["reasoning"]["emotional_reactions"]
    assert ("", False) == (value["reason"], value["unparsed"])
    assert 3 == len(judge.prompts)
    for name in NAMES:
        assert 1 == sum(name in prompt for prompt in judge.prompts)
    assert all(POST in prompt and "Hindi" in prompt for prompt in judge.prompts)


def test_one_verdict_that_cannot_be_read_costs_one_label() -> None:
    """The others stay."""
    judge = Judge(
        by_mechanism(
            emotional_reactions="Well, it depends.",
            interpretations=says("present"),
            explorations=Response(text=None, stop_reason="refusal"),
        )
    )
    value = judged(judge)
    assert [None, "present", None] == [value[mechanism] for mechanism in MECHANISMS]
    assert value["unparsed"]
    assert "emotional_reactions not judged: the judge's reply cannot be read" in value["reason"]
    assert "explorations not judged: the judge did not reply (refusal)" in value["reason"]
    assert 4 == len(judge.prompts)  # what cannot be read is asked for once more


def test_both_texts_in_english() -> None:
    """The translation, and the English post where the sample has one."""
    for english, post in ((ENGLISH, ENGLISH), (None, POST)):
        judge = Judge(lambda *_: says("absent"))
        judged(judge, answer(english=english), text_in="english")
        assert all(post in each and "So sorry." in each for each in judge.prompts)
        assert all("should be in English" in each for each in judge.prompts)


@pytest.mark.parametrize(
    ("read", "fields", "reason"),
    [
        (answer(" \n"), {}, "no answer: empty"),
        (answer(stop="refusal"), {}, "no answer: refusal"),
        (answer(post=" "), {}, "the sample has no question, the post that is responded to"),
        (
            answer(translation=None),
            {"text_in": "english"},
            "no translation: the translator refused",
        ),
        (answer(), {"max_chars": 5}, f"not judged: the post has {len(POST)} characters, more than"),
    ],
)
def test_nobody_is_asked_where_there_is_nothing_to_judge(
    read: Answer, fields: dict[str, Any], reason: str
) -> None:
    """No mechanism, with the reason."""
    judge = Judge(lambda *_: says("present"))
    value = judged(judge, read, **fields)
    assert [None, None, None] == [value[mechanism] for mechanism in MECHANISMS]
    assert value["reason"].startswith(reason)
    assert not judge.prompts
    assert not value["unparsed"]


def test_a_base_model_continues_a_line() -> None:
    """Its first word counts; the line asks for the mechanism in plain words."""
    judge = Judge(
        lambda prompt, _: " yes" if prompt.endswith("Asks for more:") else " no", style="completion"
    )
    value = judged(judge)
    assert ["absent", "absent", "present"] == [value[mechanism] for mechanism in MECHANISMS]
