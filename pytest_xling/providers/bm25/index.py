"""The index of a corpus: its passages and their BM25 scores, made once and kept as one file.

Scores are those of Lucene's variant of BM25 as the library bm25s computes them beforehand, for
every word and passage (Kamphuis et al., 2020, *Which BM25 Do You Mean?*; Lù, 2024, *BM25S: Orders
of magnitude faster lexical search via eager sparse scoring*).
"""

from __future__ import annotations

import hashlib
import io
import json
from contextlib import suppress
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from pytest_xling.errors import DataError
from pytest_xling.files.cache_folder import cache_folder
from pytest_xling.files.whole import display_path, whole_bytes
from pytest_xling.interfaces.search import SearchResult
from pytest_xling.keys import canonical_json
from pytest_xling.providers.bm25.passages import passages, searched_words
from pytest_xling.text.words import tokenizer

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from pytest_xling.providers.bm25.corpus import Corpus

FORMAT: Final = 1
"""Raised whenever the same corpus would be cut or scored otherwise, or kept in another form."""

_K1, _B = 1.5, 0.75
_ARRAYS = ("data", "indices", "indptr")
_SEAL_BYTES = hashlib.sha256().digest_size


class Index:
    """Passages that can be searched.

    Args:
        found: the passages, in the order of the corpus.
        bm25: a ``bm25s.BM25`` that has scored them.
    """

    def __init__(self, found: Sequence[SearchResult], bm25: Any) -> None:  # noqa: ANN401  untyped
        self._passages = found
        self._bm25 = bm25

    @classmethod
    def of(cls, corpus: Corpus) -> Index:
        """Make the index of *corpus*.

        Raises:
            DataError: an article is wrong, or none has a word.
        """
        worded = [
            (passage, found)
            for article in corpus.articles()
            for passage, found in passages(article)
            if found
        ]
        if not worded:
            msg = f"{display_path(corpus.files[0])}: there is no word in any article; write some"
            raise DataError(msg)
        bm25 = _empty()
        bm25.index([found for _, found in worded], create_empty_token=False, show_progress=False)
        return cls([passage for passage, _ in worded], bm25)

    def best(self, query: str, results: int) -> list[SearchResult]:
        """Return the passages that score highest, best first; of equals the first in the corpus.

        Args:
            query: of any length; a word counts as often as it stands there.
            results: how many at most. Passages without a word of the query are no results.
        """
        ids = self._bm25.get_tokens_ids(searched_words(query))
        scores = self._bm25.get_scores_from_ids(ids)
        count = min(results, len(scores))
        if count < 1:
            return []
        least = max(np.partition(scores, -count)[-count], np.finfo(scores.dtype).tiny)
        (candidates,) = np.nonzero(scores >= least)
        ranks = np.argsort(-scores[candidates], kind="stable")[:count]
        return [self._passages[place] for place in candidates[ranks]]

    def to_bytes(self) -> bytes:
        """Return the index as :meth:`from_bytes` reads it: a seal, and arrays of numpy's."""
        rows = [[passage.title, passage.text, passage.url] for passage in self._passages]
        file = io.BytesIO()
        np.savez(
            file,
            passages=_bytes_of(rows),
            vocabulary=_bytes_of(list(self._bm25.vocab_dict)),
            **{name: self._bm25.scores[name] for name in _ARRAYS},
        )
        body = file.getvalue()
        return hashlib.sha256(body).digest() + body

    @classmethod
    def from_bytes(cls, raw: bytes) -> Index | None:
        """Return the index that is kept as *raw*; None where that is damaged."""
        seal, body = raw[:_SEAL_BYTES], raw[_SEAL_BYTES:]
        if hashlib.sha256(body).digest() != seal:
            return None
        with np.load(io.BytesIO(body), allow_pickle=False) as arrays:
            rows = json.loads(arrays["passages"].tobytes())
            vocabulary = json.loads(arrays["vocabulary"].tobytes())
            scores = {name: arrays[name] for name in _ARRAYS}
        bm25 = _empty()
        bm25.vocab_dict = {word: number for number, word in enumerate(vocabulary)}
        bm25.scores = {**scores, "num_docs": len(rows)}
        bm25.nonoccurrence_array = None  # of other variants
        return cls([SearchResult(title=t, text=text, url=url) for t, text, url in rows], bm25)


def open_index(corpus: Corpus) -> Index:
    """Return the index of *corpus*, from the user's cache folder where it is kept and intact.

    Raises:
        DataError: an article is wrong, or none has a word.
    """
    path = _path(corpus)
    with suppress(OSError):
        if (index := Index.from_bytes(path.read_bytes())) is not None:
            return index
    index = Index.of(corpus)
    with suppress(OSError):  # without a folder that can be written it is made each time
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole_bytes(path) as file:
            file.write(index.to_bytes())
    return index


def _path(corpus: Corpus) -> Path:
    """Return where the index of *corpus* is kept: another place for all it would differ by."""
    made_by = canonical_json([corpus.sha256, FORMAT, tokenizer(), version("bm25s")])
    return cache_folder() / f"bm25-{hashlib.sha256(made_by.encode()).hexdigest()[:32]}.index"


def _empty() -> Any:  # noqa: ANN401  untyped
    from bm25s import BM25  # noqa: PLC0415  0.5 s, with scipy, for who searches

    return BM25(k1=_K1, b=_B, method="lucene")


def _bytes_of(value: list[Any]) -> NDArray[np.uint8]:
    return np.frombuffer(json.dumps(value, ensure_ascii=False).encode(), dtype=np.uint8)
