"""The anthropic provider against a real server that misbehaves."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import socket
import subprocess
import sys
import traceback
from typing import TYPE_CHECKING, Any

import pytest

from pytest_xling.errors import (
    ConfigError,
    PermanentFault,
    ProviderFault,
    RateLimited,
    TransientFault,
)
from pytest_xling.http import provider as hosted
from pytest_xling.providers.anthropic import AnthropicProvider
from pytest_xling.records import Message, Request, Response, ToolCall, Usage
from tests.servers.anthropic_server import serving_anthropic

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_xling.keys import JsonValue
    from tests.servers.anthropic_server import AnthropicServer

pytest.importorskip("anthropic", reason="needs pip install 'pytest-xling[anthropic]'")

_KEY = "sk-ant-api03-Tn0tARealKey0123456789"


@pytest.fixture
def server() -> Iterator[AnthropicServer]:
    """Give a server without delay."""
    with serving_anthropic() as running:
        yield running


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("ANTHROPIC_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("ANTHROPIC_API_KEY", _KEY)


def _request(*messages: Message | str, **params: JsonValue) -> Request:
    settings: dict[str, JsonValue] = {"max_tokens": 64}
    turns = tuple(Message(role="user", content=m) if isinstance(m, str) else m for m in messages)
    return Request(model="claude-x", messages=turns, params=settings | params)


def _ask(url: str, *requests: Request | str, timeout_s: float = 5.0) -> list[Response]:
    """Ask one after another, through the variables and one provider."""

    async def main() -> list[Response]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("ANTHROPIC_BASE_URL", url)
            provider = AnthropicProvider("claude-x", timeout_s=timeout_s)
        provider.check()
        try:
            return [
                await provider.generate(_request(each) if isinstance(each, str) else each)
                for each in requests
            ]
        finally:
            await provider.aclose()

    return asyncio.run(main())


def _sent(server: AnthropicServer, *requests: Request) -> dict[str, Any]:
    """Return the body that the last of *requests* was sent with."""
    _ask(server.url, *requests)
    body: dict[str, Any] = json.loads(list(server.bodies)[-1])
    return body


def test_an_answer(server: AnthropicServer) -> None:
    """Text, reason, all tokens, time and version come back."""
    (response,) = _ask(server.url, "Why?")
    assert "The answer is forty-two." == response.text
    assert "stop" == response.stop_reason
    assert Usage(prompt_tokens=1_112, completion_tokens=8) == response.usage
    assert "test-model-2026" == response.model_version
    assert 0 < response.latency_s
    assert response.error is None


def test_what_is_sent(server: AnthropicServer) -> None:
    """The system's messages apart, the others as turns, with the key where it belongs."""
    request = _request(
        Message(role="system", content="Be brief."),
        Message(role="system", content="Be kind."),
        "नमस्ते?",
        Message(role="assistant", content="हाँ?"),
        "Why?",
        stop=["\n\n"],
        top_p=None,
    )
    assert {
        "model": "claude-x",
        "system": "Be brief.\n\nBe kind.",
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "नमस्ते?"}]},
            {"role": "assistant", "content": [{"type": "text", "text": "हाँ?"}]},
            {"role": "user", "content": [{"type": "text", "text": "Why?"}]},
        ],
        "max_tokens": 64,
        "stop_sequences": ["\n\n"],
    } == _sent(server, request)
    (head,) = server.heads
    assert f"Bearer {_KEY}" in head.decode()
    assert b"POST /v1/messages " in head


def test_turns_of_one_side_are_one_and_tools_have_blocks(server: AnthropicServer) -> None:
    """All results stand in the turn after their calls."""
    calls = (
        ToolCall(name="look_up", arguments='{"q": "मौसम"}', id="call-1"),
        ToolCall(name="look_up", arguments="no JSON", id="call-2"),
        ToolCall(name="look_up", arguments="", id="call-3"),
    )
    request = _request(
        "Look.",
        "Please.",
        Message(role="assistant", content="", tool_calls=calls),
        Message(role="tool", content="It rains.", tool_call_id="call-1"),
        Message(role="tool", content="", tool_call_id="call-2"),
        "Well?",
    )
    use = {"type": "tool_use", "name": "look_up"}
    result = {"type": "tool_result"}
    assert [
        {
            "role": "user",
            "content": [{"type": "text", "text": "Look."}, {"type": "text", "text": "Please."}],
        },
        {
            "role": "assistant",
            "content": [
                {**use, "id": "call-1", "input": {"q": "मौसम"}},
                {**use, "id": "call-2", "input": {"arguments": "no JSON"}},
                {**use, "id": "call-3", "input": {}},
            ],
        },
        {
            "role": "user",
            "content": [
                {**result, "tool_use_id": "call-1", "content": "It rains."},
                {**result, "tool_use_id": "call-2", "content": ""},
                {"type": "text", "text": "Well?"},
            ],
        },
    ] == _sent(server, request)["messages"]


