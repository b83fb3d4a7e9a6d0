"""A small random model of natural language inference, made once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def one_thread() -> Iterator[None]:
    """Share the machine with other tests."""
    import torch  # noqa: PLC0415  an extra

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random BERT with MNLI's labels that takes 64 tokens."""
    from tests.annotators.tiny_nli import make_nli  # noqa: PLC0415  torch

    return make_nli(tmp_path_factory.mktemp("nli") / "bert")
