"""Language identification by langid's model (Lui and Baldwin, 2012), many texts at once.

The model is the original one of langid.py 1.1.6, with 97 languages, as py3langid up to 0.3 ships
it and as the papers used it. (py3langid 0.4 has a retrained model with other languages and other
answers.) The codes are langid's: ISO 639-1, with ``nb`` and ``nn`` beside ``no``.

langid counts byte n-grams with a finite automaton and feeds the counts to naive Bayes. No n-gram
is longer than four bytes, so the state after a byte depends on that byte and the three before it:
the automaton can be run at all places at once, and the log-probabilities of a text are one row of
a product of sparse and dense matrices.
"""

from __future__ import annotations

from functools import cache
from itertools import repeat
from typing import TYPE_CHECKING, Final

import numpy as np
from py3langid.langid import MODEL_FILE, LanguageIdentifier
from scipy.sparse import csr_array

from pytest_xling.errors import ConfigError
from pytest_xling.text.display import clean

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

_ORDER: Final = 4
_RESET: Final = b"\xff"
"""Never part of UTF-8, so in no n-gram: puts the automaton back to its start."""
_BLOCK_BYTES: Final = 1 << 17
_LANGUAGES: Final = 97


def codes() -> frozenset[str]:
    """Return the codes of the languages that can be told apart."""
    return frozenset(_model().codes)


def identify(texts: Sequence[str]) -> list[str]:
    """Return the code of each text's language; as langid, ``en`` where nothing tells.

    Raises:
        ConfigError: the installed py3langid has another model.
    """
    model = _model()
    return [model.codes[row.argmax()] for row in _log_probabilities(texts)]


def compare(
    texts: Sequence[str],
    languages: Sequence[str],
    *,
    prior: Mapping[str, float] | None = None,
    votes: Sequence[Mapping[str, float]] | None = None,
) -> list[tuple[str, float | None]]:
    """Return the code of each text's language, and by how much it leads over ``languages[i]``.

    The lead is the difference of the two log-probabilities, in nats: 0 where they are the same
    language, None where langid does not know ``languages[i]``.

    Args:
        texts: of any length.
        languages: the one that each text should be in.
        prior: nats that speak for a language, or against it, whatever the text; codes that langid
            does not know mean nothing here.
        votes: likewise, of each text.

    Raises:
        ConfigError: the installed py3langid has another model.
    """
    model = _model()
    places = {code: place for place, code in enumerate(model.codes)}
    known = np.array([(prior or {}).get(code, 0.0) for code in model.codes])
    compared: list[tuple[str, float | None]] = []
    for row, language, voted in zip(
        _log_probabilities(texts), languages, votes or repeat({}, len(texts)), strict=True
    ):
        row += known  # noqa: PLW2901  a row of its own, which nothing else reads
        for code, nats in voted.items():
            if code in places:
                row[places[code]] += nats
        best = int(row.argmax())
        place = places.get(language)
        lead = None if place is None else float(row[best] - row[place])
        compared.append((model.codes[best], lead))
    return compared


def _log_probabilities(texts: Sequence[str]) -> Iterator[NDArray[np.float64]]:
    """Yield for each text the log-probability of every language, up to a constant."""
    for block in _blocks([clean(text).encode() for text in texts]):
        yield from _model().log_probabilities(block)


def _blocks(encoded: Sequence[bytes]) -> Iterator[list[bytes]]:
    """Group texts into blocks that fit the processor's cache; a long text is a block."""
    block: list[bytes] = []
    size = 0
    for text in encoded:
        if block and size + len(text) >= _BLOCK_BYTES:
            yield block
            block, size = [], 0
        block.append(text)
        size += len(text) + len(_RESET)
    if block:
        yield block


class _Model:
    """The model's tables, laid out for looking many bytes up at once."""

    def __init__(self, identifier: LanguageIdentifier) -> None:
        self.codes: tuple[str, ...] = tuple(identifier.nb_classes)
        self._prior = np.asarray(identifier.nb_pc, dtype=np.float64)
        self._next: NDArray[np.uint16] = np.asarray(identifier.tk_nextmove, dtype=np.uint16)
        after_one = self._next[:256].astype(np.intp)
        # The state after two bytes, by both at once.
        self._after_two: NDArray[np.uint16] = self._next.reshape(-1, 256)[after_one].ravel()
        states = len(self._next) // 256
        ptc = np.asarray(identifier.nb_ptc, dtype=np.float64)
        self._weights: NDArray[np.float64] = np.zeros((states, len(self.codes)))
        for state, features in identifier.tk_output.items():
            self._weights[state] = ptc[list(features)].sum(axis=0)
        self._speaks: NDArray[np.bool_] = np.any(self._weights, axis=1)

    def log_probabilities(self, block: Sequence[bytes]) -> NDArray[np.float64]:
        """Return one row for each text of *block*, one column for each language."""
        lengths = np.fromiter((len(text) + 1 for text in block), dtype=np.intp, count=len(block))
        ends = np.cumsum(lengths)
        joined = _RESET * (_ORDER - 1) + _RESET.join(block) + _RESET
        scores = np.tile(self._prior, (len(block), 1))
        size = len(joined) - (_ORDER - 1)
        # Only a block of one long text has more than one window.
        for start in range(0, size, 2 * _BLOCK_BYTES):
            stop = min(start + 2 * _BLOCK_BYTES, size)
            states = self._states(joined[start : stop + _ORDER - 1])
            heard = np.flatnonzero(self._speaks[states])
            bounds = np.searchsorted(heard + start, ends)
            counts = csr_array(
                (np.ones(len(heard)), states[heard], np.concatenate(([0], bounds))),
                shape=(len(block), len(self._weights)),
            )
            scores += counts @ self._weights
        return scores

    def _states(self, joined: bytes) -> NDArray[np.uint16]:
        """Return the state after each byte of *joined* but the first three."""
        byte = np.frombuffer(joined, dtype=np.uint8)
        wide = byte.astype(np.intp)
        state: NDArray[np.uint16] = self._after_two[(wide[:-3] << 8) | wide[1:-2]]
        for place in (wide[2:-1], wide[3:]):
            state = self._next[(state.astype(np.intp) << 8) | place]
        return state


@cache
def _model() -> _Model:
    """Load the model (0.1 s, once per process)."""
    # py3langid 0.4 has no such method.
    load = getattr(LanguageIdentifier, "from_pickled_model", None)
    identifier = load(MODEL_FILE) if load else None
    if identifier is None or len(identifier.nb_classes) != _LANGUAGES:
        msg = (
            "the installed py3langid does not have langid's original model of 97 languages,"
            " which the papers used: pip install 'py3langid>=0.3,<0.4'"
        )
        raise ConfigError(msg)
    return _Model(identifier)