def test_an_empty_turn_is_none(server: AnthropicServer) -> None:
    """The API takes none; what stands around it is one turn then."""
    request = _request("Why?", Message(role="assistant", content=""), "How?")
    (turn,) = _sent(server, request)["messages"]
    assert ["Why?", "How?"] == [part["text"] for part in turn["content"]]


def test_what_the_user_adds_is_sent_by_its_own_name(server: AnthropicServer) -> None:
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
    body = _sent(server, _request("Why?", extra=extra, response_format=form))
    assert {"type": "adaptive"} == body["thinking"]
    assert [tool] == body["tools"]
    assert (9_000, 1) == (body["max_tokens"], body["brand_new"])
    format_ = {"type": "json_schema", "schema": schema}
    assert {"effort": "low", "format": format_} == body["output_config"]
    assert not {"extra", "extra_body", "extra_headers", "response_format"} & body.keys()
    assert b"anthropic-beta: brand-new-2027" in server.heads[-1]


def test_params_that_the_api_has_no_word_for_are_left_out(server: AnthropicServer) -> None:
    """And noted beside the answer."""
    asked = {"seed": 7, "top_logprobs": 5, "optional_logprobs": 5}
    (response,) = _ask(server.url, _request("Why?", **asked))
    assert set(asked) == set(response.left_out)
    assert not asked.keys() & json.loads(next(iter(server.bodies))).keys()


def test_a_temperature_needs_the_version_that_knows_it(server: AnthropicServer) -> None:
    """The newest knows none; without one, that of the client is sent."""
    _ask(server.url, _request("Why?", temperature=0.7), _request("Why?"))
    warm, plain = (head.lower() for head in server.heads)
    assert b"anthropic-version: 2023-06-01" in warm
    assert b"anthropic-version: 2023-06-01" not in plain
    assert 0.7 == json.loads(next(iter(server.bodies)))["temperature"]


def test_a_temperature_of_0_is_left_out_where_it_is_refused() -> None:
    """Newer models take none; from the second request on none is sent."""
    refused = "`temperature` is deprecated for this model."
    with serving_anthropic(refuse_params="temperature", refuse_message=refused) as server:
        asked = [_request(prompt, temperature=0.0) for prompt in ("Why?", "How?")]
        responses = _ask(server.url, *asked)
        assert {"400": 1, "200": 2} == server.stats()["statuses"]
    assert [("temperature",)] * 2 == [response.left_out for response in responses]


def test_any_other_temperature_that_is_refused_names_the_option() -> None:
    """What was asked without it would be called by it."""
    refused = "`temperature` is deprecated for this model."
    with (
        serving_anthropic(refuse_params="temperature", refuse_message=refused) as server,
        pytest.raises(PermanentFault, match="--xling-temperatures") as caught,
    ):
        _ask(server.url, _request("Why?", temperature=0.7))
    assert caught.value.every_request


@pytest.mark.parametrize("message", ["output_config: Extra inputs are not permitted", "No."])
def test_a_schema_that_is_refused_is_left_out(message: str) -> None:
    """Older models know none; so may temperature 0 be, of the same request."""
    form: JsonValue = {"type": "json_schema", "json_schema": {"schema": {"type": "object"}}}
    with serving_anthropic(refuse_params="output_config", refuse_message=message) as server:
        asked = [_request(p, temperature=0.0, response_format=form) for p in ("Why?", "How?")]
        responses = _ask(server.url, *asked)
        assert {"400": 1, "200": 2} == server.stats()["statuses"]
    assert [("response_format",)] * 2 == [response.left_out for response in responses]


