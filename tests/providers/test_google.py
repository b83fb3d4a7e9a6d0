"""The google provider against a real server that misbehaves."""

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
from pytest_xling.providers.google import GoogleProvider
from pytest_xling.records import Message, Request, Response, ToolCall, Usage
from tests.servers.google_server import serving_google

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_xling.keys import JsonValue
    from tests.servers.google_server import GoogleServer

pytest.importorskip("google.genai", reason="needs pip install 'pytest-xling[google]'")

UNSIGNED = "skip_thought_signature_validator"
_KEY = "AIzaSyTn0tARealKey0123456789"


@pytest.fixture
def server() -> Iterator[GoogleServer]:
    """Give a server without delay."""
    with serving_google() as running:
        yield running


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith(("GEMINI_", "GOOGLE_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("GEMINI_API_KEY", _KEY)


def _request(*messages: Message | str, **params: JsonValue) -> Request:
    settings: dict[str, JsonValue] = {"max_tokens": 64}
    turns = tuple(Message(role="user", content=m) if isinstance(m, str) else m for m in messages)
    return Request(model="gemini-x", messages=turns, params=settings | params)


def _ask(
    url: str, *requests: Request | str, timeout_s: float = 5.0, model: str = "gemini-x"
) -> list[Response]:
    """Ask one after another, through the variables and one provider."""

    async def main() -> list[Response]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("GOOGLE_GEMINI_BASE_URL", url)
            provider = GoogleProvider(model, timeout_s=timeout_s)
        provider.check()
        try:
            return [
                await provider.generate(_request(each) if isinstance(each, str) else each)
                for each in requests
            ]
        finally:
            await provider.aclose()

    return asyncio.run(main())


def _sent(server: GoogleServer, *requests: Request, model: str = "gemini-x") -> dict[str, Any]:
    """Return the body that the last of *requests* was sent with."""
    _ask(server.url, *requests, model=model)
    body: dict[str, Any] = json.loads(list(server.bodies)[-1])
    return body


def test_an_answer(server: GoogleServer) -> None:
    """Text, reason, all tokens, time and version come back."""
    (response,) = _ask(server.url, "Why?")
    assert "The answer is forty-two." == response.text
    assert "stop" == response.stop_reason
    assert Usage(prompt_tokens=112, completion_tokens=38) == response.usage
    assert "test-model-2026" == response.model_version
    assert 0 < response.latency_s
    assert response.error is None


def test_what_is_sent(server: GoogleServer) -> None:
    """The system's messages apart, the others as turns, with the key where it belongs."""
    request = _request(
        Message(role="system", content="Be brief."),
        Message(role="system", content="Be kind."),
        "नमस्ते?",
        Message(role="assistant", content="हाँ?"),
        "Why?",
        temperature=0.0,
        seed=7,
        stop=["\n\n"],
        top_p=None,
    )
    assert {
        "systemInstruction": {"parts": [{"text": "Be brief.\n\nBe kind."}]},
        "contents": [
            {"role": "user", "parts": [{"text": "नमस्ते?"}]},
            {"role": "model", "parts": [{"text": "हाँ?"}]},
            {"role": "user", "parts": [{"text": "Why?"}]},
        ],
        "generationConfig": {
            "maxOutputTokens": 64,
            "temperature": 0.0,
            "seed": 7,
            "stopSequences": ["\n\n"],
        },
    } == _sent(server, request)
    (head,) = server.heads
    assert f"x-goog-api-key: {_KEY}" in head.decode()
    assert ["/v1/models/gemini-x:generateContent"] == server.asked


@pytest.mark.parametrize("model", ["gemini-2.5-flash", "gemini-3-pro"])
def test_turns_of_one_side_are_one_and_tools_have_parts(server: GoogleServer, model: str) -> None:
    """Results have the tool's name; newer models want calls signed that others made."""
    call = ToolCall(name="look_up", arguments='{"q": "मौसम"}', id="call-1")
    request = _request(
        "Look.",
        "Please.",
        Message(role="assistant", content="", tool_calls=(call,)),
        Message(role="tool", content="It rains.", tool_call_id="call-1"),
        "Well?",
    )
    called = {"functionCall": {"id": "call-1", "name": "look_up", "args": {"q": "मौसम"}}}
    sign = {} if model == "gemini-2.5-flash" else {"thoughtSignature": UNSIGNED}
    result = {"id": "call-1", "name": "look_up", "response": {"result": "It rains."}}
    assert [
        {"role": "user", "parts": [{"text": "Look."}, {"text": "Please."}]},
        {"role": "model", "parts": [called | sign]},
        {"role": "user", "parts": [{"functionResponse": result}, {"text": "Well?"}]},
    ] == _sent(server, request, model=model)["contents"]


def test_calls_without_ids_are_answered_in_their_order(server: GoogleServer) -> None:
    """Older models give none; a result of no call has its number for a name."""
    calls = tuple(ToolCall(name=name, arguments="{}") for name in ("look_up", "tell_time"))
    request = _request(
        "Look.",
        Message(role="assistant", content="", tool_calls=calls),
        Message(role="tool", content="It rains."),
        Message(role="tool", content="Noon."),
        Message(role="tool", content="?", tool_call_id="call-9"),
    )
    results = _sent(server, request)["contents"][-1]["parts"]
    assert [
        {"functionResponse": {"name": "look_up", "response": {"result": "It rains."}}},
        {"functionResponse": {"name": "tell_time", "response": {"result": "Noon."}}},
        {"functionResponse": {"id": "call-9", "name": "call-9", "response": {"result": "?"}}},
    ] == results


def test_an_empty_turn_is_none(server: GoogleServer) -> None:
    """The API takes none; what stands around it is one turn then."""
    request = _request("Why?", Message(role="assistant", content=""), "How?")
    (turn,) = _sent(server, request)["contents"]
    assert ["Why?", "How?"] == [part["text"] for part in turn["parts"]]


def test_what_the_user_adds_is_sent_by_its_own_name(server: GoogleServer) -> None:
    """In its place, in either spelling; objects are merged, and a new name goes as it stands."""
    tool = {"functionDeclarations": [{"name": "look_up"}]}
    mode = {"functionCallingConfig": {"mode": "ANY"}}
    extra: dict[str, JsonValue] = {
        "thinkingConfig": {"includeThoughts": True},
        "generationConfig": {"topP": 0.9},
        "tools": [tool],
        "tool_config": mode,
        "brandNew": 1,
        "extra_body": {"newer": {"still": 2}},
    }
    body = _sent(server, _request("Why?", extra=extra))
    assert {
        "maxOutputTokens": 64,
        "thinkingConfig": {"includeThoughts": True},
        "topP": 0.9,
        "brandNew": 1,
    } == body["generationConfig"]
    assert ([tool], mode, {"still": 2}) == (body["tools"], body["tool_config"], body["newer"])


def test_a_schema_and_log_probabilities_are_asked_for(server: GoogleServer) -> None:
    """And the likeliest first tokens come back, likeliest first."""
    form: JsonValue = {"type": "json_schema", "json_schema": {"schema": {"type": "object"}}}
    request = _request("[[logprobs]]", top_logprobs=50, response_format=form)
    (response,) = _ask(server.url, request)
    assert (("Yes", -0.7), ("No", -1.2)) == response.first_token
    config = json.loads(next(iter(server.bodies)))["generationConfig"]
    assert {
        "maxOutputTokens": 64,
        "responseLogprobs": True,
        "logprobs": 20,
        "responseMimeType": "application/json",
        "responseJsonSchema": {"type": "object"},
    } == config


@pytest.mark.parametrize(
    ("param", "value", "refused", "message"),
    [
        ("optional_logprobs", 5, "responseLogprobs", "Logprobs is not enabled for this model."),
        ("temperature", 0.0, "temperature", "temperature is not supported by this model."),
        (
            "response_format",
            {"type": "json_schema", "json_schema": {"schema": {"type": "object"}}},
            "responseJsonSchema",
            "Invalid.",
        ),
    ],
)
def test_what_can_be_done_without_is_left_out_where_it_is_refused(
    param: str, value: JsonValue, refused: str, message: str
) -> None:
    """Asked once more without, from the second on at once, and noted beside the answer."""
    with serving_google(refuse_params=refused, refuse_message=message) as server:
        asked = [_request(prompt, **{param: value}) for prompt in ("Why?", "How?")]
        responses = _ask(server.url, *asked)
        assert {"400": 1, "200": 2} == server.stats()["statuses"]
    assert [(param,)] * 2 == [response.left_out for response in responses]


@pytest.mark.parametrize(
    ("mode", "text", "reason"),
    [
        ("thinking", "It rises.", "stop"),
        ("no_finish", "It rises.", "stop"),
        ("newer_reason", "It rises.", "stop"),
        ("odd_usage", "It rises.", "stop"),
        ("length", "It never", "length"),
        ("all_thoughts", "", "length"),
        ("empty_content", "", "stop"),
        ("malformed_call", "", "stop"),
        ("hostile", "", "stop"),
        ("surrogates", "a \ufffd b \ufffd c", "stop"),
        ("tool_call", "", "stop"),
        ("tool_call_beside", "Let me look.", "stop"),
        ("partial_filter", "It begins", "content_filter"),
        ("safety", None, "content_filter"),
        ("recitation", None, "content_filter"),
        ("prohibited_content", None, "content_filter"),
        ("blocklist", None, "content_filter"),
        ("spii", None, "content_filter"),
        ("language", None, "content_filter"),
        ("blocked", None, "content_filter"),
        ("blocked_message", None, "content_filter"),
    ],
)
def test_answers_of_all_kinds(
    server: GoogleServer, mode: str, text: str | None, reason: str
) -> None:
    """A filter, an empty and a hostile answer are answers, and told apart."""
    (response,) = _ask(server.url, f"[[{mode}]]")
    assert (text, reason) == (response.text, response.stop_reason)


def test_thoughts_and_calls_come_apart_from_the_text(server: GoogleServer) -> None:
    """Each has its own place."""
    thinking, calling, plain = _ask(
        server.url, "[[thinking]]", "[[tool_call]]", "[[nameless_arguments]]"
    )
    assert "Hm, hot gas." == thinking.thoughts
    call = ToolCall(name="look_up", arguments='{"q": "मौसम"}', id="call-1")
    assert (call,) == calling.tool_calls
    assert (ToolCall(name="look_up", arguments="{}"),) == plain.tool_calls


def test_why_there_is_no_answer_is_told(server: GoogleServer) -> None:
    """As far as the service says it."""
    modes = ("safety", "blocked", "blocked_message", "malformed_call")
    assert [
        "SAFETY",
        "PROHIBITED_CONTENT",
        "OTHER: Not this.",
        "MALFORMED_FUNCTION_CALL: Malformed function call: look_up(",
    ] == [each.error for each in _ask(server.url, *(f"[[{mode}]]" for mode in modes))]


def test_a_name_that_no_model_has_is_a_fault(server: GoogleServer) -> None:
    """The client refuses it itself."""
    with pytest.raises(PermanentFault, match=r"does not take 'gemini\?x'") as caught:
        _ask(server.url, "Why?", model="gemini?x")
    assert caught.value.every_request
    assert 0 == server.requests


def test_usage_that_cannot_be_believed_is_none(server: GoogleServer) -> None:
    """It is counted otherwise then."""
    assert Usage() == _ask(server.url, "[[odd_usage]]")[0].usage


@pytest.mark.parametrize(
    ("mode", "kind", "said", "every_request"),
    [
        ("429", RateLimited, "429", False),
        ("500", TransientFault, "500", False),
        ("503", TransientFault, "503.*overloaded", False),
        ("html502", TransientFault, "502", False),
        ("list_error", TransientFault, "500", False),
        ("text_error", TransientFault, "500", False),
        ("html", TransientFault, "web page instead of JSON", False),
        ("half_json", TransientFault, "not whole JSON", False),
        ("deep", TransientFault, "not whole JSON", False),
        ("empty", TransientFault, "empty reply", False),
        ("no_object", TransientFault, "without an answer", False),
        ("empty_candidates", TransientFault, "without an answer", False),
        ("odd_candidates", TransientFault, "without an answer", False),
        ("other", TransientFault, "without an answer.*OTHER", False),
        ("close", TransientFault, "broke", False),
        ("drop", TransientFault, "broke", False),
        ("400", PermanentFault, "does not take this request", False),
        ("too_long", PermanentFault, "too long for model 'gemini-x'", False),
        ("bad_key", PermanentFault, "GEMINI_API_KEY", True),
        ("shut_out", PermanentFault, "refuses this account", True),
        ("403", PermanentFault, "may not use model 'gemini-x'", True),
        ("404", PermanentFault, "--model=gemini-x", True),
        ("307", PermanentFault, "GOOGLE_GEMINI_BASE_URL", True),
    ],
)
def test_faults_of_all_kinds(
    server: GoogleServer, mode: str, kind: type[ProviderFault], said: str, *, every_request: bool
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


@pytest.mark.parametrize(
    ("mode", "retry_after", "seconds"),
    [("429", "7", 7.0), ("429_retry", "", 34.5), ("429_retry", "7", 7.0), ("429", "", None)],
)
def test_how_long_to_wait_is_told(mode: str, retry_after: str, seconds: float | None) -> None:
    """In a header, or in the body."""
    with serving_google(retry_after=retry_after) as server, pytest.raises(RateLimited) as caught:
        _ask(server.url, f"[[{mode}]]")
    assert seconds == caught.value.retry_after_s


@pytest.mark.parametrize("mode", ["hang", "drip"])
def test_a_server_that_is_too_slow_is_left(server: GoogleServer, mode: str) -> None:
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


def test_a_reply_without_end_is_a_fault_of_its_question(server: GoogleServer) -> None:
    """What is longer than any answer is not read."""
    with pytest.raises(PermanentFault, match="more than 16 MB") as caught:
        _ask(server.url, "[[big]]", timeout_s=60.0)
    assert not caught.value.every_request


@pytest.mark.parametrize("mode", ["answer", "half", "400", "500", "redirect"])
def test_no_secret_comes_back(
    server: GoogleServer, caplog: pytest.LogCaptureFixture, mode: str
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
    with serving_google(key="another") as server:
        with pytest.raises(PermanentFault, match=r"Incorrect API key.*\*\*\*") as caught:
            _ask(server.url, "Why?")
        assert "Tn0tARealKey" not in "".join(traceback.format_exception(caught.value))
    provider = GoogleProvider("m")
    assert _KEY not in f"{provider.identify(_request('Why?'))} {vars(provider)}"


def test_no_key_is_a_mistake_that_names_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    """For Google itself there must be one, in either variable; any other server may do without."""
    monkeypatch.delenv("GEMINI_API_KEY")
    with pytest.raises(ConfigError, match="set GEMINI_API_KEY"):
        GoogleProvider("gemini-x").check()
    with serving_google() as server:
        assert "stop" == _ask(server.url, "Why?")[0].stop_reason
    monkeypatch.setenv("GOOGLE_API_KEY", _KEY)
    GoogleProvider("gemini-x").check()


def test_settings_of_the_clients_own_do_not_lead_elsewhere(
    server: GoogleServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as those of Google Cloud, which has another protocol of keys."""
    monkeypatch.setenv("GOOGLE_GENAI_USE_VERTEXAI", "true")
    monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", "mine")
    assert "stop" == _ask(server.url, "Why?")[0].stop_reason
    assert ["/v1/models/gemini-x:generateContent"] == server.asked


def test_a_missing_model_or_package_is_a_mistake(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message says what to type."""
    with pytest.raises(ConfigError, match="--model=google:gemini"):
        GoogleProvider("").check()
    monkeypatch.setattr(hosted, "find_spec", lambda _name: None)
    with pytest.raises(ConfigError, match=r"pip install 'pytest-xling\[google\]'"):
        GoogleProvider("gemini-x").check()


def test_equal_questions_share_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """Server, model, messages and parameters count; a slash, a sample's name and None do not."""
    monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", "http://127.0.0.1:1/")
    first = GoogleProvider("m").identify(_request("Why?"))
    monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", "http://127.0.0.1:1")
    assert first == GoogleProvider("m").identify(_request("Why?", seed=None))
    assert first != GoogleProvider("m").identify(_request("Why?", seed=1))
    assert first != GoogleProvider("n").identify(_request("Why?"))
    assert first != GoogleProvider("m").identify(_request("Who?"))
    monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", "http://127.0.0.1:2")
    assert first != GoogleProvider("m").identify(_request("Why?"))


def test_the_client_is_imported_by_the_first_request_only() -> None:
    """Checking, and a run whose answers are stored, do not pay for it."""
    source = (
        "import sys; from pytest_xling.providers.google import GoogleProvider; "
        "GoogleProvider('m').check(); print(sorted({'google.genai', 'httpx2'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", source], capture_output=True, text=True, check=True, timeout=60
    )
    assert "[]\n" == done.stdout
