"""What the stance classifier reads of a response: the sentences that are most like the claim."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from pytest_xling.text.sentences import sentences

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from pytest_xling.annotators.stance.pair import Pair
    from pytest_xling.encoders import Encoder

__all__ = ["Reading", "Text", "read"]

_SENTENCES = 5
"""As many as UPHILL gives models of short context (Appendix A.4)."""
_MOST_SENTENCES = 100
_MOST_CHARACTERS = 20_000
_TINY = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A text as the encoder reads it."""

    text: str
    vector: NDArray[np.float64]
    """The mean of its tokens' states, of length 1."""
    tokens: NDArray[np.float64]
    """Its tokens' states, each of length 1: shape (tokens, dimensions); no special ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A claim and the sentences of a response that are most like it, in the response's order."""

    claim: Text
    sentences: tuple[Text, ...]
    cosines: NDArray[np.float64]
    """Of each sentence with the claim."""

    @property
    def nearest(self) -> int:
        """The place of the sentence most like the claim."""
        return int(np.argmax(self.cosines))

    @property
    def vector(self) -> NDArray[np.float64]:
        """The mean of the states of all the sentences' tokens, of length 1."""
        return _unit(np.concatenate([sentence.tokens for sentence in self.sentences]).mean(axis=0))

    @property
    def excerpt(self) -> str:
        """The sentences in one line."""
        return " ".join(sentence.text for sentence in self.sentences)


def read(pairs: Sequence[Pair], encoder: Encoder) -> list[Reading]:
    """Read *pairs*: of each response the five sentences most like its claim.

    They are looked for among the first 100 sentences of the first 20,000 characters.

    Raises:
        EvaluationError: the encoder gives NaN or infinity.
    """
    split = [_split(pair) for pair in pairs]
    texts = _encode(
        (text for pair, parts in zip(pairs, split, strict=True) for text in (pair.claim, *parts)),
        encoder,
    )
    readings = []
    for pair, parts in zip(pairs, split, strict=True):
        claim = texts[pair.claim]
        cosines = np.array([texts[part].vector @ claim.vector for part in parts])
        nearest = np.sort(np.argsort(-cosines, kind="stable")[:_SENTENCES])
        readings.append(
            Reading(
                claim=claim,
                sentences=tuple(texts[parts[place]] for place in nearest),
                cosines=cosines[nearest],
            )
        )
    return readings


def _split(pair: Pair) -> list[str]:
    response = pair.response[:_MOST_CHARACTERS]
    return list(islice(sentences(response, pair.language), _MOST_SENTENCES)) or [response]


def _encode(texts: Iterable[str], encoder: Encoder) -> dict[str, Text]:
    distinct = list(dict.fromkeys(texts))
    encoded = {}
    for text, token_states in zip(distinct, encoder.token_states(distinct), strict=True):
        states = token_states.states.astype(np.float64)
        # A text without a letter or digit may have no token but the special ones.
        inner = states[1:-1] if len(states) > 2 else states  # noqa: PLR2004  both ends
        encoded[text] = Text(text=text, vector=_unit(states.mean(0)), tokens=_unit(inner))
    return encoded


def _unit(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    unit: NDArray[np.float64] = vectors / np.maximum(lengths, _TINY)
    return unit
