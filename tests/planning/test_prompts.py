"""prompts.yaml: what a model is sent, and what is wrong with a file, by line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_xling.errors import ConfigError
from pytest_xling.planning.prompts import Prompts
from pytest_xling.records import Message, Sample

if TYPE_CHECKING:
    from pathlib import Path

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


def read(tmp_path: Path, text: str) -> Prompts:
    """Write *text* as prompts.yaml and read it."""
    path = tmp_path / "prompts.yaml"
    path.write_text(text, encoding="utf-8")
    return Prompts.read(path)


def test_chat_is_one_user_turn(tmp_path: Path) -> None:
    """Braces in a question stay as they are; a chat needs no stop."""
    prompts = read(tmp_path, GOOD)
    asked = (Message(role="user", content="Why {x}? Answer in one line."),)
    assert asked == prompts.messages(sample("en"), "chat")
    assert [] == prompts.stop(sample("en"), "chat")


def test_a_completion_prompt_speaks_the_language(tmp_path: Path) -> None:
    """Shots come first, and the answer ends where the next question would begin."""
    prompts = read(tmp_path, GOOD)
    (message,) = prompts.messages(sample("he"), "completion")  # iw is he
    assert message.content == "Q one?\nA two.\n\nQ Why {x}? Answer in one line.\nA"
    assert ["\nQ", "\n\n"] == prompts.stop(sample("he"), "completion")


def test_other_languages_have_the_default(tmp_path: Path) -> None:
    """It needs no shots."""
    (message,) = read(tmp_path, GOOD).messages(sample("zh"), "completion")
    assert message.content == "Question: Why {x}? Answer in one line.\nAnswer:"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("# none\nchat: Why?\n", r"prompts\.yaml:2: chat: needs a template that names a field"),
        ("other: 1\n", r"prompts\.yaml:1: other: unknown key"),
        ('\nchats: "{question}"\n', r"prompts\.yaml:2: chats: .*Did you mean 'chat'"),
        ('chat: "{question"\n', r"prompts\.yaml:1: chat: expected '}'.*write '{{' and '}}'"),
        ('chat: "{question} {}"\n', r":1: chat: {} is no field"),
        ('chat: "{question!r}"\n', r":1: chat: {question} is no field"),
        ('chat: "{question:d}"\n', r":1: chat: {question} is no field"),
        ('chat: "{question.text}"\n', r":1: chat: {question\.text} is no field"),
        ("chat: '{question} {\"a\": 1}'\n", r':1: chat: {"a"} is no field'),
        ('chat: "{question}"\ncompletion: []\n', r":2: completion: needs one entry per language"),
        (
            'chat: "{question}"\ncompletion:\n  hindu: {question: Q, answer: A}\n',
            r":3: completion\.hindu: unknown language 'hindu'",
        ),
        (
            'chat: "{question}"\ncompletion:\n  hi:\n    question: Q\n    answer: ""\n',
            r":5: completion\.hi\.answer: needs a label",
        ),
        (
            'chat: "{question}"\ncompletion:\n  hi:\n    question: Q\n    answers: A\n',
            r":5: completion\.hi\.answers: unknown key.*'answer'",
        ),
        (
            (
                'chat: "{question}"\ncompletion:\n  hi:\n    question: Q\n    answer: A\n'
                "    shots:\n      - [a, b]\n      - [a]\n"
            ),
            r":8: completion\.hi\.shots\.1: needs a \[question, answer\] pair",
        ),
    ],
)
def test_mistakes_are_named_by_file_and_line(tmp_path: Path, text: str, message: str) -> None:
    """So that they are mended before anything is asked."""
    with pytest.raises(ConfigError, match=message):
        read(tmp_path, text)


def test_doubled_braces_are_braces(tmp_path: Path) -> None:
    """A template may show JSON."""
    prompts = read(tmp_path, "chat: '{question} Say {{\"a\": 1}}.'\n")
    assert prompts.messages(sample("en"), "chat")[0].content == 'Why {x}? Say {"a": 1}.'


def test_a_missing_field_is_known(tmp_path: Path) -> None:
    """Fields the template names and the sample lacks."""
    prompts = read(tmp_path, 'chat: "{question} {hint} {note}"\n')
    assert ["hint", "note"] == prompts.missing_fields(sample("en"))
