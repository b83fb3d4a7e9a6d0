"""Tiny models, each made once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path


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
