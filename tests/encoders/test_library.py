"""Encoders that only sentence-transformers can run."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import StaticEmbedding
from tokenizers import Tokenizer

from pytest_xling.encoders import opening
from pytest_xling.encoders.library import LibraryEncoder
from pytest_xling.encoders.opening import open_encoder
from pytest_xling.errors import ConfigError, EvaluationError
from pytest_xling.models import loading
from pytest_xling.models.loading import quiet
from tests.encoders.tiny_models import TEXTS, add_modules

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def max_pooled(bert: Path, tmp_path: Path) -> Path:
    """A model that takes the largest of the tokens' states."""
    return add_modules(
        shutil.copytree(bert, tmp_path / "largest"), pooling={"pooling_mode_max_tokens": True}
    )


@pytest.fixture
def static(bert: Path, tmp_path: Path) -> Path:
    """A model that is no transformer: a vector per token."""
    tokenizer: Any = Tokenizer.from_file(str(bert / "tokenizer.json"))
    directory = tmp_path / "static"
    with torch.random.fork_rng(), quiet():
        torch.manual_seed(0)
        module = StaticEmbedding(tokenizer, embedding_dim=16)
        SentenceTransformer(modules=[module], device="cpu").save(
            str(directory), create_model_card=False
        )
    return directory


def _library_vectors(directory: Path) -> Any:  # noqa: ANN401  numpy, by way of the library
    with quiet():
        model = SentenceTransformer(str(directory), device="cpu", local_files_only=True)
    return model.encode(list(TEXTS), normalize_embeddings=True, show_progress_bar=False)


def test_other_pooling(max_pooled: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Embeddings are the library's; token states are there, too; nothing is printed."""
    encoder = open_encoder(str(max_pooled), device="cpu")
    assert isinstance(encoder, LibraryEncoder)
    found = encoder.sentence_embeddings([*TEXTS, TEXTS[0]])
    states = encoder.token_states(TEXTS)
    assert ("", "") == capfd.readouterr()
    np.testing.assert_allclose(_library_vectors(max_pooled), found[:-1], atol=1e-6)
    assert (found[0] == found[-1]).all()
    largest = states[0].states.max(axis=0)
    np.testing.assert_allclose(largest / np.linalg.norm(largest), found[0], atol=1e-5)
    signed = encoder.signed()
    assert ("sentence-transformers", "cut off", "windows:64/32") == tuple(
        signed[key] for key in ("pooling", "long_texts_of_sentences", "long_texts")
    )
    assert "sentence-transformers" in signed


def test_no_transformer(static: Path) -> None:
    """Sentence embeddings work and are signed; token states are refused with the reason."""
    encoder = open_encoder(str(static), device="cpu")
    found = encoder.sentence_embeddings(TEXTS)
    np.testing.assert_allclose(_library_vectors(static), found, atol=1e-6)
    assert "static" == encoder.signed()["name"]
    with pytest.raises(ConfigError, match="is no transformer and gives no states of tokens"):
        encoder.token_states(TEXTS)


def test_no_texts_and_odd_ones(max_pooled: Path) -> None:
    """Nothing in, nothing out; half a character is made whole."""
    encoder = open_encoder(str(max_pooled), device="cpu")
    assert (0, 32) == encoder.sentence_embeddings([]).shape
    vectors = encoder.sentence_embeddings(["", "half \ud83d", "a\x00b"])
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)


def test_not_a_number(max_pooled: Path) -> None:
    """The text is named."""
    opening._open.cache_clear()
    encoder = open_encoder(str(max_pooled), device="cpu")
    assert isinstance(encoder, LibraryEncoder)
    encoder.load()
    with torch.no_grad():
        encoder._library[0].model.embeddings.LayerNorm.weight[0] = float("nan")
    with pytest.raises(EvaluationError, match="gives NaN or infinity for the text 'no'"):
        encoder.sentence_embeddings(["no"])


def test_not_installed(max_pooled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message has the command that helps."""
    monkeypatch.setattr(
        loading, "find_spec", lambda name: None if name == "sentence_transformers" else object()
    )
    opening._open.cache_clear()
    with pytest.raises(ConfigError, match=r"needs sentence-transformers: pip install"):
        open_encoder(str(max_pooled), device="cpu")
