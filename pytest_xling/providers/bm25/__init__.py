"""Evidence found offline, in articles that are given or come with the package, by BM25."""

from __future__ import annotations

import asyncio
import threading
from functools import cached_property
from importlib.util import find_spec
from typing import TYPE_CHECKING, ClassVar

from pytest_xling.errors import ConfigError, PermanentFault
from pytest_xling.interfaces.search import SearchProvider, SearchResult
from pytest_xling.providers.bm25.corpus import Corpus
from pytest_xling.providers.bm25.index import FORMAT, Index, open_index
from pytest_xling.text.words import tokenizer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_xling.keys import JsonValue

__all__ = ["Bm25Provider"]

_READ_AT_CHECK = 50 << 20
"""Bytes of a corpus that is read, in less than 1 s, before anything is asked; a larger one is when
it is first searched."""


class Bm25Provider(SearchProvider):
    """Finds passages by the words they share with the query; asks nobody.

    Args:
        spec: a JSONL file of articles, or a directory of such files; empty: the articles that come
            with the package, about what the bundled benchmark ``culture`` asks.
        timeout_s: unused.
        device: unused.
    """

    name: ClassVar[str] = "bm25"

    def __init__(self, spec: str = "", *, timeout_s: float = 120.0, device: str = "auto") -> None:
        super().__init__(spec, timeout_s=timeout_s, device=device)
        self._opening = threading.Lock()
        self._index: Index | None = None

    @cached_property
    def _corpus(self) -> Corpus:
        return Corpus.find(self.spec)

    def check(self) -> None:
        """Look for the corpus, and read it unless it is large.

        Raises:
            ConfigError: there is none, or bm25s is not installed.
            DataError: an article is wrong; names the file, the line and the fix.
        """
        if find_spec("bm25s") is None:
            msg = f"the search provider {self.name!r} needs bm25s: pip install bm25s"
            raise ConfigError(msg)
        if self._corpus.size <= _READ_AT_CHECK:
            for _ in self._corpus.articles():
                pass

    def signed(self) -> dict[str, JsonValue]:
        """Return what results depend on beside the query: what the articles are, not where.

        Raises:
            ConfigError: there is no corpus.
        """
        return {"corpus": self._corpus.sha256, "format": FORMAT, "tokenizer": tokenizer()}

    async def search(self, query: str, *, results: int) -> Sequence[SearchResult]:
        """Find the passages that score highest; those that share no word are left out.

        Raises:
            PermanentFault: the corpus is wrong, or was changed meanwhile.
        """
        return await asyncio.to_thread(self._search, query, results)

    def _search(self, query: str, results: int) -> list[SearchResult]:
        try:
            with self._opening:  # many searches begin at once, and one opens
                index = self._index = self._index or open_index(self._corpus)
        except ConfigError as error:
            raise PermanentFault(str(error), every_request=True) from error
        return index.best(query, results)

    async def aclose(self) -> None:
        """Give back the index's memory."""
        self._index = None
