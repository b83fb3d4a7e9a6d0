"""The anthropic provider's own words; test_hosted.py has what all promise."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from pytest_xling.records import Message, ToolCall

if TYPE_CHECKING:
    from pytest_xling.keys import JsonValue
    from tests.providers.hosted import Service
    from tests.servers.anthropic_server import AnthropicServer

pytestmark = pytest.mark.parametrize("service", ["anthropic"], indirect=True)


def test_what_is_sent(service: Service, server: AnthropicServer) -> None:
    """The system's messages apart; turns of one side are one, and tools have blocks in them."""
    calls = (
        ToolCall(name="look_up", arguments='{"q": "मौसम"}', id="call-1"),
        ToolCall(name="look_up", arguments="no JSON", id="call-2"),
        ToolCall(name="look_up", arguments="", id="call-3"),
    )
    request = service.request(
        Message(role="system", content="Be brief."),
        Message(role="system", content="Be kind."),
        "नमस्ते?",
        "Look.",
        Message(role="assistant", content="हाँ.", tool_calls=calls),
        Message(role="tool", content="It rains.", tool_call_id="call-1"),
        Message(role="tool", content="", tool_call_id="call-2"),
        "Well?",
        stop=["\n\n"],
        top_p=None,
    )
    use = {"type": "tool_use", "name": "look_up"}
    asked = [{"type": "text", "text": "नमस्ते?"}, {"type": "text", "text": "Look."}]
    called = [
        {"type": "text", "text": "हाँ."},
        {**use, "id": "call-1", "input": {"q": "मौसम"}},
        {**use, "id": "call-2", "input": {"arguments": "no JSON"}},
        {**use, "id": "call-3", "input": {}},
    ]
    answered = [
        {"type": "tool_result", "tool_use_id": "call-1", "content": "It rains."},
        {"type": "tool_result", "tool_use_id": "call-2", "content": ""},
        {"type": "text", "text": "Well?"},
    ]
    assert {
        "model": "claude-x",
        "system": "Be brief.\n\nBe kind.",
        "messages": [
            {"role": "user", "content": asked},
            {"role": "assistant", "content": called},
            {"role": "user", "content": answered},
        ],
        "max_tokens": 64,
        "stop_sequences": ["\n\n"],
    } == service.sent(server, request)
    (head,) = server.heads
    assert f"Bearer {service.key}" in head.decode()
    assert b"POST /v1/messages " in head


def test_what_the_user_adds_is_sent_by_its_own_name(
    service: Service, server: AnthropicServer
) -> None:
    """Objects are merged; a name that nobody knows yet and a header go as they stand."""
    tool: JsonValue = {"name": "look_up", "input_schema": {"type": "object"}}
    extra: dict[str, JsonValue] = {
        "thinking": {"type": "adaptive"},
        "tools": [tool],
        "max_tokens": 9_000,
        "output_config": {"effort": "low"},
        "extra_body": {"brand_new": 1},
        "extra_headers": {"anthropic-beta": "brand-new-2027"},
    }
    schema = {"type": "object"}
    form: JsonValue = {"type": "json_schema", "json_schema": {"name": "v", "schema": schema}}
    body = service.sent(server, service.request("Why?", extra=extra, response_format=form))
    assert {"type": "adaptive"} == body["thinking"]
    assert [tool] == body["tools"]
    assert (9_000, 1) == (body["max_tokens"], body["brand_new"])
    format_ = {"type": "json_schema", "schema": schema}
    assert {"effort": "low", "format": format_} == body["output_config"]
    assert not {"extra", "extra_body", "extra_headers", "response_format"} & body.keys()
    assert b"anthropic-beta: brand-new-2027" in server.heads[-1]


def test_params_that_the_api_has_no_word_for_are_left_out(
    service: Service, server: AnthropicServer
) -> None:
    """And noted beside the answer."""
    asked = {"seed": 7, "top_logprobs": 5, "optional_logprobs": 5}
    (response,) = service.ask(server.url, service.request("Why?", **asked))
    assert set(asked) == set(response.left_out)
    assert not asked.keys() & json.loads(next(iter(server.bodies))).keys()


def test_a_temperature_needs_the_version_that_knows_it(
    service: Service, server: AnthropicServer
) -> None:
    """The newest knows none; without one, that of the client is sent."""
    assert 0.7 == service.sent(server, service.request("Why?", temperature=0.7))["temperature"]
    service.ask(server.url, "Why?")
    warm, plain = (b"anthropic-version: 2023-06-01" in head.lower() for head in server.heads)
    assert (True, False) == (warm, plain)
