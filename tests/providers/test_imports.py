"""What providers import before anything is asked: nothing that takes time."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.providers.hosted import SERVICES

if TYPE_CHECKING:
    from collections.abc import Iterable

_ROOT = Path(__file__).parents[2]
_LIBRARIES = (
    *("anthropic", "bm25s", "google.genai", "httpx2", "huggingface_hub", "openai"),
    *("torch", "transformers", "xllamacpp"),
)
_CHECKED = """
import sys
from pytest_xling.registry import load
from pytest_xling.records import Message, Request
request = Request(model="", messages=(Message(role="user", content="Hi"),), params={{}})
for name, spec in {named!r}:
    provider = load("provider", name)(spec)
    provider.check()
    provider.identify(request)
    print(provider.style)
print([name for name in {libraries!r} if name in sys.modules])
"""


def _imported(named: Iterable[tuple[str, str]], **environment: str) -> list[str]:
    """Return the style of each provider, and which libraries are there once all are checked."""
    source = _CHECKED.format(named=list(named), libraries=_LIBRARIES)
    done = subprocess.run(
        [sys.executable, "-c", source],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
        cwd=_ROOT,
        env=os.environ | environment,
    )
    return done.stdout.splitlines()


def test_checks_and_keys_of_services_import_no_client() -> None:
    """A run whose answers are stored does not pay for it."""
    keys = {service.key_variable: service.key for service in SERVICES.values()}
    services = [(name, service.model) for name, service in SERVICES.items()]
    found = _imported([*services, ("serper", "")], **keys, SERPER_API_KEY="key")
    assert ["chat", "chat", "chat", "search", "[]"] == found


def test_checks_and_keys_of_what_runs_here_import_no_library(
    request: pytest.FixtureRequest,
) -> None:
    """The plugin may ask all that at the start; torch takes seconds to come in."""
    pytest.importorskip("torch")
    chat = request.getfixturevalue("chat")
    found = _imported([("bm25", ""), ("hf", str(chat)), ("scripted", "")])
    assert ["search", "chat", "chat", "[]"] == found
