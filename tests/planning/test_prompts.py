"""prompts.yaml: what a model is sent, and what is wrong with a file, by line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_xling.records import Message, Sample

if TYPE_CHECKING:
    from tests.planning.bread import Bread

GOOD = """
chat: "{question} Answer in one line."
completion:
  default: {question: "Question:", answer: "Answer:"}
  iw:
    question: "Q"
    answer: "A"
    shots:
      - ["one?", "two."]
"""


def sample(language: str) -> Sample:
    """Return a sample in *language*."""
    return Sample(id="q1", benchmark="b", language=language, prompt={"question": "Why {x}?"})


def test_chat_is_one_user_turn(bread: Bread) -> None:
    """Braces in a question stay as they are; a chat needs no stop."""
    prompts = bread.prompts(GOOD)
    asked = (Message(role="user", content="Why {x}? Answer in one line."),)
    assert asked == prompts.messages(sample("en"), "chat")
    assert [] == prompts.stop(sample("en"), "chat")


def test_a_completion_prompt_speaks_the_language(bread: Bread) -> None:
    """Shots come first, and the answer ends where the next question would begin."""
    prompts = bread.prompts(GOOD)
    (message,) = prompts.messages(sample("he"), "completion")  # iw is he
    assert message.content == "Q one?\nA two.\n\nQ Why {x}? Answer in one line.\nA"
    assert ["\nQ", "\n\n"] == prompts.stop(sample("he"), "completion")


def test_other_languages_have_the_default(bread: Bread) -> None:
    """It needs no shots."""
    (message,) = bread.prompts(GOOD).messages(sample("zh"), "completion")
    assert message.content == "Question: Why {x}? Answer in one line.\nAnswer:"


def test_doubled_braces_are_braces(bread: Bread) -> None:
    """A template may show JSON."""
    prompts = bread.prompts("chat: '{question} Say {{\"a\": 1}}.'\n")
    assert prompts.messages(sample("en"), "chat")[0].content == 'Why {x}? Say {"a": 1}.'


def test_a_missing_field_is_known(bread: Bread) -> None:
    """Fields the template names and the sample lacks."""
    prompts = bread.prompts('chat: "{question} {hint} {note}"\n')
    assert ["hint", "note"] == prompts.missing_fields(sample("en"))
