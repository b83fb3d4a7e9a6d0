"""A judge that puts questions into categories: what it reads, and what counts as its verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pytest_xling.annotators.category import CategoryLlm
from pytest_xling.keys import canonical_json
from pytest_xling.text.categories import CATEGORIES
from pytest_xling.text.fence import fenced
from tests.annotators.judges import Judge, annotation, says
from tests.answers import annotated_answer

if TYPE_CHECKING:
    from pytest_xling.interfaces.annotator import Ask
    from pytest_xling.records import Answer

QUESTION = "छठ की शाम को क्या खाते हैं?"
ENGLISH = "What is eaten on the evening of Chhath?"


def asked(
    question: str = QUESTION, language: str = "hi", *, answer: str = "Thekua.", **fields: Any
) -> Answer:
    """Return an answer to a question, of which there may be an English version."""
    english = fields.pop("english", "")
    prompt = {"question": question} | ({"question_english": english} if english else {})
    return annotated_answer(answer, language, prompt=prompt, **fields)


def sorted_by(judge: Ask, of: Answer | None = None, **fields: Any) -> Any:  # noqa: ANN401
    """Return the annotation."""
    return annotation(CategoryLlm(**fields), of or asked(), judge)


@pytest.mark.parametrize("word", CATEGORIES)
def test_the_judges_category_and_reasoning(word: str) -> None:
    """A word without commas is asked for; the value is the name that CaLMQA's data have."""
    judge = Judge(lambda *_: says(word, "It asks for dishes."))
    expected = {
        "category": CATEGORIES[word],
        "reasoning": "It asks for dishes.",
        "reason": "",
        "unparsed": False,
    }
    assert expected == (value := sorted_by(judge))
    assert CATEGORIES[word] == CategoryLlm.label(value)
    assert "," not in word
    (prompt,) = judge.prompts
    assert f"\n- {word} ({CATEGORIES[word]}): " in prompt
    assert "is in Hindi" in prompt
    assert fenced({"QUESTION": QUESTION})["QUESTION"] in prompt
    assert 12 == prompt.count(" Example: ")


@pytest.mark.parametrize(
    ("of", "shown"),
    [
        (asked(english=ENGLISH), True),
        (asked(metadata={"english": ENGLISH}), True),
        (asked(metadata={"english": " "}), False),
        (asked(ENGLISH, language="en", english=ENGLISH), False),
        (asked(ENGLISH, english=ENGLISH, metadata={"asked_in": "en"}), False),
    ],
)
def test_the_english_version_is_shown_beside_the_question(of: Answer, shown: bool) -> None:  # noqa: FBT001  a table's column
    """Where there is one, wherever the data keep it; to an English question there is none."""
    judge = Judge(lambda *_: says("food"))
    sorted_by(judge, of)
    texts = {"QUESTION": of.sample.prompt["question"], "QUESTION IN ENGLISH": ENGLISH}
    (prompt,) = judge.prompts
    assert ("<<<BEGIN QUESTION IN ENGLISH" in prompt) is shown
    assert not shown or all(fence in prompt for fence in fenced(texts).values())


def test_looks_at_the_question_and_not_at_the_answer() -> None:
    """One question is judged once, whatever is answered; another language is another question."""
    keys = [
        canonical_json(CategoryLlm().looks_at(of))
        for of in (
            asked(),
            asked(answer="I do not know."),
            asked(metadata={"set": "specific", "category": "history"}),
            asked(language="mr"),
            asked(english=ENGLISH),
            asked(ENGLISH),
        )
    ]
    assert keys[0] == keys[1] == keys[2]
    assert 4 == len(set(keys))


@pytest.mark.parametrize(
    ("of", "reason"),
    [
        (asked(" \n"), "the sample has no question"),
        (asked("x" * 101), "the question has 101 characters, more than 100"),
        (asked(english="x" * 101), "the English version has 101 characters, more than 100"),
        (annotated_answer("", prompt={"claim": "It is so."}), "the sample has no question"),
    ],
)
def test_nothing_to_judge(of: Answer, reason: str) -> None:
    """Nobody is asked."""
    judge = Judge(lambda *_: says("food"))
    value = sorted_by(judge, of, max_chars=100)
    assert (None, reason, False) == (value["category"], value["reason"], value["unparsed"])
    assert [] == judge.prompts


@pytest.mark.parametrize(
    ("reply", "category"),
    [
        (" food", "food and drinks"),
        ("Religion, since Chhath is a festival", "religion, beliefs, customs, and traditions"),
        ("a food", None),
        ("", None),
    ],
)
def test_how_a_base_model_continues(reply: str, category: str | None) -> None:
    """Its first word counts, and it is asked once; it reads English where that is there."""
    judge = Judge(lambda *_: reply, style="completion")
    value = sorted_by(judge, asked(english=ENGLISH))
    assert (category, category is None) == (value["category"], value["unparsed"])
    (prompt,) = judge.prompts
    assert prompt.endswith(f"Question: {ENGLISH}\nCategory:")
