"""A judge's verdict on relevance: which texts it is asked about, and what of its reply is read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pytest_xling.annotators.relevance import RelevanceLlm
from tests.annotators.judges import Judge, annotation, says
from tests.answers import annotated_answer, translation

if TYPE_CHECKING:
    from pytest_xling.keys import JsonValue
    from pytest_xling.records import Answer, StopReason

QUESTION = "लोग छाता क्यों रखते हैं?"
ENGLISH = "Why do people carry umbrellas?"


def answer(
    text: str = "बारिश से बचने के लिए।",
    *,
    stop: StopReason = "stop",
    translated: str | None = "To stay dry.",
    question: str = QUESTION,
    english: str | None = ENGLISH,
    issues: tuple[str, ...] = (),
) -> Answer:
    """Return an answer in Hindi, with its translation and its surface issues."""
    prompt = {"question": question} | ({} if english is None else {"question_english": english})
    said: dict[str, JsonValue] = {
        "translate": translation(translated, "it refused"),
        "surface_issues": {"issues": [*issues]},
    }
    return annotated_answer(text, "hi", said, stop_reason=stop, prompt=prompt)


def judged(judge: Judge, read: Answer | None = None, **fields: Any) -> Any:  # noqa: ANN401  JSON
    """Return what the annotator says."""
    return annotation(RelevanceLlm(**fields), read or answer(), judge)


@pytest.mark.parametrize(("said", "relevant"), [("relevant", True), ("irrelevant", False)])
def test_a_judge_says_what_it_is(said: str, relevant: bool) -> None:  # noqa: FBT001  parametrized
    """The question and the answer as they are, one question to the judge, its reasoning kept."""
    judge = Judge(lambda *_: says(said, "It names a use."))
    value = judged(judge)
    known = {"relevant": relevant, "reason": "", "reasoning": "It names a use.", "unparsed": False}
    assert known == value
    assert said == RelevanceLlm.label(value)
    (prompt,) = judge.prompts
    for text in (QUESTION, "बारिश से बचने के लिए।", "should be in Hindi"):
        assert text in prompt
    assert ENGLISH not in prompt


@pytest.mark.parametrize(("english", "asked"), [(ENGLISH, ENGLISH), (None, QUESTION)])
def test_both_texts_in_english(english: str | None, asked: str) -> None:
    """The translation, and the English question where the sample has one."""
    judge = Judge(lambda *_: says("relevant"))
    judged(judge, answer(english=english), text_in="english")
    (prompt,) = judge.prompts
    assert asked in prompt
    assert "To stay dry." in prompt
    assert "should be in English" in prompt


@pytest.mark.parametrize(
    ("read", "fields", "reason"),
    [
        (
            answer(issues=("wrong language: detected English (en)", "repetition: 20 tokens")),
            {},
            "not judged: wrong language: detected English (en)",
        ),
        (answer(" \n", issues=("no answer: empty",)), {}, "not judged: no answer: empty"),
        (answer(" \n"), {"clean_only": False}, "no answer: empty"),
        (answer(stop="refusal"), {"clean_only": False}, "no answer: refusal"),
        (answer(question=" "), {}, "the sample has no question"),
        (answer(translated=None), {"text_in": "english"}, "no translation: it refused"),
        (answer(), {"max_chars": 5}, f"not judged: the question has {len(QUESTION)} characters"),
    ],
)
def test_nobody_is_asked_where_there_is_nothing_to_judge(
    read: Answer, fields: dict[str, Any], reason: str
) -> None:
    """Neither relevant nor irrelevant, with the reason."""
    judge = Judge(lambda *_: says("relevant"))
    value = judged(judge, read, **fields)
    assert None is value["relevant"]
    assert value["reason"].startswith(reason)
    assert not judge.prompts
    assert not value["unparsed"]


def test_surface_issues_may_be_left_aside() -> None:
    """Then they are not needed, either."""
    judge = Judge(lambda *_: says("relevant"))
    read = answer(issues=("wrong language: detected English (en)",))
    assert judged(judge, read, clean_only=False)["relevant"]
    assert ("surface_issues",) == RelevanceLlm().needs
    assert ("surface_issues", "translate") == RelevanceLlm(text_in="english").needs
    assert ("translate",) == RelevanceLlm(text_in="english", clean_only=False).needs


def test_what_is_read_determines_the_verdict() -> None:
    """Another question, another translation or an issue is looked at; the other version is not."""
    annotator = RelevanceLlm()
    looked_at = annotator.looks_at(answer())
    assert looked_at == annotator.looks_at(answer(english=None, translated="Other."))
    assert looked_at != annotator.looks_at(answer(question="क्यों?"))
    assert {"reason": "not judged: x: y"} == annotator.looks_at(answer(issues=("x: y",)))


def test_a_base_model_continues_a_line() -> None:
    """Its first word counts."""
    for word, relevant in (("yes", True), ("No", False), ("maybe", None)):
        judge = Judge(lambda *_, word=word: f" {word},", style="completion")
        assert relevant is judged(judge)["relevant"]
        (prompt,) = judge.prompts
        assert prompt.endswith("Does the answer address the question?")
