"""What a row or a prompts.yaml may say of a conversation."""

from __future__ import annotations

import re

import pytest

from pytest_xling.records import Message, ToolCall
from pytest_xling.text.conversation import MOST_TURNS, read_messages, read_turns

CALL = {"id": "c1", "name": "look_up", "arguments": {"q": "मौसम"}}
NESTED = {"id": "c1", "type": "function", "function": {"name": "look_up", "arguments": "{}"}}
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "It rains."}
USER = {"role": "user", "content": "Why?"}


def test_turns_are_texts_or_messages() -> None:
    """A text is the user's; arguments may be JSON or written out."""
    turns = read_turns(["Why?", [{"role": "assistant", "tool_calls": [CALL]}, RESULT]])
    assert (Message(role="user", content="Why?"),) == turns[0]
    call, result = turns[1]
    assert (ToolCall(name="look_up", arguments='{"q": "मौसम"}', id="c1"),) == call.tool_calls
    assert "c1" == result.tool_call_id
    (first, *_) = read_messages([{"role": "assistant", "tool_calls": [NESTED]}, RESULT])
    assert (ToolCall(name="look_up", arguments="{}", id="c1"),) == first.tool_calls


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ([], "needs a list of turns"),
        ("Why?", "needs a list of turns"),
        ([""], "[0] needs a text that is not empty"),
        ([{"role": "user"}], "[0] needs a list of messages"),
        ([[USER, {"role": "assistant", "content": "So."}]], "[0] ends with 'assistant'"),
        ([[{"role": "system", "content": "Be brief."}, USER]], "[0] holds a system prompt"),
        (["Why?"] * (MOST_TURNS + 1), f"has {MOST_TURNS + 1} turns"),
    ],
)
def test_turns_that_cannot_be_asked(value: object, said: str) -> None:
    """They say which turn is wrong, and why."""
    with pytest.raises(ValueError, match=re.escape(said)):
        read_turns(value)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"role": "user"}, "needs a list of messages"),
        (["Why?"], "[0] needs an object"),
        ([{"role": "usr", "content": "x"}], "[0]: role is one of system, user, assistant, tool"),
        ([{"role": "user", "contents": "x"}], "unknown key 'contents'. Did you mean 'content'?"),
        ([{"role": "user", "content": " "}], "[0] needs a text that is not empty"),
        ([USER, {"role": "system", "content": "x"}, USER], "[1] is a system prompt, which comes"),
        ([USER, RESULT], "[1] is a tool's result, and nothing before it called a tool"),
        ([USER, {"role": "assistant", "content": "So."}], "ends with 'assistant'"),
        ([{"role": "user", "content": "x", "tool_calls": [CALL]}], "of an assistant's message"),
        ([USER | {"tool_call_id": "c1"}], "a tool's result, and nothing else"),
        ([{"role": "assistant", "tool_calls": [{"name": "f"}]}, RESULT], "a name and an id"),
        ([{"role": "assistant", "tool_calls": [CALL | {"nam": 1}]}, RESULT], "Did you mean 'name'"),
    ],
)
def test_messages_that_cannot_be_asked(value: object, said: str) -> None:
    """They say which message is wrong, and what to write."""
    with pytest.raises(ValueError, match=re.escape(said)):
        read_messages(value)