@pytest.mark.parametrize(
    ("mode", "text", "reason"),
    [
        ("thinking", "It rises.", "stop"),
        ("redacted", "It rises.", "stop"),
        ("own_tool", "It rises.", "stop"),
        ("stop_sequence", "It rises", "stop"),
        ("newer_reason", "It rises.", "stop"),
        ("no_usage", "It rises.", "stop"),
        ("odd_usage", "It rises.", "stop"),
        ("length", "It never", "length"),
        ("window", "It never", "length"),
        ("pause", "It never", "length"),
        ("refusal", None, "refusal"),
        ("bare_refusal", "It begins", "refusal"),
        ("empty_content", "", "stop"),
        ("hostile", "", "stop"),
        ("surrogates", "a \ufffd b \ufffd c", "stop"),
        ("tool_call", "", "stop"),
        ("tool_call_beside", "Let me look.", "stop"),
    ],
)
def test_answers_of_all_kinds(
    server: AnthropicServer, mode: str, text: str | None, reason: str
) -> None:
    """A refusal, an empty and a hostile answer are answers, and told apart."""
    (response,) = _ask(server.url, f"[[{mode}]]")
    assert (text, reason) == (response.text, response.stop_reason)


def test_thoughts_calls_and_refusals_come_apart_from_the_text(server: AnthropicServer) -> None:
    """Each has its own place; a refusal says why."""
    thinking, calling, refusing, bare = _ask(
        server.url, "[[thinking]]", "[[tool_call]]", "[[refusal]]", "[[bare_refusal]]"
    )
    assert "Hm, hot gas." == thinking.thoughts
    call = ToolCall(name="look_up", arguments='{"q": "मौसम"}', id="toolu_1")
    assert (call,) == calling.tool_calls
    assert "bio: It asks for a pathogen." == refusing.error
    assert "refused" == bare.error


def test_usage_that_cannot_be_believed_is_none(server: AnthropicServer) -> None:
    """It is counted otherwise then."""
    for response in _ask(server.url, "[[odd_usage]]", "[[no_usage]]"):
        assert Usage() == response.usage


@pytest.mark.parametrize(
    ("mode", "kind", "said", "every_request"),
    [
        ("429", RateLimited, "429", False),
        ("529", RateLimited, "529.*Overloaded", False),
        ("500", TransientFault, "500", False),
        ("html502", TransientFault, "502", False),
        ("html", TransientFault, "web page instead of JSON", False),
        ("half_json", TransientFault, "not whole JSON", False),
        ("deep", TransientFault, "not whole JSON", False),
        ("empty", TransientFault, "empty reply", False),
        ("no_object", TransientFault, "no message", False),
        ("null_content", TransientFault, "no message", False),
        ("close", TransientFault, "broke", False),
        ("drop", TransientFault, "broke", False),
        ("400", PermanentFault, "does not take this request", False),
        ("too_long", PermanentFault, "too long for model 'claude-x'", False),
        ("credit", PermanentFault, "no credit", True),
        ("limit", PermanentFault, "no credit", True),
        ("401", PermanentFault, "ANTHROPIC_API_KEY", True),
        ("402", PermanentFault, "no credit", True),
        ("403", PermanentFault, "may not use model 'claude-x'", True),
        ("404", PermanentFault, "--model=claude-x", True),
        ("307", PermanentFault, "ANTHROPIC_BASE_URL", True),
    ],
)
def test_faults_of_all_kinds(
    server: AnthropicServer, mode: str, kind: type[ProviderFault], said: str, *, every_request: bool
) -> None:
    """Each has its class, says what happened and where, and was met by one attempt."""
    with pytest.raises(ProviderFault, match=said) as caught:
        _ask(server.url, f"[[{mode}]]")
    assert kind is caught.type
    assert server.url in str(caught.value)
    assert every_request == getattr(caught.value, "every_request", False)
    assert 1 == server.requests
    # The client's own exceptions hold requests.
    assert caught.value.__context__ is None or caught.value.__suppress_context__


