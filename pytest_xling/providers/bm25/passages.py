"""Articles cut into passages short enough to be shown to a judge."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pytest_xling.interfaces.search import SearchResult
from pytest_xling.text.sentences import cut, sentences
from pytest_xling.text.words import words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_xling.providers.bm25.corpus import Article

MOST_WORDS: Final = 150
"""A longer article is cut, at the ends of sentences, into as many passages as that takes, of about
the same length."""


def searched_words(text: str) -> list[str]:
    """Return the words by which *text* is found.

    They are cut by ICU's rules for no language in particular: an article may be in any, a query in
    another, and a word of both must be the same.
    """
    return words(text, "root")


def passages(article: Article) -> Iterator[tuple[SearchResult, list[str]]]:
    """Yield the passages of *article*, in order, with their words.

    The words of its title are each passage's, too: later ones may say only "it".
    """
    titled = searched_words(article.title)
    split = sentences(article.text, article.language or "en")
    pieces = [piece for sentence in split for piece in _short(sentence)]
    total = sum(len(found) for _, found in pieces)
    size = total / max(1, -(-total // MOST_WORDS))
    start = end = 0
    held: list[str] = []
    for number, (piece, found) in enumerate(pieces, start=1):
        held += found
        end = article.text.index(piece, end) + len(piece)
        following = len(pieces[number][1]) if number < len(pieces) else MOST_WORDS
        if len(held) + following > MOST_WORDS or len(held) + following / 2 > size:
            text = article.text[start:end].strip()
            yield SearchResult(title=article.title, text=text, url=article.url), titled + held
            start, held = end, []


def _short(sentence: str) -> Iterator[tuple[str, list[str]]]:
    """Yield *sentence* with its words, in parts if it has more than ``MOST_WORDS``."""
    searched = searched_words(sentence)
    if len(searched) <= MOST_WORDS:
        yield sentence, searched
        return
    for part in cut(sentence, len(sentence) * MOST_WORDS // len(searched)):
        yield from _short(part)
