"""Tiny models, each made once, and the hosted services."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.providers.hosted import SERVICES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.providers.hosted import Service
    from tests.servers.openai_server import OpenaiServer


@pytest.fixture(params=SERVICES)
def service(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Service:
    """A hosted service with its key; no other variable that one reads is set."""
    chosen = SERVICES[request.param]
    chosen.alone(monkeypatch)
    return chosen


@pytest.fixture
def server(service: Service) -> Iterator[OpenaiServer]:
    """A server of the service, without delay."""
    with service.serving() as running:
        yield running


@pytest.fixture(scope="session")
def llama(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that completes."""
    from tests.providers import hf_models  # noqa: PLC0415  needs torch, other tests here do not

    return hf_models.llama(tmp_path_factory.mktemp("models") / "llama")


@pytest.fixture(scope="session")
def chat(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model with a chat template."""
    from tests.providers import hf_models  # noqa: PLC0415  as above

    folder = tmp_path_factory.mktemp("models") / "chat"
    return hf_models.llama(folder, template=hf_models.TEMPLATE, seed=1)


@pytest.fixture(scope="session")
def gpt2(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model with learned positions, 64 of them, and without a pad token."""
    from tests.providers import hf_models  # noqa: PLC0415  as above

    return hf_models.gpt2(tmp_path_factory.mktemp("models") / "gpt2")