def test_how_long_to_wait_is_told() -> None:
    """As the server asks."""
    with serving_anthropic(retry_after="7") as server, pytest.raises(RateLimited) as caught:
        _ask(server.url, "[[429]]")
    assert 7.0 == caught.value.retry_after_s


@pytest.mark.parametrize("mode", ["hang", "drip"])
def test_a_server_that_is_too_slow_is_left(server: AnthropicServer, mode: str) -> None:
    """The time-out is for the whole answer, not for each byte."""
    with pytest.raises(TransientFault, match=r"did not answer within 0\.3 s") as caught:
        _ask(server.url, f"[[{mode}]]", timeout_s=0.3)
    assert isinstance(caught.value.__cause__, OSError)


def test_a_server_that_is_down_is_named() -> None:
    """The cause is a connection error, which counts as unreachable."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, but nobody listens
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(TransientFault, match=r"cannot connect.*Is the server up") as caught:
            _ask(url, "Why?")
    assert isinstance(caught.value.__cause__, OSError)


def test_a_reply_without_end_is_a_fault_of_its_question(server: AnthropicServer) -> None:
    """What is longer than any answer is not read."""
    with pytest.raises(PermanentFault, match="more than 16 MB") as caught:
        _ask(server.url, "[[big]]", timeout_s=60.0)
    assert not caught.value.every_request


@pytest.mark.parametrize("mode", ["answer", "half", "400", "500", "redirect"])
def test_no_secret_comes_back(
    server: AnthropicServer, caplog: pytest.LogCaptureFixture, mode: str
) -> None:
    """Whatever repeats it: neither message, answer nor log has it."""
    caplog.set_level(logging.DEBUG)
    try:
        seen = repr(_ask(server.url, f"[[key_{mode}]]"))
    except ProviderFault as fault:
        seen = "".join(traceback.format_exception(fault))
    assert "Tn0tARealKey" not in seen + caplog.text
    assert 1 == server.requests


def test_no_key_is_in_any_message() -> None:
    """Nor in what is kept under an answer's key, nor in the provider."""
    with serving_anthropic(key="another") as server:
        with pytest.raises(PermanentFault, match=r"Incorrect API key.*\*\*\*") as caught:
            _ask(server.url, "Why?")
        assert "Tn0tARealKey" not in "".join(traceback.format_exception(caught.value))
    provider = AnthropicProvider("m")
    assert _KEY not in f"{provider.identify(_request('Why?'))} {vars(provider)}"


def test_no_key_is_a_mistake_that_names_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    """For Anthropic itself there must be one, of either kind; any other server may do without."""
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    with pytest.raises(ConfigError, match="set ANTHROPIC_API_KEY"):
        AnthropicProvider("claude-x").check()
    with serving_anthropic() as server:
        assert "stop" == _ask(server.url, "Why?")[0].stop_reason
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", _KEY)
    AnthropicProvider("claude-x").check()


def test_a_missing_model_or_package_is_a_mistake(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message says what to type."""
    with pytest.raises(ConfigError, match="--model=anthropic:claude"):
        AnthropicProvider("").check()
    monkeypatch.setattr(hosted, "find_spec", lambda _name: None)
    with pytest.raises(ConfigError, match=r"pip install 'pytest-xling\[anthropic\]'"):
        AnthropicProvider("claude-x").check()


def test_equal_questions_share_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """Server, model, messages and parameters count; a slash, a sample's name and None do not."""
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:1/")
    first = AnthropicProvider("m").identify(_request("Why?"))
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:1")
    assert first == AnthropicProvider("m").identify(_request("Why?", seed=None))
    assert first != AnthropicProvider("m").identify(_request("Why?", seed=1))
    assert first != AnthropicProvider("n").identify(_request("Why?"))
    assert first != AnthropicProvider("m").identify(_request("Who?"))
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:2")
    assert first != AnthropicProvider("m").identify(_request("Why?"))


def test_the_client_is_imported_by_the_first_request_only() -> None:
    """Checking, and a run whose answers are stored, do not pay for it."""
    source = (
        "import sys; from pytest_xling.providers.anthropic import AnthropicProvider; "
        "AnthropicProvider('m').check(); print(sorted({'anthropic', 'httpx2'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", source], capture_output=True, text=True, check=True, timeout=60
    )
    assert "[]\n" == done.stdout
