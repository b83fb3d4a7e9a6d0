"""A judge's profile of empathy: three questions, and what of them can be read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pytest_xling.annotators.empathy.llm import EmpathyLlm
from pytest_xling.records import Answer, Response
from pytest_xling.text.empathy import MECHANISMS
from tests.annotators.judges import Judge, annotation, says
from tests.answers import annotated_answer, translation

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_xling.records import StopReason

POST = "मेरी दुकान बंद हो गई।"
ENGLISH = "My shop had to close."
NAMES = ("EMOTIONAL REACTION", "INTERPRETATION", "EXPLORATION")


def answer(
    text: str = "बहुत दुख हुआ।",
    *,
    stop: StopReason = "stop",
    translated: str | None = "So sorry.",
    post: str = POST,
    **english: str,
) -> Answer:
    """Return an answer in Hindi, with its translation; maybe the post has one, too."""
    said = {"translate": translation(translated, "the translator refused")}
    prompt = {"question": post, **english}
    return annotated_answer(text, "hi", said, stop_reason=stop, prompt=prompt)


def judged(judge: Judge, read: Answer | None = None, **fields: Any) -> Any:  # noqa: ANN401  JSON
    """Return what the annotator says."""
    return annotation(EmpathyLlm(**fields), read or answer(), judge)


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
    for read, post in ((answer(question_english=ENGLISH), ENGLISH), (answer(), POST)):
        judge = Judge(lambda *_: says("absent"))
        judged(judge, read, text_in="english")
        assert all(post in each and "So sorry." in each for each in judge.prompts)
        assert all("should be in English" in each for each in judge.prompts)


@pytest.mark.parametrize(
    ("read", "fields", "reason"),
    [
        (answer(" \n"), {}, "no answer: empty"),
        (answer(stop="refusal"), {}, "no answer: refusal"),
        (answer(post=" "), {}, "the sample has no question, the post that is responded to"),
        (
            answer(translated=None),
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
