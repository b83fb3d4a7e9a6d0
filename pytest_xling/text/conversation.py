"""Read conversations: system prompts, messages, and the turns after a model's replies."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, get_args

from pytest_xling.errors import did_you_mean
from pytest_xling.records import Message, Role, ToolCall

if TYPE_CHECKING:
    from pytest_xling.records import Turn

MOST_TURNS = 100
_KEYS = ("role", "content", "tool_calls", "tool_call_id")
_CALL = ("name", "arguments", "id", "type", "function")


def read_turns(value: object) -> tuple[Turn, ...]:
    """Return the turns of a conversation: each a user's text, or a list of messages.

    Raises:
        ValueError: says which turn is wrong, and what to write.
    """
    if not isinstance(value, list) or not value:
        msg = "needs a list of turns, each a user's text or a list of messages"
        raise ValueError(msg)
    if len(value) > MOST_TURNS:
        msg = f"has {len(value)} turns; {MOST_TURNS} at most are asked"
        raise ValueError(msg)
    turns: list[Turn] = []
    for number, turn in enumerate(value):
        if isinstance(turn, str):
            turns.append((Message(role="user", content=_text(turn, f"[{number}]")),))
            continue
        messages = read_messages(turn, at=f"[{number}]")
        if any(message.role == "system" for message in messages):
            msg = f"[{number}] holds a system prompt; write it under `system`"
            raise ValueError(msg)
        turns.append(messages)
    return tuple(turns)


def read_messages(value: object, *, at: str = "") -> tuple[Message, ...]:
    """Return messages that are given as OpenAI's chat completions have them.

    Args:
        value: a list of objects with role and content.
        at: the place of the list in what is read.

    Raises:
        ValueError: says which message is wrong, and what to write.
    """
    if not isinstance(value, list) or not value:
        msg = f'{at} needs a list of messages, such as [{{"role": "user", "content": "…"}}]'
        raise ValueError(msg.lstrip())
    messages = tuple(_message(each, f"{at}[{number}]") for number, each in enumerate(value))
    for number, message in enumerate(messages):
        if message.role == "system" and number:
            msg = f"{at}[{number}] is a system prompt, which comes first"
            raise ValueError(msg)
        before = messages[number - 1] if number else None
        if message.role == "tool" and before and not (before.tool_calls or before.role == "tool"):
            msg = f"{at}[{number}] is a tool's result, and nothing before it called a tool"
            raise ValueError(msg)
    if messages[-1].role not in {"user", "tool"}:
        msg = f"{at} ends with {messages[-1].role!r}: the model answers a user or a tool's result"
        raise ValueError(msg.lstrip())
    return messages


def _message(value: object, at: str) -> Message:
    if not isinstance(value, dict):
        msg = f'{at} needs an object such as {{"role": "user", "content": "…"}}'
        raise ValueError(msg)  # noqa: TRY004  every wrong value is a ValueError here
    for key in value:
        if key not in _KEYS:
            msg = f"{at}: unknown key {key!r}.{did_you_mean(str(key), _KEYS)}"
            raise ValueError(msg)
    role = next((role for role in get_args(Role) if role == value.get("role")), None)
    if role is None:
        msg = f"{at}: role is one of {', '.join(get_args(Role))}, not {value.get('role')!r}"
        raise ValueError(msg)
    tool_calls = value.get("tool_calls") or []
    if not isinstance(tool_calls, list) or (tool_calls and role != "assistant"):
        msg = f"{at}: tool_calls is a list, of an assistant's message"
        raise ValueError(msg)
    calls = tuple(_call(call, f"{at}.tool_calls[{n}]") for n, call in enumerate(tool_calls))
    content = value.get("content")
    call_id = value.get("tool_call_id", "")
    if (role == "tool") != bool(call_id) or not isinstance(call_id, str):
        msg = f"{at}: a tool's result, and nothing else, has the tool_call_id of its call"
        raise ValueError(msg)
    text = "" if calls and content in (None, "") else _text(content, at)
    return Message(role=role, content=text, tool_calls=calls, tool_call_id=call_id)


def _call(value: object, at: str) -> ToolCall:
    """Read a call as OpenAI nests it, or flat."""
    call = value if isinstance(value, dict) else {}
    if unknown := next((key for key in call if key not in _CALL), None):
        msg = f"{at}: unknown key {unknown!r}.{did_you_mean(str(unknown), _CALL)}"
        raise ValueError(msg)
    function = call.get("function", call)
    name, arguments = (
        (function.get("name"), function.get("arguments", {}))
        if isinstance(function, dict)
        else (None, {})
    )
    number = call.get("id")
    if not isinstance(name, str) or not name or not isinstance(number, str) or not number:
        msg = f'{at} needs a name and an id: {{"id": "call-1", "name": "…", "arguments": {{}}}}'
        raise ValueError(msg)
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return ToolCall(name=name, arguments=text, id=number)


def _text(value: object, at: str) -> str:
    if not isinstance(value, str) or not value.strip():
        msg = f"{at} needs a text that is not empty"
        raise ValueError(msg)
    return value
