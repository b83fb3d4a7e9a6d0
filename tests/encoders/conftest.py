"""Random models, made once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.encoders.tiny_models import make_bert

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="session")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random BERT of three layers that takes 64 tokens."""
    return make_bert(tmp_path_factory.mktemp("models") / "bert")
